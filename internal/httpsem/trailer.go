package httpsem

import (
	"net/http"
	"slices"
	"strings"
)

// AnnouncedTrailer moves the names of the Trailer field of a head into a header
// without values, as net/http has it; nil if there is none. Names that no trailer
// may have are left out.
func AnnouncedTrailer(h http.Header) http.Header {
	lists, ok := h["Trailer"]
	if !ok {
		return nil
	}
	delete(h, "Trailer")
	var trailer http.Header
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			name = http.CanonicalHeaderKey(TrimSpace(name))
			if name == "" || IsFraming(name) {
				continue
			}
			if trailer == nil {
				trailer = make(http.Header)
			}
			trailer[name] = nil
		}
	}
	return trailer
}

// TrailerNames is what the Trailer field of a request says.
func TrailerNames(trailer http.Header) string {
	names := make([]string, 0, len(trailer))
	for name := range trailer {
		names = append(names, http.CanonicalHeaderKey(name))
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
