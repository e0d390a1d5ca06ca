package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// counter is a writer that only counts.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// readSmall reads a body that should fit in buf up to its end.
func readSmall(body io.Reader, buf []byte) (int64, error) {
	n := 0
	for n < len(buf) {
		got, err := body.Read(buf[n:])
		n += got
		if errors.Is(err, io.EOF) {
			return int64(n), nil
		}
		if err != nil {
			return int64(n), err
		}
	}
	// buf is full: one more read must find the end.
	got, err := body.Read(make([]byte, 1))
	if got > 0 || !errors.Is(err, io.EOF) {
		return int64(n), fmt.Errorf("body over %d bytes (%w)", n, err)
	}
	return int64(n), nil
}

// checkLength turns a wrong length into an error.
func checkLength(got, want int64, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("body of %d bytes, want %d", got, want)
	}
	return err
}

// removeFile closes a file and removes it.
func removeFile(file *os.File) error {
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
