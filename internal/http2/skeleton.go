package http2

import (
	"io"
	"net"
	"net/http"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

type Conn struct{ config Config }

func NewConn(c Config) *Conn          { return &Conn{config: c} }
func (c *Conn) Start()                { panic("unfinished") }
func (c *Conn) NewStream() *Stream    { return &Stream{conn: c} }
func (c *Conn) Check() error          { panic("unfinished") }
func (c *Conn) Limit() int            { panic("unfinished") }
func (c *Conn) ExtendedConnect() bool { panic("unfinished") }
func (c *Conn) Close(graceful bool)   { panic("unfinished") }

type Stream struct{ conn *Conn }

func (s *Stream) Begin(httpsem.ExchangeOptions)                          { panic("unfinished") }
func (s *Stream) WriteHead(req *http.Request, contentLength int64) error { panic("unfinished") }
func (s *Stream) WriteBody(body io.Reader, contentLength int64, inline bool, trailer http.Header) (int64, error) {
	panic("unfinished")
}
func (s *Stream) Flush() error                                          { panic("unfinished") }
func (s *Stream) Sent() bool                                            { panic("unfinished") }
func (s *Stream) Received() bool                                        { panic("unfinished") }
func (s *Stream) AwaitHead(d time.Duration) (bool, error)               { panic("unfinished") }
func (s *Stream) ReadHead(req *http.Request, resp *http.Response) error { panic("unfinished") }
func (s *Stream) BodyLength() int64                                     { panic("unfinished") }
func (s *Stream) ReadBody(p []byte) (int, error)                        { panic("unfinished") }
func (s *Stream) WriteBodyTo(w io.Writer, limit int64) (int64, error)   { panic("unfinished") }
func (s *Stream) Trailer() http.Header                                  { panic("unfinished") }
func (s *Stream) Drain(limit int64, d time.Duration) bool               { panic("unfinished") }
func (s *Stream) StartReadTimeout()                                     { panic("unfinished") }
func (s *Stream) HoldReadTimeout()                                      { panic("unfinished") }
func (s *Stream) AbortWrite()                                           { panic("unfinished") }
func (s *Stream) Cancel()                                               { panic("unfinished") }
func (s *Stream) End() (reusable bool, reason string)                   { panic("unfinished") }
func (s *Stream) Hijack() (conn net.Conn, readAhead []byte)             { panic("unfinished") }
