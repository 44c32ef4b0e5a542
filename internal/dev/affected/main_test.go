package main

import (
	"slices"
	"strings"
	"testing"
)

// list is go list's output for a module in /m: b imports a, the tests of c import b, cmd/tool imports a,
// and e is on its own.
const list = `
{"ImportPath": "m/a", "Dir": "/m/a"}
{"ImportPath": "m/a.test", "Dir": "/m/a", "Deps": ["fmt", "m/a [m/a.test]"]}
{"ImportPath": "m/a [m/a.test]", "Dir": "/m/a", "ForTest": "m/a"}
{"ImportPath": "m/b", "Dir": "/m/b", "Deps": ["m/a"]}
{"ImportPath": "m/c/d", "Dir": "/m/c/d"}
{"ImportPath": "m/c/d.test", "Dir": "/m/c/d", "Deps": ["m/c/d [m/c/d.test]", "m/b [m/c/d.test]", "m/a"]}
{"ImportPath": "m/cmd/tool", "Dir": "/m/cmd/tool", "Deps": ["m/a"]}
{"ImportPath": "m/e", "Dir": "/m/e"}
`

func TestReached(t *testing.T) {
	m, err := parse(strings.NewReader(list), "/m")
	if err != nil {
		t.Fatal(err)
	}
	m.tests["m/e"] = `exec.Command("go", "build", "../cmd/tool"); os.ReadFile("../README.md"); os.Open("../docs/notes/x")`
	for _, c := range []struct {
		files string
		want  string
	}{
		{"", ""},
		{"b/b.go", "m/b m/c/d"},
		{"a/a_amd64.s", "m/a m/b m/c/d m/cmd/tool m/e"}, // the tests of e build the command
		{"c/d/testdata/x/y.png", "m/c/d"},
		{"e/e_test.go", "m/e"},
		{"README.md", "m/e"},
		{"LICENSE", ""},
		{"docs/notes/x", "m/e"},
		{"docs/other/x", ""},
		{"go.sum", "m/a m/b m/c/d m/cmd/tool m/e"},
		{"e/e.go b/b.go", "m/b m/c/d m/e"},
	} {
		if got := m.reached(strings.Fields(c.files)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s reaches %v, want %s", c.files, got, c.want)
		}
	}
}

// TestHere holds what go list prints today to what parse reads: this package reaches itself, and a leaf
// that much depends on reaches more.
func TestHere(t *testing.T) {
	t.Chdir("../../..")
	out, err := run("go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Deps,ForTest", "-test", "./tfrecord/...", "./manifest", "./internal/dev/affected")
	if err != nil {
		t.Fatal(err)
	}
	root, err := run("go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse(strings.NewReader(string(out)), strings.TrimSpace(string(root)))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.reached([]string{"tfrecord/reader.go"}); !slices.Contains(got, "github.com/tfrec/tfrec/manifest") {
		t.Errorf("tfrecord reaches %v", got)
	}
	if got := m.reached([]string{"internal/dev/affected/main.go"}); !slices.Equal(got, []string{"github.com/tfrec/tfrec/internal/dev/affected"}) {
		t.Errorf("this package reaches %v", got)
	}
}
