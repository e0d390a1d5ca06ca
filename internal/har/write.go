package har

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Marshal returns an entry as it stands in a file, indented.
func Marshal(e *Entry) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString(indent)
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, "  ")
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

const indent = "      " // of an entry

// Head returns what stands before the entries. Between entries stand
// Separators, behind the last one stands Tail.
func Head(creator Creator) ([]byte, error) {
	by, err := marshal(creator)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "{\n  \"log\": {\n    \"version\": %q,\n    \"creator\": %s,\n    \"entries\": [\n", Version, by), nil
}

// What stands between and behind entries.
const (
	Separator = ",\n"
	Tail      = "\n    ]\n  }\n}\n"
)

// Write writes an archive of entries that Marshal has made.
func Write(w io.Writer, creator Creator, entries [][]byte) error {
	head, err := Head(creator)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for i, entry := range entries {
		if i > 0 {
			if _, err := io.WriteString(w, Separator); err != nil {
				return err
			}
		}
		if _, err := w.Write(entry); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, Tail)
	return err
}
