package convert

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
	members := map[string][]string{} // of plan.Options
	for _, dir := range []string{"plan", "tables", "options"} {
		for _, f := range parsed(t, filepath.Join("internal", dir)) {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if s, ok := n.Type.(*ast.StructType); ok {
						for _, field := range s.Fields.List {
							for _, name := range field.Names {
								members[dir+"."+n.Name.Name] = append(members[dir+"."+n.Name.Name], name.Name)
							}
						}
					}
				case *ast.FuncDecl:
					if n.Recv != nil && n.Name.IsExported() && n.Name.Name != "Error" && n.Name.Name != "String" {
						of := n.Recv.List[0].Type
						if p, ok := of.(*ast.StarExpr); ok {
							of = p.X
						}
						if dir != "options" && of.(*ast.Ident).Name == "Job" {
							members[dir+".Job"] = append(members[dir+".Job"], n.Name.Name)
						}
					}
				}
				return true
			})
		}
	}
	aliases := 0
	for _, f := range parsed(t, ".") {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				s := spec.(*ast.TypeSpec)
				of, ok := s.Type.(*ast.SelectorExpr)
				if !ok || !s.Assign.IsValid() {
					continue
				}
				aliases++
				for _, name := range members[of.X.(*ast.Ident).Name+"."+of.Sel.Name] {
					if ast.IsExported(name) && !regexp.MustCompile(`\b`+name+`\b`).MatchString(g.Doc.Text()) {
						t.Errorf("the comment of %s does not name %s", s.Name.Name, name)
					}
				}
			}
		}
	}
	if aliases < 20 {
		t.Errorf("there are only %d aliases", aliases)
	}
}

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
