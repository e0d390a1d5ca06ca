package okhttp_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

// A body may be closed while the read that finds its end is still being reported.
// The exchange then ends once, and after the reports.
func TestBodyClosedWithinItsLastRead(t *testing.T) {
	log := newEventLog(t)
	server := mock.New(t, mock.WithHostName("server.test"))
	server.Enqueue(mock.Text("ok"))
	client := startClient(t, okhttp.WithEventListener(log), okhttp.WithDNS(serverTest))
	resp, err := client.Get(t.Context(), server.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	log.onEvent(func(_ *okhttp.Call, event okhttp.Event) {
		if _, ok := event.(okhttp.ResponseBodyStart); ok {
			resp.Body.Close()
		}
	})
	if got, err := io.ReadAll(resp.Body); string(got) != "ok" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if s := client.Pool().Stats(); s.Idle != 1 {
		t.Errorf("%+v", s)
	}
	log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
		RespBodyStart RespBodyEnd(2) Released CallEnd`)
}

// A first read that is interrupted by Close has begun the body.
func TestBodyClosedDuringItsFirstRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newEventLog(t)
		m := newMemory(t)
		m.serve("server.test", once("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"))
		c := m.client(okhttp.WithEventListener(log))
		resp, err := c.Do(newRequest(t, "GET", "http://server.test/", nil))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Second)
			resp.Body.Close()
		}()
		if _, err := resp.Body.Read(make([]byte, 4)); err == nil {
			t.Error("no error")
		}
		log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(200) FollowUp(none)
			RespBodyStart RespBodyEnd(0) Released CallEnd`)
	})
}

// What is done to an upgraded connection after it was closed is no event.
func TestUpgradedBodyAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newEventLog(t)
		m := newMemory(t)
		m.serve("server.test", once("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"))
		c := m.client(okhttp.WithEventListener(log))
		req := newRequest(t, "GET", "http://server.test/", nil)
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", "x")
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		socket := resp.Body.(io.ReadWriteCloser)
		socket.Close()
		if _, err := socket.Read(make([]byte, 1)); err == nil {
			t.Error("Read: no error")
		}
		if _, err := socket.Write([]byte("x")); err == nil {
			t.Error("Write: no error")
		}
		log.want(`CallStart dial Acquired request RespHdrStart RespHdrEnd(101) FollowUp(none) Released CallEnd`)
	})
}
