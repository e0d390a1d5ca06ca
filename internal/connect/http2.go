package connect

// speakHTTP2 begins HTTP/2 on a link.
func speakHTTP2(config *Config, l Link, r reports) engine { panic("BUG") }
