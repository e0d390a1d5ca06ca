package logging

import "net/http"

// DefaultBodyLimit is how many bytes of a body [LevelBody] shows at most.
const DefaultBodyLimit = 16 << 10

// Option configures an [Interceptor].
type Option func(*settings)

type settings struct {
	level    Level
	limit    int64
	hidden   map[string]bool // by canonical name
	query    map[string]bool
	allQuery bool
}

// WithLevel sets the level. Default [LevelBasic]; [Interceptor.SetLevel] changes it later.
func WithLevel(l Level) Option { return func(s *settings) { s.level = l } }

// WithBodyLimit sets how many bytes of each body are shown at most, as they are
// sent, that is, before decompression; of a compressed body at most as many are
// shown after it. Default 16 KiB; 0 or less shows none.
func WithBodyLimit(bytes int64) Option {
	return func(s *settings) { s.limit = max(bytes, 0) }
}

// WithRedactedHeaders hides the values of these headers, in any case, as those of
// Authorization, Proxy-Authorization, Cookie and Set-Cookie are by default.
func WithRedactedHeaders(names ...string) Option {
	return func(s *settings) {
		for _, n := range names {
			s.hidden[http.CanonicalHeaderKey(n)] = true
		}
	}
}

// WithShownHeaders shows the values of these headers, also credentials. It undoes
// [WithRedactedHeaders] for them.
func WithShownHeaders(names ...string) Option {
	return func(s *settings) {
		for _, n := range names {
			delete(s.hidden, http.CanonicalHeaderKey(n))
		}
	}
}

// WithShownQuery shows the values of the query parameters with these names in
// URLs; with no name, those of all. Default: the values of none.
func WithShownQuery(names ...string) Option {
	return func(s *settings) {
		s.allQuery = s.allQuery || len(names) == 0
		for _, n := range names {
			s.query[n] = true
		}
	}
}
