package okhttp_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/okhttp-go/okhttp"

// layers is the import graph of this module, from the ground up: for each package
// (by its directory) what its code, tests aside, may import beside the standard
// library. An import points down. Examples may import what a user may.
var layers = map[string][]string{
	// meaning: tables and pure functions
	"internal/httpsem":  {},
	"internal/followup": {},
	"internal/linked":   {}, // lists whose elements lie in what they link: the pool leaves no garbage

	// a file format: what is recorded, and what is exported
	"internal/har": {},

	// useful alone
	"dns":   {},
	"certs": {},

	// codecs: bytes to one request and response, for both roles
	"internal/http1":       {"internal/httpsem"},
	"internal/http2/frame": {}, // bytes to frames: knows neither header compression nor streams
	"internal/http2/hpack": {}, // bytes to fields: knows no frames
	"internal/http2":       {"internal/http2/frame", "internal/http2/hpack", "internal/httpsem"},

	// connecting
	"internal/connect": {
		"dns",
		"internal/http1",   // opens a codec on a connection, once its protocol is known
		"internal/http2",   // or an engine
		"internal/httpsem", // what codecs and their drivers share
		"internal/linked",
	},

	// the client
	"": {
		"dns",
		"internal/connect",
		"internal/followup",
		"internal/http1", // the codec's own type, where an interface costs too much
		"internal/httpsem",
		"internal/linked",
		"github.com/klauspost/compress/gzip", // transparent gzip, faster than the standard library's
		"golang.org/x/net/idna",              // international host names (UTS 46)
	},

	// for tests: never the client, so that every test may use them
	"mockwebserver": {
		"certs",
		"internal/har", // recordings
		"internal/http1",
		"internal/http2/frame", // both roles of the byte layer: the server's is its own
		"internal/http2/hpack",
		"internal/httpsem",
	},
	"internal/testkit":                  {},
	"internal/conformance/nethttp":      {}, // net/http's own client tests; only tests import anything
	"internal/conformance/h2spec":       {}, // runs a suite of its own
	"internal/conformance/h2spec/h2get": {""},

	// above the client
	"logging":             {""},
	"examples/quickstart": {"", "logging", "mockwebserver"},
	"examples/concurrent": {"", "logging", "mockwebserver"},
	"examples/unixsocket": {"", "mockwebserver"},
}

func TestLayers(t *testing.T) {
	packages := goPackages(t)
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		allowed, known := layers[dir]
		if !known {
			t.Errorf("package %q has no row in layers: write it in the table first, with what it may import", dir)
		}
		for _, imported := range slices.Sorted(maps.Keys(importsOf(t, packages[dir]))) {
			if !slices.Contains(allowed, imported) {
				t.Errorf("%q imports %q: write it in the table first, with its reason", dir, imported)
			}
		}
	}
	for dir := range layers {
		if _, exists := packages[dir]; !exists {
			t.Errorf("layers has a row for %q, which is no package", dir)
		}
	}
}

// goPackages lists the directories of this module that hold Go code, with their
// files, tests aside and for all systems. Directories with a go.mod are other modules.
func goPackages(t *testing.T) map[string][]string {
	t.Helper()
	packages := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".":
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil ||
				d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") {
				return filepath.SkipDir
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), ".")
			packages[dir] = append(packages[dir], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// importsOf collects the imports of files: packages of this module by directory,
// those of others by path, none of the standard library.
func importsOf(t *testing.T, files []string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if own, ok := strings.CutPrefix(path, module); ok {
				all[strings.TrimPrefix(own, "/")] = true
			} else if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
				all[path] = true
			}
		}
	}
	return all
}
