package okhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/testkit"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// serverTest resolves the host name of the tests' servers.
var serverTest = dns.Static(map[string][]netip.Addr{"server.test": {loopback}, "other.test": {loopback}})

// listening are the ways in which a listener can be given to a client.
var listening = []struct {
	name string
	give func(okhttp.EventListener) okhttp.Option
}{
	{"client listener", okhttp.WithEventListener},
	{"factory", func(l okhttp.EventListener) okhttp.Option {
		return okhttp.WithEventListenerFactory(func(*okhttp.Call) okhttp.EventListener { return l })
	}},
	{"joined", func(l okhttp.EventListener) okhttp.Option {
		deaf := okhttp.EventListenerFunc(func(*okhttp.Call, okhttp.Event) {})
		return okhttp.WithEventListener(okhttp.JoinListeners(deaf, okhttp.JoinListeners(l, deaf)))
	}},
}

// scene is a server, and a client whose events are kept.
type scene struct {
	*testing.T
	server *mock.Server
	client *okhttp.Client
	log    *eventLog
	listen func(okhttp.EventListener) okhttp.Option
}

// inEachWay runs one scenario with each way of listening.
func inEachWay(t *testing.T, scenario func(*scene)) {
	for _, way := range listening {
		t.Run(way.name, func(t *testing.T) {
			scenario(&scene{T: t, log: newEventLog(t), listen: way.give})
		})
	}
}

func (s *scene) serve(responses ...mock.Response) {
	if s.server == nil {
		s.server = mock.New(s, mock.WithHostName("server.test"))
	}
	s.server.Enqueue(responses...)
}

func (s *scene) connect(opts ...okhttp.Option) {
	s.client = startClient(s.T, append([]okhttp.Option{s.listen(s.log), okhttp.WithDNS(serverTest)}, opts...)...)
	s.log.client.Store(s.client)
}

// get makes a call and reads its body.
func (s *scene) get(want string) {
	s.Helper()
	resp, err := s.client.Get(context.Background(), s.server.URL("/"))
	wantBody(s.T, resp, err, want)
}

// fail makes a call that must fail.
func (s *scene) fail(req *http.Request) error {
	s.Helper()
	resp, err := s.client.Do(req)
	if err == nil {
		resp.Body.Close()
		s.Fatalf("%s instead of an error", resp.Status)
	}
	return err
}

func TestEventsFreshSuccess(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("hello"))
		s.connect()
		s.get("hello")
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(5) Released CallEnd`)
	})
}

func TestEventsTLS(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.server = mock.New(t, mock.WithTLS(), mock.WithHostName("server.test"))
		s.serve(mock.Text("hello"))
		s.connect(okhttp.WithTLSConfig(s.server.ClientTLS()), okhttp.WithProtocols(okhttp.HTTP1))
		s.get("hello")
		s.log.want(`CallStart tlsdial Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(5) Released CallEnd`)
	})
}

func TestEventsAddressLiteral(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.server = mock.New(t)
		s.serve(mock.Text("hello"))
		s.connect()
		s.get("hello")
		s.log.want(`CallStart select ConnStart ConnEnd(http/1.1) Acquired request RespHdrStart RespHdrEnd(200)
			FollowUp(none) RespBodyStart RespBodyEnd(5) Released CallEnd`)
	})
}

func TestEventsEmptyBody(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text(""))
		s.connect()
		s.get("")
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(200)
			RespBodyStart RespBodyEnd(0) FollowUp(none) Released CallEnd`)
	})
}

func TestEventsBodyReadByNetworkInterceptor(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("hello"))
		s.connect(okhttp.WithNetworkInterceptor(okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
			resp, err := ch.Proceed(ch.Request())
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			resp.Body = io.NopCloser(bytes.NewReader(text))
			return resp, err
		})))
		s.get("hello")
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(200)
			RespBodyStart RespBodyEnd(5) FollowUp(none) Released CallEnd`)
	})
}

func TestEventsPooledConnection(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("1"), mock.Text("2"))
		s.connect()
		s.get("1")
		s.get("2")
		s.log.want(`CallStart Acquired(reused) request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(1) Released CallEnd`)
	})
}

func TestEventsPost(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("ok"), mock.Text("ok"))
		s.connect()
		// In one write with the head, then from a goroutine of its own.
		for _, body := range []io.Reader{strings.NewReader("hello"), io.MultiReader(strings.NewReader("hello"))} {
			resp, err := s.client.Post(context.Background(), s.server.URL("/"), "text/plain", body)
			wantBody(s.T, resp, err, "ok")
			connect := "dial Acquired"
			if s.log.order[0] != s.log.last() {
				connect = "Acquired(reused)"
			}
			s.log.want(`CallStart ` + connect + ` request ReqBodyStart ReqBodyEnd(5) RespHdrStart RespHdrEnd(200)
				FollowUp(none) RespBodyStart RespBodyEnd(2) Released CallEnd`)
		}
	})
}

func TestEventsExpectContinue(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("ok").WithContinue())
		s.connect()
		req := newRequest(t, "POST", s.server.URL("/"), strings.NewReader("hello"))
		req.Header.Set("Expect", "100-continue")
		resp, err := s.client.Do(req)
		wantBody(s.T, resp, err, "ok")
		s.log.want(`CallStart dial Acquired request RespHdrStart Info(100) ReqBodyStart ReqBodyEnd(5) RespHdrEnd(200)
			FollowUp(none) RespBodyStart RespBodyEnd(2) Released CallEnd`)
	})
}

func TestEventsExpectRefused(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Status(403).WithBody("no").WithReading(mock.ReadNever))
		s.connect()
		req := newRequest(t, "POST", s.server.URL("/"), strings.NewReader("hello"))
		req.Header.Set("Expect", "100-continue")
		resp, err := s.client.Do(req)
		wantBody(s.T, resp, err, "no")
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(403)
			FollowUp(none) RespBodyStart RespBodyEnd(2) Released CallEnd`)
	})
}

func TestEventsInformational(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("ok").WithInformational(mock.Status(100), mock.Status(103).WithHeader("Link", "</a>; rel=preload")))
		s.connect()
		var link string
		s.log.onEvent(func(_ *okhttp.Call, e okhttp.Event) {
			if e, ok := e.(okhttp.InformationalResponse); ok && e.Code == 103 {
				link = e.Header.Get("Link")
			}
		})
		resp, err := s.client.Get(context.Background(), s.server.URL("/"))
		if err == nil && resp.Header.Get("Link") != "" {
			s.Error("the headers of the interim response were merged into the final one")
		}
		wantBody(s.T, resp, err, "ok")
		s.log.want(`CallStart dial Acquired request RespHdrStart Info(100) Info(103) RespHdrEnd(200)
			FollowUp(none) RespBodyStart RespBodyEnd(2) Released CallEnd`)
		if link != "</a>; rel=preload" {
			s.Errorf("Link of the 103: %q", link)
		}
	})
}

func TestEventsRedirect(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Status(302).WithHeader("Location", "/next").WithBody("moved"), mock.Text("here"))
		s.connect()
		s.get("here")
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(302)
			RespBodyStart RespBodyEnd(0) FollowUp(/next) request RespHdrStart RespHdrEnd(200)
			FollowUp(none) RespBodyStart RespBodyEnd(4) Released CallEnd`)
	})
}

func TestEventsRedirectToAnotherHost(t *testing.T) {
	inEachWay(t, func(s *scene) {
		other := mock.New(t, mock.WithHostName("other.test"))
		other.Enqueue(mock.Text("here"))
		s.serve(mock.Status(302).WithHeader("Location", other.URL("/next")).WithBody("moved"))
		s.connect()
		s.get("here")
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(302)
			RespBodyStart RespBodyEnd(0) FollowUp(/next) Released ProxyStart ProxyEnd DNSStart(other.test) DNSEnd(other.test)
			ConnStart ConnEnd(http/1.1) Acquired request RespHdrStart RespHdrEnd(200)
			FollowUp(none) RespBodyStart RespBodyEnd(4) Released CallEnd`)
	})
}

func TestEventsInterceptorProceedsTwice(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("first"), mock.Text("second"))
		s.connect(okhttp.WithInterceptor(okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
			resp, err := ch.Proceed(ch.Request())
			if err != nil {
				return nil, err
			}
			resp.Body.Close()
			return ch.Proceed(ch.Request())
		})))
		s.get("second")
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none) RespBodyStart RespBodyEnd(0)
			request RespHdrStart RespHdrEnd(200) FollowUp(none) RespBodyStart RespBodyEnd(6) Released CallEnd`)
	})
}

func TestEventsShortCircuit(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve()
		s.connect(okhttp.WithInterceptor(okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Request: ch.Request(), Body: io.NopCloser(strings.NewReader("made up"))}, nil
		})))
		s.get("made up")
		s.log.want(`CallStart CallEnd`)
	})
}

func TestEventsReadTimeout(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("late").WithEffect(mock.AtResponseStart, mock.Stall()))
		s.connect(okhttp.WithReadTimeout(20 * time.Millisecond))
		err := s.fail(newRequest(t, "GET", s.server.URL("/"), nil))
		if !errors.Is(err, okhttp.ErrReadTimeout) {
			s.Error(err)
		}
		s.log.want(`CallStart dial Acquired request RespFailed Retry(false) Released CallFailed`)
	})
}

func TestEventsBodyFails(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("half a body").WithEffect(mock.AtResponseBody, mock.CloseConnection()))
		s.connect()
		resp, err := s.client.Get(context.Background(), s.server.URL("/"))
		if err != nil {
			s.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
			s.Errorf("reading: %v", err)
		}
		resp.Body.Close()
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespFailed Released CallFailed`)
	})
}

func TestEventsSendingFails(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("no").WithEffect(mock.AtRequestStart, mock.ResetConnection()))
		s.connect()
		s.fail(newRequest(t, "POST", s.server.URL("/"), bytes.NewReader(make([]byte, 32<<20))))
		s.log.want(`CallStart dial Acquired request ReqBodyStart ReqFailed RespFailed Retry(false) Released CallFailed`)
	})
}

func TestEventsSendingFailsAnswered(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Status(413).WithBody("too large").WithReading(mock.ReadNever))
		s.connect()
		resp, err := s.client.Do(newRequest(t, "POST", s.server.URL("/"), bytes.NewReader(make([]byte, 32<<20))))
		wantBody(s.T, resp, err, "too large")
		s.log.want(`CallStart dial Acquired request ReqBodyStart ReqFailed RespHdrStart RespHdrEnd(413) FollowUp(none)
			RespBodyStart RespBodyEnd(9) Released CallEnd`)
	})
}

func TestEventsRequestBodyFails(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("no"))
		s.connect()
		body := io.MultiReader(strings.NewReader("some"), failingReader{})
		s.fail(newRequest(t, "POST", s.server.URL("/"), body))
		s.log.want(`CallStart dial Acquired request ReqBodyStart ReqFailed RespFailed Retry(false) Released CallFailed`)
	})
}

type failingReader struct{}

var errReader = errors.New("reader failed")

func (failingReader) Read([]byte) (int, error) { return 0, errReader }

func TestEventsBodyClosedEarly(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("0123456789"))
		s.connect()
		resp, err := s.client.Get(context.Background(), s.server.URL("/"))
		if err != nil {
			s.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 4)); err != nil {
			s.Fatal(err)
		}
		resp.Body.Close()
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(4) Released CallEnd`)
		if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
			s.Error("a closed body can be read")
		}
	})
}

func TestEventsDNSFailure(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.connect()
		s.fail(newRequest(t, "GET", "http://nowhere.test/", nil))
		s.log.want(`CallStart select DNSStart(nowhere.test) Retry(false) CallFailed`)
	})
}

func TestEventsConnectFailure(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.connect()
		s.fail(newRequest(t, "GET", "http://127.0.0.1:1/", nil))
		s.log.want(`CallStart select ConnStart ConnFailed Retry(false) CallFailed`)
	})
}

func TestEventsTLSFailureThenSecondAddress(t *testing.T) {
	inEachWay(t, func(s *scene) {
		pipe := mock.Pipe()
		s.server = mock.New(t, mock.WithListener(pipe), mock.WithTLS(), mock.WithHostName("server.test"))
		s.serve(mock.Response{}.WithEffect(mock.AtTLSHandshake, mock.FailHandshake()), mock.Text("hello"))
		s.connect(okhttp.WithTLSConfig(s.server.ClientTLS()), okhttp.WithAddressDialer(pipe.DialContext),
			okhttp.WithDNS(dns.Static(map[string][]netip.Addr{
				"server.test": {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")},
			})))
		s.get("hello")
		s.log.want(`CallStart select DNSStart(server.test) DNSEnd(server.test) ConnStart SecStart ConnFailed
			ConnStart SecStart SecEnd ConnEnd(h2) Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(5) Released CallEnd`)
	})
}

func TestEventsCanceledBeforeExecute(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.connect()
		call := s.client.NewCall(newRequest(t, "GET", "http://server.test/", nil))
		call.Cancel()
		if _, err := call.Execute(); !errors.Is(err, context.Canceled) {
			s.Error(err)
		}
		s.log.want(`Canceled CallStart CallFailed`)
	})
}

// On HTTP/1 a request body may outlive the response: after an early success the
// upload goes on beside it.
func TestEventsRequestOutlivesResponse(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("early").WithReading(mock.ReadAfterResponse))
		s.connect()
		body, feed := io.Pipe()
		resp, err := s.client.Do(newRequest(t, "POST", s.server.URL("/"), body))
		if err != nil {
			s.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); string(got) != "early" || err != nil {
			s.Fatalf("%q %v", got, err)
		}
		if _, err := feed.Write([]byte("late")); err != nil {
			s.Fatal(err)
		}
		feed.Close()
		s.log.want(`CallStart dial Acquired request ReqBodyStart RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(5) ReqBodyEnd(4) Released CallEnd`)
		resp.Body.Close()
		if got := s.server.RequireRequest(t).Text(); got != "late" {
			s.Errorf("the server read %q", got)
		}
	})
}

func TestEventsUpgrade(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Response{}.WithUpgrade("echo", func(_ context.Context, conn net.Conn) error {
			_, err := io.CopyN(conn, conn, 4)
			return err
		}))
		s.connect()
		req := newRequest(t, "GET", s.server.URL("/"), nil)
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", "echo")
		resp, err := s.client.Do(req)
		if err != nil {
			s.Fatal(err)
		}
		socket := resp.Body.(io.ReadWriteCloser)
		if _, err := socket.Write([]byte("ping")); err != nil {
			s.Fatal(err)
		}
		if got, err := io.ReadAll(socket); string(got) != "ping" || err != nil {
			s.Fatalf("%q %v", got, err)
		}
		socket.Close()
		s.log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(101) FollowUp(none)
			ReqBodyStart RespBodyStart RespBodyEnd(4) ReqBodyEnd(4) Released CallEnd`)
	})
}

func TestEventsFastFallback(t *testing.T) {
	for _, way := range listening {
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := testkit.NewNet()
				network.Host("192.0.2.1").BlackHole()
				s := &scene{T: t, log: newEventLog(t), listen: way.give}
				s.server = mock.New(t, mock.WithListener(network.Host("192.0.2.2").Listen(80)))
				s.serve(mock.Text("hello"))
				s.connect(okhttp.WithAddressDialer(network.DialContext), okhttp.WithDNS(dns.Static(map[string][]netip.Addr{
					"server.test": {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")},
				})))
				start := time.Now()
				resp, err := s.client.Get(t.Context(), "http://server.test/")
				wantBody(t, resp, err, "hello")
				if took := time.Since(start); took != 250*time.Millisecond {
					t.Errorf("took %v", took)
				}
				s.log.want(`CallStart select DNSStart(server.test) DNSEnd(server.test) ConnStart ConnStart ConnFailed
					ConnEnd(http/1.1) Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
					RespBodyStart RespBodyEnd(5) Released CallEnd`)
			})
		})
	}
}

func TestEventsTooManyFollowUps(t *testing.T) {
	inEachWay(t, func(s *scene) {
		for range 21 {
			s.serve(mock.Status(302).WithHeader("Location", "/next"))
		}
		s.connect()
		if err := s.fail(newRequest(t, "GET", s.server.URL("/"), nil)); !errors.Is(err, okhttp.ErrTooManyFollowUps) {
			s.Error(err)
		}
		empty := "request RespHdrStart RespHdrEnd(302) RespBodyStart RespBodyEnd(0) "
		s.log.want("CallStart dial Acquired " + strings.Repeat(empty+"FollowUp(/next) ", 20) + empty +
			"FollowUp(none) Released CallFailed")
	})
}

func TestEventsStaleConnectionRecovered(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("1"), mock.Response{}.WithEffect(mock.AtRequestEnd, mock.CloseConnection()), mock.Text("2"))
		s.connect()
		s.get("1")
		s.get("2")
		s.log.want(`CallStart Acquired(reused) request RespFailed Retry(true) Released
			ConnStart ConnEnd(http/1.1) Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(1) Released CallEnd`)
	})
}

func TestEventsDeadIdleConnection(t *testing.T) {
	inEachWay(t, func(s *scene) {
		s.serve(mock.Text("1").WithEffect(mock.AtResponseEnd, mock.CloseConnection()), mock.Text("2"))
		s.connect()
		s.get("1")
		if err := s.server.WaitOpen(t.Context(), 0); err != nil {
			s.Fatal(err)
		}
		s.get("2")
		s.log.want(`CallStart Discarded dial Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(1) Released CallEnd`)
	})
}

func TestEventsOneListenerPerCall(t *testing.T) {
	server := mock.New(t, mock.WithFallback(mock.Text("ok")))
	var made []*okhttp.Call
	client := startClient(t, okhttp.WithEventListenerFactory(func(call *okhttp.Call) okhttp.EventListener {
		made = append(made, call)
		if len(made) == 2 {
			return nil // a call that nobody listens to
		}
		return okhttp.EventListenerFunc(func(of *okhttp.Call, _ okhttp.Event) {
			if of != call {
				t.Error("an event of another call")
			}
		})
	}))
	for range 3 {
		resp, err := client.Get(t.Context(), server.URL("/"))
		wantBody(t, resp, err, "ok")
	}
	if len(made) != 3 {
		t.Errorf("the factory was asked %d times", len(made))
	}
}

func TestJoinListeners(t *testing.T) {
	var got strings.Builder
	named := func(name string) okhttp.EventListener {
		return okhttp.EventListenerFunc(func(*okhttp.Call, okhttp.Event) { got.WriteString(name) })
	}
	if okhttp.JoinListeners() != nil || okhttp.JoinListeners(nil, nil) != nil {
		t.Error("nothing joined is something")
	}
	one := &eventLog{t: t}
	if okhttp.JoinListeners(nil, one, nil) != okhttp.EventListener(one) {
		t.Error("one listener is wrapped")
	}
	okhttp.JoinListeners(named("a"), nil, okhttp.JoinListeners(named("b"), named("c")), named("d")).OnEvent(nil, okhttp.CallStart{})
	if got.String() != "abcd" {
		t.Errorf("order %q", got.String())
	}
	// Joining must not write into what was joined before.
	got.Reset()
	base := okhttp.JoinListeners(named("a"), named("b"))
	left, right := okhttp.JoinListeners(base, named("l")), okhttp.JoinListeners(base, named("r"))
	left.OnEvent(nil, okhttp.CallStart{})
	right.OnEvent(nil, okhttp.CallStart{})
	base.OnEvent(nil, okhttp.CallStart{})
	if got.String() != "ablabrab" {
		t.Errorf("order %q", got.String())
	}
}
