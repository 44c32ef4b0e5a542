package command

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/optname"
)

// library is the source of what Go programs can import: the public packages, and the internal ones
// that these import.
type library struct {
	files map[string][]*ast.File // by package, below the module
	set   *token.FileSet
	names map[string]bool // such as "convert.Images" and "Options.Seed", of the public packages
	types map[string]bool // exported ones
}

const modulePath = "github.com/tfrec/tfrec/"

func parseLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{files: map[string][]*ast.File{}, set: token.NewFileSet(), names: map[string]bool{}, types: map[string]bool{}}
	all := map[string][]*ast.File{}
	err := filepath.WalkDir("../..", func(p string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || name == "_generate" || strings.HasPrefix(name, ".") && len(name) > 2):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(l.set, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(p)), "../../")
		all[dir] = append(all[dir], file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var add func(dir string)
	add = func(dir string) {
		if l.files[dir] != nil {
			return
		}
		l.files[dir] = all[dir]
		for _, file := range all[dir] {
			for _, spec := range file.Imports {
				if ours, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), modulePath); ok {
					add(ours)
				}
			}
		}
	}
	for dir, files := range all {
		first, _, _ := strings.Cut(dir, "/")
		if !slices.Contains([]string{"internal", "cmd", "beam", "examples"}, first) && files[0].Name.Name != "main" {
			add(dir)
			l.declare(files)
		}
		if strings.HasPrefix(dir, "internal/codec/") { // types that package augment names
			l.declare(files)
		}
	}
	return l
}

// declare notes what a public package declares.
func (l *library) declare(files []*ast.File) {
	for _, file := range files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				of := file.Name.Name
				if d.Recv != nil {
					of = receiverName(d.Recv.List[0].Type)
				}
				name := of + "." + d.Name.Name
				l.names[name] = true
				for _, arguments := range d.Type.Params.List {
					for _, id := range arguments.Names {
						l.names[name+"."+id.Name] = true
					}
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					spec, ok := s.(*ast.TypeSpec)
					if !ok || !spec.Name.IsExported() {
						continue
					}
					l.types[spec.Name.Name], l.names[file.Name.Name+"."+spec.Name.Name] = true, true
					if st, ok := spec.Type.(*ast.StructType); ok {
						for _, field := range st.Fields.List {
							for _, id := range field.Names {
								l.names[spec.Name.Name+"."+id.Name] = true
							}
						}
					}
				}
			}
		}
	}
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// literals returns the string literals of a file, but for imports, tags and the help of options, which
// only the command shows, by position.
func literals(file *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			return !ok || key.Name != "Help"
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				found[n.Pos()] = text
			}
		}
		return true
	})
	return found
}

var (
	aFlag   = regexp.MustCompile(`--[a-z%]`)
	aVerb   = regexp.MustCompile("tfrec ([a-z]+)")
	aGoName = regexp.MustCompile(`(?:^|[^\w./])([A-Za-z]\w*)\.([A-Z]\w*)\b`)
)

// onlyInGo are names in messages that nobody sees on the command line.
var onlyInGo = []string{"CacheOptions.Limit", "Scratch.Codec", "ShuffleAllOptions.Block"}

// programOnly are options without a flag, and ConvertTaskOf, which is a value of one.
var programOnly = []optname.Name{optname.ConvertTaskOf, optname.MapOptionsWaits, optname.OptionsLabels, optname.OptionsInOrder}

// notFlags are literals of libraries that look like a flag and are none.
var notFlags = []struct{ beginning, why string }{
	{"--config", "an argument of a command that is recorded in the state of its run"},
	{"--%s\r\n", "a boundary of a multipart body"},
	{"\r\n--%s--", "a boundary of a multipart body"},
}

func isNoFlag(text string) bool {
	return slices.ContainsFunc(notFlags, func(n struct{ beginning, why string }) bool { return strings.HasPrefix(text, n.beginning) })
}

// TestLibrariesNameOptions: what Go programs can import names no flag and no verb in its messages, and
// no field and no function either, but for those that the command has nothing of: internal/optname has
// their names, which are in the words of the program.
func TestLibrariesNameOptions(t *testing.T) {
	l := parseLibrary(t)
	if len(l.files) < 30 || l.files["internal/codec/jpeg"] == nil || l.files["internal/command"] != nil {
		t.Fatalf("the library has the packages %q", slices.Sorted(maps.Keys(l.files)))
	}
	verb := map[string]bool{}
	for _, c := range newRootCommand(nil).Commands() {
		verb[c.Name()] = true
	}
	packages := map[string]bool{}
	for dir := range l.files {
		packages[path.Base(dir)] = !strings.HasPrefix(dir, "internal/")
	}
	var seen []string
	for dir, files := range l.files {
		if dir == "internal/optname" {
			continue
		}
		for _, file := range files {
			for at, text := range literals(file) {
				for _, m := range aGoName.FindAllStringSubmatch(text, -1) {
					name := m[1] + "." + m[2]
					switch {
					case !packages[m[1]] && !l.types[m[1]]: // not ours: tf.train.Example
					case !l.names[name]:
						t.Errorf("%s: no package has %s: %q", l.set.Position(at), name, text)
					case slices.Contains(onlyInGo, name):
						seen = append(seen, name)
					default:
						t.Errorf("%s: use the name of %s in internal/optname, or declare it there: %q", l.set.Position(at), name, text)
					}
				}
				if isNoFlag(text) {
					continue
				}
				if flag := aFlag.FindString(text); flag != "" {
					t.Errorf("%s: names a flag: %q", l.set.Position(at), text)
				}
				if m := aVerb.FindStringSubmatch(text); m != nil && verb[m[1]] {
					t.Errorf("%s: names the verb %s: %q", l.set.Position(at), m[1], text)
				}
			}
		}
	}
	for _, name := range onlyInGo {
		if !slices.Contains(seen, name) {
			t.Errorf("no message has %s", name)
		}
	}
}

// TestNamesAreOnTheCommandLine holds internal/optname to the code on both sides.
func TestNamesAreOnTheCommandLine(t *testing.T) {
	l, root := parseLibrary(t), newRootCommand(nil)
	flags := map[string]bool{}
	var collect func(*cobra.Command)
	collect = func(c *cobra.Command) {
		for word := range strings.FieldsSeq(cli.HelpAll(c, cli.DefaultWidth)) {
			if name, ok := strings.CutPrefix(word, "--"); ok {
				flags[name] = true
			}
		}
		for _, below := range c.Commands() {
			collect(below)
		}
	}
	collect(root)
	for _, n := range optname.All() {
		goName := string(n)
		if !l.names[goName] {
			t.Errorf("no package has %s", goName)
		}
		flag, isFlag := strings.CutPrefix(n.Word(), "--")
		verb, isVerb := strings.CutPrefix(n.Word(), "tfrec ")
		switch name, _, _ := strings.Cut(flag, " "); {
		case isFlag && !flags[name]:
			t.Errorf("%s: no verb has a flag --%s", goName, flag)
		case !isFlag && !isVerb && !slices.Contains(programOnly, n):
			t.Errorf("%s is neither a flag nor a verb, but %q", goName, n.Word())
		}
		if isVerb {
			if c, rest, err := root.Find(strings.Fields(verb)); err != nil || len(rest) > 0 || c == root {
				t.Errorf("%s: there is no verb %s", goName, verb)
			}
		}
	}
	if n := len(optname.All()); n < 100 {
		t.Errorf("%d names", n)
	}
}

// TestMessagesKeepPaths: a path in a message is the user's, whatever it is called.
func TestMessagesKeepPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"verify", "my Options.Seed/x"},
		{"cat", "my Options.Seed/convert.Images: ImageOptions.Resize.tfrecord"},
		{"convert", "images", "a (Options.Name", "out"},
		{"convert", "csv", `"Options.Name"/CSVOptions.Label "x`, "out"},
	} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), slices.Clone(args), &stdout, &stderr)
		path := args[len(args)-1]
		if args[0] == "convert" {
			path = args[2]
		}
		if !strings.Contains(stderr.String(), path) {
			t.Errorf("%q: %s", args, stderr.String())
		}
	}
}
