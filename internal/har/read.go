package har

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxEntries bounds the entries of an archive that is read.
const MaxEntries = 100_000

// SizeError says that an archive is larger than its reader allows.
type SizeError struct{ Limit int64 }

func (e *SizeError) Error() string { return fmt.Sprintf("the archive has more than %d bytes", e.Limit) }

// EntryError says which entry of an archive is wrong.
type EntryError struct {
	Index  int    // counted from 0
	Method string // "" if it is not known
	URL    string // "" if it is not known
	Err    error
}

func (e *EntryError) Error() string {
	if e.Method == "" && e.URL == "" {
		return fmt.Sprintf("entry %d: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("entry %d (%.20s %.200s): %v", e.Index, e.Method, e.URL, e.Err)
}

func (e *EntryError) Unwrap() error { return e.Err }

// Read reads an archive of at most limit bytes. It fails with a *SizeError if
// there are more, and with an *EntryError if an entry is wrong.
func Read(r io.Reader, limit int64) (*Log, error) {
	bounded := &boundedReader{r: r, left: limit, limit: limit}
	br := bufio.NewReader(bounded)
	if mark, _ := br.Peek(3); string(mark) == "\xef\xbb\xbf" { // allowed, and to be ignored
		_, _ = br.Discard(len(mark))
	}
	p := parser{dec: json.NewDecoder(br)}
	if err := p.file(); err != nil {
		if bounded.exceeded {
			return nil, &SizeError{limit}
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return &p.log, nil
}

// boundedReader fails after limit bytes.
type boundedReader struct {
	r           io.Reader
	left, limit int64
	exceeded    bool
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left < 0 {
		b.exceeded = true
		return 0, &SizeError{b.limit}
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left+1)])
	b.left -= int64(n)
	if b.left < 0 {
		b.exceeded = true
		return 0, &SizeError{b.limit}
	}
	return n, err
}

// parser goes through an archive one entry at a time, so that errors can name
// the entry and the count is bounded.
type parser struct {
	dec *json.Decoder
	log Log
}

var (
	errNoArchive = errors.New(`no HTTP archive: there is no "log" object`)
	errNoEntries = errors.New(`no HTTP archive: "log" has no list of entries`)
	errBehind    = errors.New("something follows the archive")
)

func (p *parser) file() error {
	found := false
	err := p.object(errNoArchive, func(name string) error {
		if name != "log" {
			return p.skip()
		}
		found = true
		return p.content()
	})
	if err != nil {
		return err
	}
	if !found {
		return errNoArchive
	}
	switch _, err := p.dec.Token(); err {
	case io.EOF:
		return nil
	case nil:
		return errBehind
	default:
		return err
	}
}

// content reads the log object.
func (p *parser) content() error {
	found := false
	err := p.object(errNoArchive, func(name string) error {
		switch name {
		case "version":
			return p.dec.Decode(&p.log.Version)
		case "creator":
			return p.dec.Decode(&p.log.Creator)
		case "comment":
			return p.dec.Decode(&p.log.Comment)
		case "entries":
			found = true
			return p.entries()
		}
		return p.skip()
	})
	if err == nil && !found {
		return errNoEntries
	}
	return err
}

func (p *parser) entries() error {
	switch first, err := p.dec.Token(); {
	case err != nil:
		return err
	case first == nil: // null
		return nil
	case first != json.Delim('['):
		return errNoEntries
	}
	for p.dec.More() {
		i := len(p.log.Entries)
		if i == MaxEntries {
			return fmt.Errorf("the archive has more than %d entries", MaxEntries)
		}
		var e Entry
		if err := p.dec.Decode(&e); err != nil {
			return &EntryError{Index: i, Method: e.Request.Method, URL: e.Request.URL, Err: err}
		}
		p.log.Entries = append(p.log.Entries, e)
	}
	_, err := p.dec.Token() // the bracket
	return err
}

// object reads an object and calls member for each name, to read the value. It
// fails with otherwise if there is another value.
func (p *parser) object(otherwise error, member func(name string) error) error {
	switch first, err := p.dec.Token(); {
	case err != nil:
		return err
	case first != json.Delim('{'):
		return otherwise
	}
	for p.dec.More() {
		name, err := p.dec.Token()
		if err != nil {
			return err
		}
		if err := member(name.(string)); err != nil { // of an object, by the decoder's rules
			return err
		}
	}
	_, err := p.dec.Token() // the brace
	return err
}

func (p *parser) skip() error {
	var value json.RawMessage
	return p.dec.Decode(&value)
}
