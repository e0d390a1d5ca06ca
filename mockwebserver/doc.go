// Package mockwebserver is a scriptable HTTP server for tests of HTTP clients,
// any clients. It answers what it is told, keeps what it was asked, and can
// misbehave at an exact moment: stall, truncate, reset, lie.
//
//	server := mockwebserver.New(t)
//	server.Enqueue(mockwebserver.Text("hello").WithHeadDelay(time.Second))
//
//	resp, err := http.Get(server.URL("/greeting"))
//	...
//	request := server.RequireRequest(t)
//	if request.Target != "/greeting" { ... }
//
// A [Response] is a value; its With methods return changed copies. An [Effect]
// happens at a [Trigger]:
//
//	mockwebserver.Text("hello").WithEffect(mockwebserver.AtResponseBody, mockwebserver.ResetConnection())
//
// Which response a request gets is up to a [Dispatcher]: the default is a
// [Queue], which [Server.Enqueue] fills; a function or an http.Handler can take
// its place.
//
// Nothing needs sleeps. The server reports its connections through
// [WithConnectionHook], [Server.OpenConnections] and [Server.WaitOpen], it
// tells with [Server.WaitIdle] when it has nothing in progress, and on a [Pipe]
// it works inside testing/synctest bubbles.
package mockwebserver
