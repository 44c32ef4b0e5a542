package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxExports is how many names a public package may export, where exportBounds has no other
// figure: constants, variables, types, functions, and methods of exported types. Fields and the
// methods of interfaces are not counted. A larger package is more than one job: split it, hide
// what only this module calls, or raise its figure in a commit of its own that says why.
const maxExports = 150

// exportBounds are the packages with a bound of their own.
var exportBounds = map[string]int{
	"shard": 79,
	// Builder.AppendAround, which only the Builder can do: what precedes and follows a large value
	// that is made in its frame.
	"tfrecord": 151,
}

// exports returns what the package in a directory exports, such as "Reader" and "Reader.Next",
// whatever the platform and the tags; nothing for a main package and for a directory without one.
func exports(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name == "main" {
			return nil
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) && d.Name.IsExported() {
					names = append(names, of+"."+d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(s.Name)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							add(id)
						}
					}
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names) // one for each platform
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestExportsAreBounded counts the exported names of each public package, those of the nested
// modules included.
func TestExportsAreBounded(t *testing.T) {
	const root = "../../.."
	counts := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if name := d.Name(); path != root && (name == "internal" || name == "testdata" || name == "bin" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return fs.SkipDir
		}
		if names := exports(t, path); len(names) > 0 {
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			counts[filepath.ToSlash(name)] = len(names)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range counts {
		bound, own := exportBounds[name]
		if !own {
			bound = maxExports
		}
		if n > bound {
			t.Errorf("%s exports %d names: at most %d are allowed", name, n, bound)
		}
	}
	for name := range exportBounds {
		if counts[name] == 0 {
			t.Errorf("exportBounds has %s, which exports nothing", name)
		}
	}
	for _, name := range []string{"tfrecord", "reader", "convert", "gpu", "cloud"} {
		if counts[name] == 0 {
			t.Errorf("%s exports nothing: it was not found", name)
		}
	}
}

// TestExportsAreFound counts in a small package, where all kinds of names are known.
func TestExportsAreFound(t *testing.T) {
	want := []string{"A", "B", "F", "G", "G.M", "I", "T", "T.M", "V"}
	if got := exports(t, "testdata/exports"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
