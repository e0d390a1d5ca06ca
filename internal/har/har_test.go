package har_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp/internal/har"
)

const limit = 1 << 20

func readFile(t *testing.T, name string) *har.Log {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := har.Read(f, limit)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestReadsWhatChromeWrites(t *testing.T) {
	log := readFile(t, "testdata/chrome.har")
	if log.Version != "1.2" || log.Creator.Name != "WebInspector" || len(log.Entries) != 3 {
		t.Fatalf("%+v", log)
	}
	e := log.Entries[0]
	if e.Started.UTC() != time.Date(2025, 3, 4, 10, 11, 12, 345e6, time.UTC) {
		t.Error(e.Started)
	}
	if e.Request.HTTPVersion != "h2" || len(e.Request.Headers) != 7 || e.Request.Headers[0].Name != ":authority" {
		t.Errorf("%+v", e.Request)
	}
	if body, err := e.Response.Content.Body(); err != nil || !strings.Contains(string(body), "Größe <XL>") || e.Response.Content.Encoded {
		t.Errorf("%q %v", body, err)
	}
	if e.Timings.DNS != -1 || e.Timings.Wait != 34.8 || e.Response.Error != "" {
		t.Errorf("%+v", e)
	}
	e = log.Entries[1]
	if body, err := e.Request.PostData.Body(); err != nil || string(body) != "user=eve&password=1234" {
		t.Errorf("%q %v", body, err)
	}
	if e = log.Entries[2]; e.Response.Status != 0 || e.Response.Error != "net::ERR_BLOCKED_BY_CLIENT" {
		t.Errorf("%+v", e.Response)
	}
}

func TestReadsWhatFirefoxWrites(t *testing.T) {
	log := readFile(t, "testdata/firefox.har")
	if log.Creator.Name != "Firefox" || len(log.Entries) != 2 {
		t.Fatalf("%+v", log)
	}
	if body, err := log.Entries[0].Response.Content.Body(); err != nil || string(body) != "\x89PNG\r\n\x1a\n\x00\x00\x00\r" {
		t.Errorf("%q %v", body, err)
	}
	if log.Entries[0].Response.Content.Lacks() || !log.Entries[1].Response.Content.Lacks() {
		t.Error("the second body, and only that, was not saved")
	}
}

// entry has something in each field.
func entry() har.Entry {
	e := har.Entry{
		Started: har.Time{Time: time.Date(2025, 3, 4, 10, 11, 12, 345e6, time.UTC)},
		Request: har.Request{
			Method: "POST", URL: "https://a.test/b?c=d%20e&f", HTTPVersion: "HTTP/1.1",
			Headers:     har.List[har.Field]{{Name: "x-ODD", Value: "<&>"}, har.NewField("X-Raw", "\xff\x00"), {Name: "Cookie", Value: "k=v"}},
			PostData:    &har.PostData{MimeType: "text/plain"},
			HeadersSize: -1, BodySize: 3,
			Target: "/b", ChunkSizes: har.List[har.Int]{1, 2}, Trailers: har.List[har.Field]{{Name: "T", Value: "1"}},
		},
		Response: har.Response{
			Status: 302, StatusText: "Fine", HTTPVersion: "HTTP/2.0",
			Headers: har.List[har.Field]{
				{Name: "Location", Value: "/x"},
				{Name: "Set-Cookie", Value: "s=1; Path=/p; Domain=a.test; Expires=Tue, 04 Mar 2025 10:11:12 GMT; HttpOnly; Secure"},
			},
			HeadersSize: -1, BodySize: -1,
			Error: "broken", Interim: har.List[har.Interim]{{Status: 103, StatusText: "Early Hints"}},
			Content: har.Content{Size: 3, MimeType: "image/png", Encoded: true, Incomplete: "too long"},
		},
		Timings:         har.Timings{Blocked: 1, DNS: -1, Connect: -1, Send: 2, Wait: 3, Receive: 4, SSL: -1},
		ServerIPAddress: "192.0.2.1", Connection: "7", Comment: "c",
	}
	e.Request.PostData.SetBody([]byte("a\r\nb \"ü\""))
	e.Response.Content.SetBody([]byte{0, 1, 0xff})
	e.Derive()
	return e
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	e := entry()
	data, err := har.Marshal(&e)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := har.Write(&file, har.Creator{Name: `quo"ted`, Version: "1"}, [][]byte{data, data}); err != nil {
		t.Fatal(err)
	}
	log, err := har.Read(&file, limit)
	if err != nil {
		t.Fatal(err)
	}
	if log.Version != har.Version || log.Creator.Name != `quo"ted` || len(log.Entries) != 2 {
		t.Fatalf("%+v", log)
	}
	for _, got := range log.Entries {
		again, err := har.Marshal(&got)
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("%v\n%s\n%s", err, again, data)
		}
		if body, err := got.Request.PostData.Body(); err != nil || string(body) != "a\r\nb \"ü\"" {
			t.Errorf("%q %v", body, err)
		}
		if body, err := got.Response.Content.Body(); err != nil || string(body) != "\x00\x01\xff" || got.Response.Content.Encoding != "base64" {
			t.Errorf("%q %v", body, err)
		}
		if raw, err := got.Request.Headers[1].Bytes(); err != nil || raw != "\xff\x00" {
			t.Errorf("%q %v", raw, err)
		}
		if got.Time != 10 {
			t.Error(got.Time)
		}
	}
	if !bytes.Contains(data, []byte(`"<&>"`)) {
		t.Error("escapes that only HTML needs")
	}
}

func TestDerived(t *testing.T) {
	e := entry()
	if want := (har.List[har.Field]{{Name: "c", Value: "d e"}, {Name: "f"}}); !reflect.DeepEqual(e.Request.QueryString, want) {
		t.Errorf("%+v", e.Request.QueryString)
	}
	if want := (har.List[har.Cookie]{{Name: "k", Value: "v"}}); !reflect.DeepEqual(e.Request.Cookies, want) {
		t.Errorf("%+v", e.Request.Cookies)
	}
	want := har.List[har.Cookie]{{Name: "s", Value: "1", Path: "/p", Domain: "a.test", Expires: "2025-03-04T10:11:12.000Z", HTTPOnly: true, Secure: true}}
	if !reflect.DeepEqual(e.Response.Cookies, want) {
		t.Errorf("%+v", e.Response.Cookies)
	}
	if e.Response.RedirectURL != "/x" {
		t.Error(e.Response.RedirectURL)
	}
}

// TestRequiredMembersAreWritten: readers want these even where there is nothing
// to say.
func TestRequiredMembersAreWritten(t *testing.T) {
	data, err := har.Marshal(&har.Entry{})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	members := map[string]string{
		"":         "startedDateTime time request response cache timings",
		"request":  "method url httpVersion cookies headers queryString headersSize bodySize",
		"response": "status statusText httpVersion cookies headers content redirectURL headersSize bodySize",
		"timings":  "send wait receive",
	}
	for of, names := range members {
		object := got
		if of != "" {
			object = nil
			if err := json.Unmarshal(got[of], &object); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range strings.Fields(names) {
			if value, ok := object[name]; !ok || string(value) == "null" {
				t.Errorf("%s of %q: %s", name, of, value)
			}
		}
	}
}

func TestForms(t *testing.T) {
	p := har.PostData{
		MimeType: "Application/X-www-form-urlencoded; charset=utf-8",
		Params:   har.List[har.Param]{{Name: "a b", Value: "1&2"}, {Name: "c"}},
	}
	if body, err := p.Body(); err != nil || string(body) != "a+b=1%262&c=" {
		t.Errorf("%q %v", body, err)
	}
	p.MimeType = "multipart/form-data; boundary=x"
	if body, err := p.Body(); err == nil {
		t.Errorf("made up %q", body)
	}
	p = har.PostData{Text: "AP8=", Encoding13: "base64"}
	if body, err := p.Body(); err != nil || string(body) != "\x00\xff" {
		t.Errorf("%q %v", body, err)
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2025-03-04T10:11:12.345Z":          "2025-03-04T10:11:12.345Z",
		"2025-03-04T11:11:12.345678+01:00":  "2025-03-04T10:11:12.345Z",
		"2025-03-04T11:11:12.3+0100":        "2025-03-04T10:11:12.300Z",
		"2025-03-04T10:11:12":               "2025-03-04T10:11:12.000Z",
		"2025-03-04T10:11:12.345678901234Z": "2025-03-04T10:11:12.345Z",
	} {
		var got har.Time
		if err := json.Unmarshal([]byte(`"`+text+`"`), &got); err != nil {
			t.Error(err)
			continue
		}
		got.Time = got.UTC()
		if data, err := json.Marshal(got); err != nil || string(data) != `"`+want+`"` {
			t.Errorf("%s: %s %v", text, data, err)
		}
	}
}

func TestRefused(t *testing.T) {
	in := func(entry string) string { return `{"log":{"entries":[{},` + entry + `]}}` }
	many := func(n int, of string) string { return "[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]" }
	for name, c := range map[string]struct{ file, want string }{
		"nothing":      {"", "unexpected EOF"},
		"no JSON":      {"<html>", "invalid character"},
		"an array":     {"[]", `no "log"`},
		"no log":       {`{"entries":[]}`, `no "log"`},
		"log a string": {`{"log":"x"}`, `no "log"`},
		"no entries":   {`{"log":{"version":"1.2"}}`, "no list of entries"},
		"entries":      {`{"log":{"entries":{}}}`, "no list of entries"},
		"cut short":    {`{"log":{"entries":[{}`, "unexpected "}, // EOF, or end of JSON: Go 1.26 and 1.27 differ
		"more behind":  {`{"log":{"entries":[]}} {}`, "something follows"},
		"status":       {in(`{"request":{"method":"GET","url":"http://a.test/"},"response":{"status":"x"}}`), `entry 1 (GET http://a.test/): `},
		"time":         {in(`{"startedDateTime":"yesterday"}`), `entry 1: "yesterday" is no time`},
		"headers":      {in(`{"request":{"headers":{}}}`), "entry 1: {} is no list"},
		"too many":     {in(`{"request":{"headers":` + many(1<<16+1, "{}") + `}}`), "entry 1: a list of more than 65536"},
		"entries, too many": {
			`{"log":{"entries":` + many(har.MaxEntries+1, "{}") + `}}`, "more than 100000 entries",
		},
		"too deep": {in(strings.Repeat("[", 20_000)), "entry 1: "},
		"too long": {`{"log":{"entries":[]},"x":"` + strings.Repeat("x", limit) + `"}`, "more than 1048576 bytes"},
	} {
		log, err := har.Read(strings.NewReader(c.file), limit)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v; want %s", name, log, err, c.want)
		}
	}

	_, err := har.Read(strings.NewReader(in(`{"response":{"status":[]}}`)), limit)
	if e := new(har.EntryError); !errors.As(err, &e) || e.Index != 1 || errors.Unwrap(e) == nil {
		t.Errorf("%#v", err)
	}
	_, err = har.Read(strings.NewReader(`{"log":{"entries":[]}}`), 10)
	if e := new(har.SizeError); !errors.As(err, &e) || e.Limit != 10 {
		t.Errorf("%#v", err)
	}
	if _, err = har.Read(strings.NewReader(`{"log":{"entries":[]}}`), 22); err != nil {
		t.Errorf("a file of exactly the limit: %v", err)
	}
	broken := errors.New("broken disk")
	if _, err = har.Read(io.MultiReader(strings.NewReader(`{"log"`), errReader{broken}), limit); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestUnknownEncodings(t *testing.T) {
	if body, err := (&har.Content{Text: "x", Encoding: "rot13"}).Body(); err == nil {
		t.Errorf("%q", body)
	}
	if body, err := (&har.Content{Text: "%", Encoding: "base64"}).Body(); err == nil {
		t.Errorf("%q", body)
	}
}

// FuzzRead: whatever is read can be written, and is read as the same.
func FuzzRead(f *testing.F) {
	// Small ones: the fuzzer shortens what it finds, byte by byte.
	f.Add([]byte("\xef\xbb\xbf" + `{"log":{"version":"1.2","creator":{"name":"WebInspector"},"pages":[],"entries":[{"_priority":"High","time":1.5,` +
		`"request":{"method":"GET","url":"https://a.test/?b=c","headers":[{"name":":path","value":"/?b=c"},{"name":"cookie","value":"d=e"}]},` +
		`"response":{"status":200,"headers":[{"name":"set-cookie","value":"f=g\nh=i"}],"content":{"size":3,"text":"ü\n"},"_error":null}}]}}`))
	f.Add([]byte(`{"log":{"entries":[{"startedDateTime":"2025-03-04T11:11:12.131+01:00","timings":{"wait":21,"dns":-1},` +
		`"request":{"postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"b"}]},"_chunkSizes":[1,2]},` +
		`"response":{"content":{"encoding":"base64","text":"iVBO"},"_interim":[{"status":103}],"_trailers":[{"name":"t","value":"/w==","_encoding":"base64"}]}}]}}`))
	f.Add([]byte(`{"log":{"version":1.2,"entries":null}}`))
	f.Add([]byte(`{"log":{"entries":[{"time":1e999,"response":{"content":{"size":1.5}}}]}}`))
	f.Add([]byte(`{"log":{"entries":[{"request":{"headers":null,"postData":null},"response":null,"timings":[]}]}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		log, err := har.Read(bytes.NewReader(in), 64<<10)
		if err != nil {
			return
		}
		var entries [][]byte
		for i := range log.Entries {
			e := &log.Entries[i]
			_, _ = e.Response.Content.Body()
			if e.Request.PostData != nil {
				_, _ = e.Request.PostData.Body()
			}
			e.Derive()
			data, err := har.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, data)
		}
		var file bytes.Buffer
		if err := har.Write(&file, log.Creator, entries); err != nil {
			t.Fatal(err)
		}
		again, err := har.Read(&file, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for i := range again.Entries {
			data, err := har.Marshal(&again.Entries[i])
			if err != nil || !bytes.Equal(data, entries[i]) {
				t.Fatalf("%v\n%s\n%s", err, data, entries[i])
			}
		}
	})
}
