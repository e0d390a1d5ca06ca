package hpack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	xhpack "golang.org/x/net/http2/hpack"
)

// The stories of hpack-test-case: header lists, and the blocks that other
// encoders made of them. Read from ../shared, see shared/conformance/README.md.

const storiesDir = "../../../../shared/conformance/hpack"

type story struct {
	Cases []struct {
		Seqno           int
		Wire            string
		HeaderTableSize *uint32             `json:"header_table_size"`
		Headers         []map[string]string // each of one field
	}
}

// fields is the header list of case i.
func (s *story) fields(i int) (all []Field) {
	for _, one := range s.Cases[i].Headers {
		for name, value := range one {
			all = append(all, Field{Name: name, Value: value})
		}
	}
	return all
}

func readStories(t *testing.T) map[string]*story {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(storiesDir, "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("OKHTTP_REQUIRE_SHARED") == "1" {
			t.Fatalf("no stories in %s", storiesDir)
		}
		t.Skipf("no stories in %s: they are not part of this repository", storiesDir)
	}
	all := map[string]*story{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := new(story)
		if err := json.Unmarshal(text, s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[file] = s
	}
	if len(all) < 64 {
		t.Errorf("only %d stories were found", len(all))
	}
	return all
}

// What other encoders made is decoded to the list that it was made of.
func TestStoriesDecode(t *testing.T) {
	blocks := 0
	for file, s := range readStories(t) {
		var d Decoder
		var b Block
		for i, c := range s.Cases {
			if c.HeaderTableSize != nil {
				d.SetMaxTableSize(*c.HeaderTableSize)
			}
			if err := d.Decode(&b, unhex(t, c.Wire)); err != nil {
				t.Errorf("%s %d: %v", file, c.Seqno, err)
				break
			}
			blocks++
			if got, want := plain(b.Fields), plain(s.fields(i)); !slices.Equal(got, want) {
				t.Errorf("%s %d:\n got %q\nwant %q", file, c.Seqno, got, want)
			}
		}
	}
	if blocks < 6000 {
		t.Errorf("only %d blocks were decoded", blocks)
	}
	t.Logf("%d blocks", blocks)
}

// What our encoder makes of the lists, our decoder and that of golang.org/x/net
// decode to the same, with the peer changing the size of the table now and then.
func TestStoriesEncode(t *testing.T) {
	sizes := []uint32{4096, 100, 0, 1 << 20, 2000}
	for file, s := range readStories(t) {
		var e Encoder
		var d Decoder
		var b Block
		x := xhpack.NewDecoder(DefaultTableSize, nil)
		for i := range s.Cases {
			if i%7 == 6 {
				n := sizes[i/7%len(sizes)]
				e.SetMaxTableSize(n)
				d.SetMaxTableSize(n)
				x.SetAllowedMaxDynamicTableSize(n)
			}
			want := s.fields(i)
			var wire []byte
			for _, f := range want {
				wire = e.AppendField(wire, f.Name, f.Value, false)
			}
			if err := d.Decode(&b, wire); err != nil {
				t.Fatalf("%s %d: %v", file, i, err)
			}
			if got := plain(b.Fields); !slices.Equal(got, plain(want)) {
				t.Fatalf("%s %d:\n got %q\nwant %q", file, i, got, plain(want))
			}
			theirs, err := x.DecodeFull(wire)
			if err != nil {
				t.Fatalf("%s %d: x/net: %v", file, i, err)
			}
			if got := ofXNet(theirs); !slices.Equal(plain(got), plain(want)) {
				t.Fatalf("%s %d: x/net:\n got %q\nwant %q", file, i, plain(got), plain(want))
			}
		}
	}
}

// ofXNet turns the fields of golang.org/x/net into ours.
func ofXNet(theirs []xhpack.HeaderField) (all []Field) {
	for _, f := range theirs {
		all = append(all, Field{Name: f.Name, Value: f.Value, Sensitive: f.Sensitive})
	}
	return all
}

// plain lists fields without what a decoder found out beside.
func plain(fields []Field) (all []string) {
	for _, f := range fields {
		all = append(all, f.Name+": "+f.Value)
	}
	return all
}
