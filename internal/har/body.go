package har

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

const inBase64 = "base64"

// encodeText returns a body as a string of JSON, and how that has to be read:
// text that people can read as it is, anything else in base64.
func encodeText(body []byte) (text, encoding string) {
	if isText(body) {
		return string(body), ""
	}
	return base64.StdEncoding.EncodeToString(body), inBase64
}

func isText(body []byte) bool {
	for _, c := range body {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(body)
}

func decodeText(text, encoding string) ([]byte, error) {
	switch {
	case encoding == "":
		return []byte(text), nil
	case !strings.EqualFold(encoding, inBase64):
		return nil, fmt.Errorf("unknown encoding %.40q", encoding)
	}
	body, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", err)
	}
	return body, nil
}

// SetBody sets Text and Encoding. Size is the business of who knows whether the
// body is complete.
func (c *Content) SetBody(body []byte) { c.Text, c.Encoding = encodeText(body) }

// Body returns the body of a response.
func (c *Content) Body() ([]byte, error) { return decodeText(c.Text, c.Encoding) }

// Lacks reports whether the body was not saved, as browsers do with bodies that
// they no longer have.
func (c *Content) Lacks() bool { return c.Text == "" && c.Size > 0 }

// SetBody sets Text and Encoding.
func (p *PostData) SetBody(body []byte) { p.Text, p.Encoding = encodeText(body) }

// Body returns the body of a request. Without Text it is put together from
// Params, if it was a form whose fields were in the URL's coding.
func (p *PostData) Body() ([]byte, error) {
	if p.Text == "" && len(p.Params) > 0 {
		return p.form()
	}
	encoding := p.Encoding
	if encoding == "" {
		encoding = p.Encoding13
	}
	return decodeText(p.Text, encoding)
}

var errNoForm = errors.New("the body was not saved, only the fields of its form")

func (p *PostData) form() ([]byte, error) {
	if media, _, _ := strings.Cut(p.MimeType, ";"); !strings.EqualFold(strings.TrimSpace(media), "application/x-www-form-urlencoded") {
		return nil, errNoForm
	}
	var body strings.Builder
	for i, param := range p.Params {
		if i > 0 {
			body.WriteByte('&')
		}
		body.WriteString(url.QueryEscape(param.Name) + "=" + url.QueryEscape(param.Value))
	}
	return []byte(body.String()), nil
}

// NewField returns a header line or parameter, in base64 if it is not UTF-8.
func NewField(name, value string) Field {
	if utf8.ValidString(value) {
		return Field{Name: name, Value: value}
	}
	return Field{Name: name, Value: base64.StdEncoding.EncodeToString([]byte(value)), Encoding: inBase64}
}

// Bytes returns the value as it was on the wire.
func (f Field) Bytes() (string, error) {
	value, err := decodeText(f.Value, f.Encoding)
	return string(value), err
}
