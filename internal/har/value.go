package har

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Int is a whole number, such as a size. Fractions are cut off and null is 0
// when it is read.
type Int int64

// UnmarshalJSON accepts any number and null.
func (n *Int) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if whole, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		*n = Int(whole)
		return nil
	}
	f, err := strconv.ParseFloat(string(data), 64)
	if err != nil || math.Abs(f) > 1<<53 {
		return fmt.Errorf("%.40s is no size", data)
	}
	*n = Int(f)
	return nil
}

// Time is when an exchange began.
type Time struct{ time.Time }

// timeLayouts are the forms of ISO 8601 that tools write.
var timeLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999",
}

// MarshalJSON writes milliseconds, as the format wants it.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.Format(`"2006-01-02T15:04:05.000Z07:00"`)), nil
}

// UnmarshalJSON reads the forms that are in use. What says nothing is the zero
// time.
func (t *Time) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == "" {
		t.Time = time.Time{}
		return nil
	}
	for _, layout := range timeLayouts {
		parsed, err := time.Parse(layout, text)
		if err == nil && parsed.Year() <= 9999 {
			t.Time = parsed
			return nil
		}
	}
	return fmt.Errorf("%.40q is no time", text)
}

// maxList bounds each list within an entry: headers, cookies, chunk sizes.
const maxList = 1 << 16

// List is a list within an entry. It is written as [] if it is empty, and reads
// null as that.
type List[T any] []T

// MarshalJSON never writes null.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// UnmarshalJSON refuses a list that is too long before it takes the memory for
// it.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	*l = nil
	if string(data) == "null" {
		return nil
	}
	*l = List[T]{} // an empty list is not null
	dec := json.NewDecoder(bytes.NewReader(data))
	if first, err := dec.Token(); err != nil || first != json.Delim('[') {
		return fmt.Errorf("%.40s is no list", data)
	}
	for dec.More() {
		if len(*l) == maxList {
			return fmt.Errorf("a list of more than %d elements", maxList)
		}
		var element T
		if err := dec.Decode(&element); err != nil {
			return err
		}
		*l = append(*l, element)
	}
	return nil
}
