package main

import (
	"fmt"
	"regexp"
	"time"
)

// A kind says which procedure measures a scenario.
type kind int

const (
	// kindLoop runs a number of calls over some workers and measures the loop.
	kindLoop kind = iota
	// kindAllocs is kindLoop on one processor with one worker, where the count
	// of allocations is exact.
	kindAllocs
	// kindPair runs two clients in one process in short alternating slices, to
	// tell apart what differs by a few percent.
	kindPair
	// kindIdle opens many connections and measures what each keeps resident.
	kindIdle
)

// A scenario is one row group of the table: one kind of exchange, measured for
// several clients.
type scenario struct {
	name     string
	about    string
	kind     kind
	x        exchange
	parallel int      // workers, each with one call in flight
	clients  []string // in the order of the table
	figure   figure   // what the ratios compare

	// calibrated runs fit the time given by -time; fixed says a number of calls
	// instead. Neither applies to kindIdle.
	fixed int
	// repeat multiplies the rounds and divides the time of each: with one call
	// in flight a cell depends on which cores its two processes happen to get,
	// so many short cells say more than a few long ones.
	repeat int
	// rounds, where not zero, caps the number of rounds: exact figures need few.
	rounds int
}

// exchange describes one request and what is done with its answer.
type exchange struct {
	listener listener
	method   string
	path     string
	body     bodyKind
	size     int           // bytes to send
	want     int64         // bytes the caller must receive, after decoding
	timeout  time.Duration // deadline of each call; zero is none
	fresh    bool          // a new connection for each call
	resume   bool          // the client keeps TLS sessions
	gzip     bool          // the answer is compressed, the caller wants it plain
	toFile   bool          // the body is copied into a new file
	discard  bool          // the body is copied to io.Discard itself
	many     bool          // more connections than a client keeps idle by default
}

// bodyKind says how a request's body is given to the client.
type bodyKind int

const (
	noBody     bodyKind = iota
	bytesBody           // a *bytes.Reader: the length is known
	streamBody          // a plain io.Reader: the length is not
)

// listener names one of the server's doors.
type listener int

const (
	plain      listener = iota
	overTLS             // hands out session tickets
	overTLSOff          // the same without tickets: each handshake is a full one
	h2c                 // HTTP/2 by prior knowledge
	h2TLS               // HTTP/2 by ALPN
	h2cFar              // HTTP/2 by prior knowledge at the other end of a link
)

// http2 tells whether HTTP/2 is spoken there, and nothing else.
func (l listener) http2() bool { return l == h2c || l == h2TLS || l == h2cFar }

// secure tells whether TLS is spoken there.
func (l listener) secure() bool { return l == overTLS || l == overTLSOff || l == h2TLS }

const (
	kib = 1 << 10
	mib = 1 << 20
)

// The clients, by the names the table shows.
const (
	okhttpClient   = "okhttp"
	okhttpDo       = "okhttp-do"
	okhttpRT       = "okhttp-rt"
	okhttpListened = "okhttp-listener"
	netHTTP        = "net/http"
	netHTTPRT      = "net/http-rt"
	fastHTTP       = "fasthttp"
	rawConn        = "raw"
)

var (
	everyClient = []string{okhttpClient, okhttpDo, okhttpRT, netHTTP, netHTTPRT, fastHTTP, rawConn}
	mostClients = []string{okhttpClient, okhttpDo, netHTTP, fastHTTP, rawConn}
	idleClients = []string{okhttpClient, netHTTP, fastHTTP, rawConn}
	rtClients   = []string{okhttpRT, netHTTPRT}
	pairClients = []string{okhttpClient, okhttpListened}
)

// scenarios lists everything that can be measured, in the order of the table.
func scenarios() []scenario { return append(http1Scenarios(), http2Scenarios()...) }

func http1Scenarios() []scenario {
	get := func(path string, want int64) exchange {
		return exchange{method: "GET", path: path, want: want}
	}
	var all []scenario
	for _, small := range []struct {
		name, about string
		x           exchange
	}{
		{"get13", "GET, 13 bytes", get("/13", 13)},
		{"get1k", "GET, 1 KiB", get("/1k", kib)},
	} {
		for _, parallel := range []int{1, 16, 256} {
			s := scenario{
				name: fmt.Sprintf("%s/c%d", small.name, parallel), about: small.about,
				x: small.x, parallel: parallel, clients: everyClient,
			}
			if parallel == 1 {
				s.repeat = 3
			}
			all = append(all, s)
		}
	}

	deadline := get("/13", 13)
	deadline.timeout = 30 * time.Second
	post := exchange{method: "POST", path: "/post", body: bytesBody, size: kib, want: 13}
	secure := get("/1k", kib)
	secure.listener = overTLS
	discarded := get("/64m", 64*mib)
	discarded.discard = true
	file := get("/64m", 64*mib)
	file.toFile = true
	upload := exchange{method: "POST", path: "/post", body: bytesBody, size: 64 * mib, want: 13}
	stream := upload
	stream.body = streamBody
	zipped := get("/gzip", mib)
	zipped.gzip = true
	connect := get("/13", 13)
	connect.fresh = true
	connectTLS := connect
	connectTLS.listener = overTLSOff
	connectResumed := connect
	connectResumed.listener, connectResumed.resume = overTLS, true
	idle := get("/drip", 2*dripHalf)
	idle.many = true
	idleTLS := idle
	idleTLS.listener = overTLS

	return append(all,
		scenario{name: "get13-deadline/c16", about: "GET, 13 bytes, a context with a timeout for each call", x: deadline, parallel: 16, clients: mostClients},
		scenario{name: "post1k/c1", about: "POST, 1 KiB", x: post, parallel: 1, clients: everyClient, repeat: 3},
		scenario{name: "post1k/c16", about: "POST, 1 KiB", x: post, parallel: 16, clients: everyClient},
		scenario{name: "tls-get1k/c16", about: "GET over TLS, 1 KiB", x: secure, parallel: 16, clients: mostClients},
		scenario{name: "headers40/c16", about: "GET, 40 response headers", x: get("/40", 13), parallel: 16, clients: everyClient},
		scenario{name: "get1m/c1", about: "GET, 1 MiB", x: get("/1m", mib), parallel: 1, clients: mostClients, repeat: 2},
		scenario{name: "get1m/c16", about: "GET, 1 MiB", x: get("/1m", mib), parallel: 16, clients: mostClients},
		scenario{name: "get64m", about: "GET, 64 MiB, io.Copy to a writer that counts", x: get("/64m", 64*mib), parallel: 1, clients: mostClients},
		scenario{name: "get64m-discard", about: "GET, 64 MiB, io.Copy to io.Discard (which brings a buffer of 8 KiB)", x: discarded, parallel: 1, clients: []string{okhttpClient, netHTTP, rawConn}},
		scenario{name: "get64m-file", about: "GET, 64 MiB, io.Copy into a new file", x: file, parallel: 1, clients: mostClients},
		scenario{name: "post64m", about: "POST, 64 MiB from memory", x: upload, parallel: 1, clients: mostClients},
		scenario{name: "post64m-stream", about: "POST, 64 MiB from a stream of unknown length", x: stream, parallel: 1, clients: mostClients},
		scenario{name: "gzip1m", about: "GET, 1 MiB compressed on the wire", x: zipped, parallel: 1, clients: mostClients},
		scenario{name: "connect", about: "GET, 13 bytes, a new connection each", x: connect, parallel: 1, clients: mostClients, repeat: 2},
		scenario{name: "connect-tls", about: "the same over TLS, full handshakes", x: connectTLS, parallel: 1, clients: mostClients},
		scenario{name: "connect-tls-resumed", about: "the same over TLS, resumed sessions", x: connectResumed, parallel: 1, clients: mostClients},
		scenario{name: "idle", about: "an idle connection", kind: kindIdle, x: idle, clients: idleClients, figure: resident, rounds: 3},
		scenario{name: "idle-tls", about: "an idle TLS connection", kind: kindIdle, x: idleTLS, clients: idleClients, figure: resident, rounds: 3},
		scenario{name: "listener", about: "GET, 1 KiB, c=16, with a listener that does nothing", kind: kindPair, x: get("/1k", kib), parallel: 16, clients: pairClients},
		scenario{name: "allocs", about: "RoundTrip alone on a reused connection", kind: kindAllocs, x: get("/13", 13), parallel: 1, clients: rtClients, figure: allocs, fixed: 5000, rounds: 3},
		scenario{name: "allocs40", about: "the same, 40 response headers", kind: kindAllocs, x: get("/40", 13), parallel: 1, clients: rtClients, figure: allocs, fixed: 5000, rounds: 3},
	)
}

// selectScenarios keeps the scenarios whose name matches run, and in them the
// clients whose name matches who.
func selectScenarios(all []scenario, run, who *regexp.Regexp) []scenario {
	var kept []scenario
	for _, s := range all {
		if !run.MatchString(s.name) {
			continue
		}
		var names []string
		for _, c := range s.clients {
			if who.MatchString(c) {
				names = append(names, c)
			}
		}
		if len(names) > 0 {
			s.clients = names
			kept = append(kept, s)
		}
	}
	return kept
}

// findScenario returns the scenario of that name.
func findScenario(name string) (scenario, error) {
	for _, s := range scenarios() {
		if s.name == name {
			return s, nil
		}
	}
	return scenario{}, fmt.Errorf("no scenario %q", name)
}

// roundsOf says how often a scenario runs when the command was given rounds.
func (s scenario) roundsOf(rounds int) int {
	if s.rounds > 0 {
		return min(rounds, s.rounds)
	}
	return rounds * max(1, s.repeat)
}

// timeOf says how long one cell of a scenario should run.
func (s scenario) timeOf(each time.Duration) time.Duration {
	return each / time.Duration(max(1, s.repeat))
}
