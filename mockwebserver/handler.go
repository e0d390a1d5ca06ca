package mockwebserver

func (x *exchange) serveHandler(r Response) error { panic("TODO") }
