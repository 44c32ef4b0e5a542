package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAliasesNameTheirFields: the comment of a type that is declared in a package below names each
// of its exported fields, which go doc does not show, and each of its methods.
func TestAliasesNameTheirFields(t *testing.T) {
	for public, least := range map[string]int{"augment": 50, "convert": 20, "reader": 25, "shard/reshape": 8} {
		members := map[string][]string{} // by package and type, such as "plan.Options"
		rooms, err := filepath.Glob(filepath.Join("../../..", public, "internal", "*"))
		if public == "shard/reshape" {
			rooms, err = filepath.Glob("../../../shard/internal/*")
		}
		if err != nil || len(rooms) == 0 {
			t.Fatalf("%s: %d rooms, %v", public, len(rooms), err)
		}
		if public == "augment" { // whose other rooms are shared with gpu
			for _, name := range ofPixels {
				rooms = append(rooms, filepath.Join("../../..", name))
			}
		}
		for _, room := range rooms {
			addMembers(members, filepath.Base(room), parsed(t, room))
		}
		aliases := 0
		for _, f := range parsed(t, filepath.Join("../../..", public)) {
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
					aliases += checkAliases(t, public, g, members)
				}
			}
		}
		if aliases < least {
			t.Errorf("%s: there are only %d aliases", public, aliases)
		}
	}
}

// addMembers adds the fields of the structs of a package, and the methods of its types that programs
// call.
func addMembers(members map[string][]string, name string, files []*ast.File) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				s, ok := n.Type.(*ast.StructType)
				if !ok {
					break
				}
				for _, field := range s.Fields.List {
					for _, member := range field.Names {
						members[name+"."+n.Name.Name] = append(members[name+"."+n.Name.Name], member.Name)
					}
				}
			case *ast.FuncDecl:
				if n.Recv == nil || n.Name.Name == "Error" || n.Name.Name == "String" || n.Name.Name == "Table" {
					break
				}
				of := receiver(n.Recv.List[0].Type)
				if strings.HasSuffix(of, "Job") || strings.HasSuffix(of, "Batch") || name == "distribute" && n.Name.IsExported() {
					members[name+"."+of] = append(members[name+"."+of], n.Name.Name)
				}
			}
			return true
		})
	}
}

// checkAliases checks the comments of the aliases of a declaration, and returns how many there are.
func checkAliases(t *testing.T, public string, g *ast.GenDecl, members map[string][]string) (aliases int) {
	t.Helper()
	for _, spec := range g.Specs {
		s := spec.(*ast.TypeSpec)
		of := s.Type
		if generic, ok := of.(*ast.IndexExpr); ok {
			of = generic.X
		}
		target, ok := of.(*ast.SelectorExpr)
		if !ok || !s.Assign.IsValid() {
			continue
		}
		aliases++
		for _, name := range members[target.X.(*ast.Ident).Name+"."+target.Sel.Name] {
			if ast.IsExported(name) && !regexp.MustCompile(`\b`+name+`\b`).MatchString(g.Doc.Text()) {
				t.Errorf("the comment of %s.%s does not name %s", public, s.Name.Name, name)
			}
		}
	}
	return aliases
}

// parsed returns the files of a package, without tests.
func parsed(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
