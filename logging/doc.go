// Package logging tells in text what calls do.
//
// [Listener] and [SlogListener] report every event of a call with the time since
// its start: they show where a call spends its time, and why it was repeated,
// redirected or given up. An [Interceptor] reports requests and responses, down
// to their bodies.
//
//	client := okhttp.New(
//		okhttp.WithEventListenerFactory(logging.Listener(func(line string) { log.Print(line) })),
//		okhttp.WithInterceptor(logging.NewInterceptor(func(text string) { log.Print(text) })),
//	)
//
// What identifies a user is kept out unless asked for: user names and passwords
// in URLs, the values of query parameters, and the values of the headers
// Authorization, Proxy-Authorization, Cookie and Set-Cookie. Paths and bodies
// are shown as they are.
//
// Everything here is safe for concurrent use. The functions that are given to it
// are called from many goroutines at once, and must be safe for that, as those of
// packages log and log/slog are.
package logging
