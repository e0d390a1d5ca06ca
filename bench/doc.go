// Command bench measures what an HTTP exchange costs its client: this
// library, net/http, fasthttp, and a hand-written loop on a net.Conn that marks
// the limit.
//
//	go run ./bench                    everything, about fifteen minutes
//	go run ./bench -quick             everything, roughly, in about three
//	go run ./bench -run '^get13/c16'  one scenario
//	go run ./bench -run h2            those of HTTP/2
//	go run ./bench -list              the scenarios
//
// # How it measures
//
// The server is a process of its own and answers with bytes made beforehand.
// Every cell (one scenario, one client, one round) is a process of its own too,
// so that no client inherits another's heap, and its CPU time is its own. The
// clients of a scenario take turns within a round, each round in another order,
// and all make the same number of calls. A ratio compares two clients within
// one round, seconds apart, and what is printed is the median of those ratios:
// a machine that slows down for a minute slows both. It need not equal the
// quotient of the two medians in the table.
//
// The main figure is the CPU time of the client process per call, user and
// system, from getrusage, taken around the loop after a warm-up and a
// collection. The server shares the machine, so calls per second says less.
//
// # HTTP/2
//
// The scenarios h2c-… are HTTP/2 by prior knowledge, h2-tls-… by ALPN. A client
// makes all its calls on one connection, or the cell counts as failed; the
// first call is made alone, for the connection to be there. The server takes any
// number of streams, has large windows for uploads, honours the client's, sends
// frames as large as the client takes up to 64 KiB, and its header blocks leave
// the dynamic table alone. Idle connections are each to a host of its own, since
// to one host there would be one.
//
// The scenarios h2-far-… go over a link in memory with a round trip of 50 ms and
// room for 10 Gbit/s, the server in the client's process. There the ratios compare
// bytes per second, which is a matter of windows; the CPU time has the
// server's and the link's in it.
//
// # How to read it
//
// The clients: okhttp and net/http are used through http.Client, with a request
// made for each call, as programs do. The -rt ones are RoundTrip alone, on one
// request made beforehand. okhttp-do is this library's own Client.Do. raw sends
// the same bytes each time and parses next to nothing; in HTTP/2 one goroutine
// keeps all its streams going and decodes no header block, which no client can
// reach that has to wake a caller for each answer.
package main
