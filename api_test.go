package okhttp_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

const apiFile = "api/okhttp.txt"

// TestAPI compares the exported names of the public packages, with their
// signatures, with a golden file: what changes there is a decision.
//
//	go test -run TestAPI . -update
func TestAPI(t *testing.T) {
	var lines []string
	for _, dir := range publicPackages(t) {
		lines = append(lines, apiOf(t, dir)...)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(apiFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(apiFile)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(golden) {
		return
	}
	before := strings.Split(strings.TrimSuffix(string(golden), "\n"), "\n")
	for _, line := range before {
		if !slices.Contains(lines, line) {
			t.Errorf("removed: %s", line)
		}
	}
	for _, line := range lines {
		if !slices.Contains(before, line) {
			t.Errorf("added: %s", line)
		}
	}
	t.Errorf("the API is not that of %s: if it is meant, run go test -run TestAPI . -update, and tell CHANGELOG.md", apiFile)
}

// TestDocumented demands a comment, which begins with its name, for every
// exported name.
func TestDocumented(t *testing.T) {
	for _, dir := range publicPackages(t) {
		for _, missing := range undocumented(packageDoc(t, dir)) {
			t.Errorf("%s.%s has no comment that begins with its name", strings.TrimPrefix(importPath(dir), module+"/"), missing)
		}
	}
}

func publicPackages(t *testing.T) (dirs []string) {
	for _, dir := range slices.Sorted(maps.Keys(goPackages(t))) {
		if !strings.HasPrefix(dir, "internal/") && !strings.HasPrefix(dir, "examples/") {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func importPath(dir string) string {
	return strings.TrimSuffix(module+"/"+dir, "/")
}

// packageDoc reads a package's exported declarations. Files for single systems
// count too; there are none with exported names of their own.
func packageDoc(t *testing.T, dir string) (*doc.Package, *token.FileSet) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range goPackages(t)[dir] {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(fset, files, importPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	return p, fset
}

// apiOf gives one line for each exported name, field and method of a package.
func apiOf(t *testing.T, dir string) (lines []string) {
	p, fset := packageDoc(t, dir)
	add := func(format string, args ...any) {
		lines = append(lines, p.Name+": "+fmt.Sprintf(format, args...))
	}
	text := func(node any) string {
		var b strings.Builder
		if err := printer.Fprint(&b, fset, node); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	function := func(f *doc.Func) {
		decl := *f.Decl
		decl.Doc, decl.Body = nil, nil
		add("%s", text(&decl))
	}
	values := func(kind string, all []*doc.Value) {
		for _, v := range all {
			for _, spec := range v.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if !name.IsExported() {
						continue
					}
					line := kind + " " + name.Name
					if spec.Type != nil {
						line += " " + text(spec.Type)
					}
					if kind == "const" && i < len(spec.Values) {
						line += " = " + text(spec.Values[i])
					}
					add("%s", line)
				}
			}
		}
	}
	values("const", p.Consts)
	values("var", p.Vars)
	for _, f := range p.Funcs {
		function(f)
	}
	for _, typ := range p.Types {
		values("const", typ.Consts)
		values("var", typ.Vars)
		spec := typ.Decl.Specs[0].(*ast.TypeSpec)
		equals := ""
		if spec.Assign.IsValid() {
			equals = "= "
		}
		switch s := spec.Type.(type) {
		case *ast.StructType:
			add("type %s struct", typ.Name)
			fields(s.Fields, func(name string, kind ast.Expr) { add("type %s struct, %s %s", typ.Name, name, text(kind)) })
		case *ast.InterfaceType:
			add("type %s interface", typ.Name)
			fields(s.Methods, func(name string, kind ast.Expr) {
				add("type %s interface, %s%s", typ.Name, name, strings.TrimPrefix(text(kind), "func"))
			})
		default:
			add("type %s %s%s", typ.Name, equals, text(spec.Type))
		}
		for _, f := range typ.Funcs {
			function(f)
		}
		for _, f := range typ.Methods {
			function(f)
		}
	}
	slices.Sort(lines)
	return lines
}

// fields calls f for the exported fields of a struct or methods of an interface.
func fields(list *ast.FieldList, f func(name string, kind ast.Expr)) {
	for _, field := range list.List {
		for _, name := range field.Names {
			if name.IsExported() {
				f(name.Name, field.Type)
			}
		}
		if len(field.Names) == 0 {
			f("", field.Type) // embedded
		}
	}
}

// undocumented lists exported names without a comment of their own that names
// them. Constants and variables of a group may share the group's. Methods that
// satisfy an interface of the standard library by name need none.
func undocumented(p *doc.Package, _ *token.FileSet) (names []string) {
	begins := func(comment, name string) bool {
		for _, article := range []string{"", "A ", "An ", "The "} {
			if strings.HasPrefix(comment, article+name) {
				return true
			}
		}
		return false
	}
	check := func(name, comment string) {
		if base := name[strings.LastIndexByte(name, '.')+1:]; !begins(comment, base) && !wellKnown[base] {
			names = append(names, name)
		}
	}
	if p.Doc == "" {
		names = append(names, "package")
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, spec := range v.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				if v.Doc == "" && spec.Doc.Text() == "" && spec.Comment.Text() == "" {
					names = append(names, spec.Names[0].Name)
				}
			}
		}
	}
	functions := func(prefix string, all []*doc.Func) {
		for _, f := range all {
			check(prefix+f.Name, f.Doc)
		}
	}
	values(p.Consts)
	values(p.Vars)
	functions("", p.Funcs)
	for _, typ := range p.Types {
		check(typ.Name, typ.Doc)
		values(typ.Consts)
		values(typ.Vars)
		functions("", typ.Funcs)
		functions(typ.Name+".", typ.Methods)
	}
	return names
}

var wellKnown = map[string]bool{"Error": true, "Unwrap": true, "Is": true, "String": true, "Timeout": true, "Temporary": true}
