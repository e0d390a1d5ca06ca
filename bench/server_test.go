package main

import "testing"

func TestParseHead(t *testing.T) {
	r := parseHead([]byte("POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 1024\r\nConnection: close\r\n"))
	if string(r.path) != "/post" || r.length != 1024 || r.chunked || !r.close {
		t.Errorf("parseHead = %q, %+v", r.path, r)
	}
	r = parseHead([]byte("GET /13 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"))
	if string(r.path) != "/13" || r.length != 0 || !r.chunked || r.close {
		t.Errorf("parseHead = %q, %+v", r.path, r)
	}
}
