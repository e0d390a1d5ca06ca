package har

// Version is the version of the format that is written.
const Version = "1.2"

// Log is the content of an archive.
type Log struct {
	Version string  `json:"version"`
	Creator Creator `json:"creator"`
	Comment string  `json:"comment,omitempty"`

	// Entries are in the order of the file, which should be that of their
	// beginning.
	Entries []Entry `json:"entries"`
}

// Creator is the program that made an archive.
type Creator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Entry is one exchange.
type Entry struct {
	Started         Time     `json:"startedDateTime"`
	Time            float64  `json:"time"` // milliseconds: what Timings.Total returns
	Request         Request  `json:"request"`
	Response        Response `json:"response"`
	Cache           Cache    `json:"cache"`
	Timings         Timings  `json:"timings"`
	ServerIPAddress string   `json:"serverIPAddress,omitempty"`
	Connection      string   `json:"connection,omitempty"`
	Comment         string   `json:"comment,omitempty"`
}

// Request is what was sent.
type Request struct {
	Method      string       `json:"method"`
	URL         string       `json:"url"` // absolute, without a fragment
	HTTPVersion string       `json:"httpVersion"`
	Cookies     List[Cookie] `json:"cookies"`
	Headers     List[Field]  `json:"headers"`
	QueryString List[Field]  `json:"queryString"`
	PostData    *PostData    `json:"postData,omitempty"`
	HeadersSize Int          `json:"headersSize"` // -1 if not known
	BodySize    Int          `json:"bodySize"`    // -1 if not known
	Comment     string       `json:"comment,omitempty"`

	Target     string      `json:"_target,omitempty"`    // the request target, where URL does not give it
	ChunkSizes List[Int]   `json:"_chunkSizes,omitzero"` // of a body that was sent in chunks; nil for another
	Trailers   List[Field] `json:"_trailers,omitempty"`
}

// PostData is the body of a request.
type PostData struct {
	MimeType string      `json:"mimeType"`
	Text     string      `json:"text"`
	Params   List[Param] `json:"params,omitempty"` // in place of Text, or beside it
	Comment  string      `json:"comment,omitempty"`

	Encoding     string `json:"_encoding,omitempty"` // "base64", or "": Text is the body
	Encoding13   string `json:"encoding,omitempty"`  // the same, as some tools write it
	Incomplete   string `json:"_incomplete,omitempty"`
	CompleteSize Int    `json:"_completeSize,omitempty"` // of a body that is Incomplete
}

// Param is a field of a form.
type Param struct {
	Name        string `json:"name"`
	Value       string `json:"value,omitempty"`
	FileName    string `json:"fileName,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	Comment     string `json:"comment,omitempty"`
}

// Response is what was answered. A Status of 0 says that there was no answer.
type Response struct {
	Status      Int          `json:"status"`
	StatusText  string       `json:"statusText"`
	HTTPVersion string       `json:"httpVersion"`
	Cookies     List[Cookie] `json:"cookies"`
	Headers     List[Field]  `json:"headers"`
	Content     Content      `json:"content"`
	RedirectURL string       `json:"redirectURL"`
	HeadersSize Int          `json:"headersSize"` // -1 if not known
	BodySize    Int          `json:"bodySize"`    // -1 if not known
	Comment     string       `json:"comment,omitempty"`

	Error      string        `json:"_error,omitempty"` // why there was no answer, or not all of it
	Interim    List[Interim] `json:"_interim,omitempty"`
	ChunkSizes List[Int]     `json:"_chunkSizes,omitzero"` // of a body that was sent in chunks; nil for another
	Trailers   List[Field]   `json:"_trailers,omitempty"`
}

// Interim is a 1xx response that came before the response proper.
type Interim struct {
	Status     Int         `json:"status"`
	StatusText string      `json:"statusText"`
	Headers    List[Field] `json:"headers"`
}

// Content is the body of a response.
type Content struct {
	Size     Int    `json:"size"` // bytes
	MimeType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"` // "base64", or "": Text is the body
	Comment  string `json:"comment,omitempty"`

	// Encoded says that the body is as it was on the wire, with its
	// Content-Encoding. Otherwise that is undone, as the format wants it.
	Encoded bool `json:"_encoded,omitempty"`

	// Incomplete says why Text is not all of the body.
	Incomplete string `json:"_incomplete,omitempty"`
}

// Field is a header line, or a parameter of a query.
type Field struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Comment string `json:"comment,omitempty"`

	Encoding string `json:"_encoding,omitempty"` // "base64", for what is not UTF-8; or ""
}

// Cookie is a cookie of a Cookie or Set-Cookie header.
type Cookie struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Path     string `json:"path,omitempty"`
	Domain   string `json:"domain,omitempty"`
	Expires  string `json:"expires,omitempty"`
	HTTPOnly bool   `json:"httpOnly,omitempty"`
	Secure   bool   `json:"secure,omitempty"`
	Comment  string `json:"comment,omitempty"`
}

// Cache is written as an empty object and not read.
type Cache struct{}

// UnmarshalJSON accepts anything.
func (*Cache) UnmarshalJSON([]byte) error { return nil }

// Timings are milliseconds. -1 says that a phase did not happen, or is not
// known; Send, Wait and Receive are never negative.
type Timings struct {
	Blocked float64 `json:"blocked"` // waiting for a connection
	DNS     float64 `json:"dns"`
	Connect float64 `json:"connect"` // TLS included
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
	SSL     float64 `json:"ssl"` // part of Connect
	Comment string  `json:"comment,omitempty"`
}

// maxPhase keeps nonsense in a file from summing up to infinity.
const maxPhase = 1e15

// Total returns the sum of the phases that did happen.
func (t Timings) Total() float64 {
	var sum float64
	for _, phase := range []float64{t.Blocked, t.DNS, t.Connect, t.Send, t.Wait, t.Receive} {
		sum += min(max(0, phase), maxPhase)
	}
	return sum
}
