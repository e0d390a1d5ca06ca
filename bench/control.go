package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
)

// control is a child's line to the server that does not count as a connection.
type control struct {
	conn net.Conn
	in   *json.Decoder
}

func dialControl(where endpoints) (*control, error) {
	conn, err := net.Dial("tcp", where.Control)
	if err != nil {
		return nil, err
	}
	return &control{conn, json.NewDecoder(bufio.NewReader(conn))}, nil
}

// counts asks what the server has seen so far.
func (c *control) counts() (serverCounts, error) {
	var counts serverCounts
	err := c.ask("counts", &counts)
	return counts, err
}

// release lets the second half of every /drip answer go that is held now.
func (c *control) release() error {
	var said string
	return c.ask("release", &said)
}

func (c *control) ask(what string, answer any) error {
	if _, err := fmt.Fprintln(c.conn, what); err != nil {
		return err
	}
	return c.in.Decode(answer)
}

func (c *control) close() { c.conn.Close() }
