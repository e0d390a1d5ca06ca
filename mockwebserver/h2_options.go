package mockwebserver

import "slices"

// http2Settings are the options for HTTP/2.
type http2Options struct {
	settings []Setting // sent first
}

// defaultMaxStreams is how many streams of a client may be open at once.
const defaultMaxStreams = 250

// WithHTTP2Settings sets what the server's first SETTINGS frame says, beside
// MAX_CONCURRENT_STREAMS=250 and MAX_HEADER_LIST_SIZE with the limit of
// WithHeadLimit, which a setting with the same ID replaces. Values are not
// checked. What they mean for the server (how many streams and bytes it takes)
// holds from the client's acknowledgement on, but for MAX_CONCURRENT_STREAMS,
// which holds at once: streams beyond it are refused with REFUSED_STREAM.
func WithHTTP2Settings(list ...Setting) Option {
	return option(func(s *settings) { s.http2.settings = append(slices.Clip(s.http2.settings), list...) })
}

// firstSettings returns what the first SETTINGS frame says.
func (s *settings) firstSettings() []Setting {
	list := []Setting{{SettingMaxConcurrentStreams, defaultMaxStreams}, {SettingMaxHeaderListSize, uint32(s.headLimit)}}
	list = slices.DeleteFunc(list, func(d Setting) bool {
		return slices.ContainsFunc(s.http2.settings, func(own Setting) bool { return own.ID == d.ID })
	})
	return append(list, s.http2.settings...)
}
