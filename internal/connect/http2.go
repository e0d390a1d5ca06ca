package connect

// speakHTTP2 begins HTTP/2 on a link. No option of the client enables HTTP/2, so a
// server that chose it was refused during the handshake.
func speakHTTP2(config *Config, l Link, r reports) engine {
	panic("BUG: HTTP/2 was agreed on though nothing enables it")
}
