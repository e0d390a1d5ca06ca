package main

import "fmt"

var (
	h2Clients     = []string{okhttpClient, okhttpRT, netHTTP, netHTTPRT, rawConn}
	h2MostClients = []string{okhttpClient, netHTTP, rawConn}
)

// http2Scenarios lists those of HTTP/2. Each client makes all its calls on one
// connection.
func http2Scenarios() []scenario {
	get := func(l listener, path string, want int64) exchange {
		return exchange{listener: l, method: "GET", path: path, want: want}
	}
	post := exchange{listener: h2c, method: "POST", path: "/post", body: bytesBody, size: kib, want: 13}
	idle := get(h2TLS, "/drip", 2*dripHalf)
	idle.many = true

	var all []scenario
	parallel := func(s scenario, counts ...int) {
		name := s.name
		for _, n := range counts {
			s.name, s.parallel, s.repeat = fmt.Sprintf("%s/c%d", name, n), n, 0
			if n == 1 {
				s.repeat = 3
			}
			all = append(all, s)
		}
	}
	parallel(scenario{name: "h2c-get13", about: "GET over HTTP/2, 13 bytes", x: get(h2c, "/13", 13), clients: h2Clients}, 1, 16, 100, 1000)
	parallel(scenario{name: "h2-tls-get13", about: "the same over TLS", x: get(h2TLS, "/13", 13), clients: h2MostClients}, 1, 16, 100, 1000)
	parallel(scenario{name: "h2c-post1k", about: "POST over HTTP/2, 1 KiB", x: post, clients: h2MostClients}, 1, 100)
	parallel(scenario{name: "h2c-headers40", about: "GET over HTTP/2, 40 response headers", x: get(h2c, "/40", 13), clients: h2Clients}, 16)
	for _, door := range []struct {
		name, about string
		listener    listener
	}{
		{"h2c", "GET over HTTP/2", h2c},
		{"h2-tls", "GET over HTTP/2 and TLS", h2TLS},
	} {
		all = append(all,
			scenario{name: door.name + "-get64m", about: door.about + ", 64 MiB", x: get(door.listener, "/64m", 64*mib), parallel: 1, clients: h2MostClients},
			scenario{name: door.name + "-get16m/c16", about: door.about + ", 16 MiB", x: get(door.listener, "/16m", 16*mib), parallel: 16, clients: h2MostClients},
		)
	}
	return append(all,
		scenario{name: "h2-far-get64m", about: "GET over HTTP/2, 64 MiB, a round trip takes 50 ms", x: get(h2cFar, "/64m", 64*mib), parallel: 1, clients: h2MostClients, figure: rate, fixed: 2, rounds: 3},
		scenario{name: "h2-far-get16m/c16", about: "the same, 16 MiB", x: get(h2cFar, "/16m", 16*mib), parallel: 16, clients: h2MostClients, figure: rate, fixed: 16, rounds: 3},
		scenario{name: "idle-h2-tls", about: "an idle HTTP/2 connection over TLS", kind: kindIdle, x: idle, clients: h2MostClients, figure: resident, rounds: 3},
		scenario{name: "h2-allocs", about: "RoundTrip alone on an HTTP/2 connection", kind: kindAllocs, x: get(h2c, "/13", 13), parallel: 1, clients: []string{okhttpRT, netHTTPRT}, figure: allocs, fixed: 5000, rounds: 3},
		scenario{name: "h2-allocs40", about: "the same, 40 response headers", kind: kindAllocs, x: get(h2c, "/40", 13), parallel: 1, clients: []string{okhttpRT, netHTTPRT}, figure: allocs, fixed: 5000, rounds: 3},
	)
}
