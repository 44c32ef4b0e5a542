package arrows

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tfrec/tfrec"

// room is what one part of the module may import.
type room struct {
	// ours are the rooms that it may import, internal packages among them.
	ours []string
	// theirs are the modules of others that it may import itself or through
	// anything that it imports.
	theirs []string
	// judges are modules that its tests may import besides.
	judges []string
}

// Modules that many rooms share.
const (
	compress = "github.com/klauspost/compress"
	cpuid    = "github.com/klauspost/cpuid/v2" // of xxh3
	hash     = "github.com/zeebo/xxh3"
	imaging  = "github.com/disintegration/imaging"
	jpegn    = "github.com/gen2brain/jpegn"
	purego   = "github.com/ebitengine/purego"
	xImage   = "golang.org/x/image"
	xSync    = "golang.org/x/sync"
	xSys     = "golang.org/x/sys"
	cmp      = "github.com/google/go-cmp"
	protobuf = "google.golang.org/protobuf"
)

var (
	pixels = []string{imaging, jpegn, purego, xImage, xSys}
	judges = []string{cmp, protobuf}
)

// rooms by the first element of their path, or the first two below internal
// where a package there differs from the others.
var rooms = map[string]room{
	"tfrecord": {theirs: []string{compress}, judges: judges},
	"augment":  {ours: []string{"internal"}, theirs: pixels, judges: judges},
	"shard": {
		ours:   []string{"tfrecord", "internal"},
		theirs: []string{compress, hash, cpuid, xSync, xSys},
		judges: judges,
	},
	"reader": {
		ours:   []string{"shard", "tfrecord", "augment", "internal"},
		theirs: append([]string{compress, hash, cpuid, xSync}, pixels...),
		judges: judges,
	},
	"convert": {
		ours:   []string{"shard", "tfrecord", "augment", "internal"},
		theirs: append([]string{compress, hash, cpuid, xSync}, pixels...),
		judges: judges,
	},
	"gpu": {ours: []string{"augment", "internal"}, theirs: pixels, judges: judges},
	"cmd": {
		ours: []string{"shard", "tfrecord", "augment", "reader", "convert", "gpu", "internal"},
		theirs: append([]string{
			compress, hash, cpuid, xSync,
			"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/inconshreveable/mousetrap",
			"github.com/schollz/progressbar/v3", "github.com/mitchellh/colorstring", "github.com/rivo/uniseg",
			"golang.org/x/term",
		}, pixels...),
		judges: append([]string{"github.com/rogpeppe/go-internal", "golang.org/x/tools"}, judges...),
	},
	"internal": {
		ours:   []string{"internal"},
		theirs: append([]string{compress, hash, cpuid, xSync}, pixels...),
		judges: judges,
	},
	// Only tests, which drive several rooms and the built command from outside.
	"internal/interop": {ours: []string{"tfrecord", "internal"}, judges: judges},
}

// leastPackages guards against a listing that silently shrank.
const leastPackages = 3

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath   string
	ForTest      string
	Standard     bool
	Module       *struct{ Path string }
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// name is the package's path below the module, "" for one of others.
func (p *listed) name() string {
	if p.ImportPath == module {
		return "."
	}
	n, ours := strings.CutPrefix(p.ImportPath, module+"/")
	if !ours {
		return ""
	}
	return n
}

// rule returns the name and the rule of the room that the package name is in.
func rule(name string) (string, room, bool) {
	parts := strings.Split(name, "/")
	if len(parts) > 1 {
		two := path.Join(parts[:2]...)
		if r, ok := rooms[two]; ok {
			return two, r, true
		}
	}
	r, ok := rooms[parts[0]]
	return parts[0], r, ok
}

// list runs go list over the whole module and everything that it imports.
func list(t *testing.T, environment []string, flags ...string) map[string]*listed {
	t.Helper()
	args := append([]string{"list", "-deps", "-json=ImportPath,ForTest,Standard,Module,Imports,TestImports,XTestImports,Deps"}, flags...)
	c := exec.Command("go", append(args, module+"/...")...)
	c.Env = append(os.Environ(), environment...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, stderr.String())
	}
	packages := map[string]*listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
	return packages
}

// faults returns what is wrong with the imports of one package of ours.
func faults(p *listed, packages map[string]*listed) []string {
	name, r, ok := rule(p.name())
	if !ok {
		return []string{p.ImportPath + ": a room without a rule: add it to the table in internal/arrows"}
	}
	var found []string
	check := func(imports []string, kind string, judges []string) {
		for _, i := range imports {
			q := packages[i]
			switch {
			case q == nil || q.Standard || i == p.ImportPath:
			case q.name() != "":
				to, _, _ := rule(q.name())
				if to != name && !slices.Contains(r.ours, to) {
					found = append(found, p.ImportPath+" "+kind+" "+i+": "+name+" may not import "+to)
				}
			case q.Module != nil:
				if m := q.Module.Path; !slices.Contains(r.theirs, m) && !slices.Contains(judges, m) {
					found = append(found, p.ImportPath+" "+kind+" "+i+": module "+m+" may not come into "+name)
				}
			}
		}
	}
	check(p.Imports, "imports", nil)
	check(p.TestImports, "in its tests imports", r.judges)
	check(p.XTestImports, "in its tests imports", r.judges)
	// What arrives by way of others, too: a library's user pays for all of it.
	var through []string
	for _, d := range p.Deps {
		if q := packages[d]; q != nil && q.name() == "" && !slices.Contains(p.Imports, d) {
			through = append(through, d)
		}
	}
	check(through, "brings in", nil)
	return found
}

func TestArrowsPointOneWay(t *testing.T) {
	for _, build := range []struct {
		name        string
		environment []string
		flags       []string
	}{
		{"linux", []string{"GOOS=linux", "GOARCH=amd64"}, nil},
		{"windows", []string{"GOOS=windows", "GOARCH=amd64"}, nil},
		{"darwin", []string{"GOOS=darwin", "GOARCH=arm64"}, nil},
		{"static", []string{"GOOS=linux", "GOARCH=amd64"}, []string{"-tags=static"}},
		{"noasm", []string{"GOOS=linux", "GOARCH=amd64"}, []string{"-tags=noasm"}},
		{"interop", []string{"GOOS=linux", "GOARCH=amd64"}, []string{"-tags=interop"}},
	} {
		t.Run(build.name, func(t *testing.T) {
			t.Parallel()
			// -test lists what only tests import, so that its module is known.
			packages := list(t, build.environment, append(build.flags, "-test")...)
			ours := 0
			for _, p := range packages {
				if p.name() == "" || p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test") {
					continue
				}
				ours++
				for _, f := range faults(p, packages) {
					t.Error(f)
				}
			}
			if ours < leastPackages {
				t.Errorf("go list found %d packages of ours: fewer than there are", ours)
			}
		})
	}
}

// TestFaultsAreFound turns each arrow round in a made-up listing: a rule that
// could not fail would prove nothing.
func TestFaultsAreFound(t *testing.T) {
	theirs := func(importPath, modulePath string) *listed {
		return &listed{ImportPath: importPath, Module: &struct{ Path string }{modulePath}}
	}
	packages := map[string]*listed{
		"fmt":                         {ImportPath: "fmt", Standard: true},
		compress + "/zstd":            theirs(compress+"/zstd", compress),
		cmp + "/cmp":                  theirs(cmp+"/cmp", cmp),
		"github.com/spf13/cobra":      theirs("github.com/spf13/cobra", "github.com/spf13/cobra"),
		module + "/internal/build":    {ImportPath: module + "/internal/build"},
		module + "/internal/jpeg":     {ImportPath: module + "/internal/jpeg"},
		module + "/cmd/tfrec":         {ImportPath: module + "/cmd/tfrec"},
		module + "/internal/newcomer": {ImportPath: module + "/internal/newcomer"},
	}
	for name := range rooms {
		packages[module+"/"+name] = &listed{ImportPath: module + "/" + name}
	}
	for _, c := range []struct {
		p    listed
		want string
	}{
		{listed{ImportPath: module + "/tfrecord", Imports: []string{"fmt", compress + "/zstd"}}, ""},
		{listed{ImportPath: module + "/tfrecord", TestImports: []string{cmp + "/cmp"}}, ""},
		{listed{ImportPath: module + "/tfrecord", Imports: []string{cmp + "/cmp"}}, "module " + cmp + " may not come into tfrecord"},
		{listed{ImportPath: module + "/tfrecord", Imports: []string{module + "/internal/build"}}, "tfrecord may not import internal"},
		{listed{ImportPath: module + "/tfrecord", XTestImports: []string{module + "/shard"}}, "tfrecord may not import shard"},
		{listed{ImportPath: module + "/shard", Imports: []string{module + "/tfrecord", module + "/internal/build"}}, ""},
		{listed{ImportPath: module + "/shard", Imports: []string{module + "/augment"}}, "shard may not import augment"},
		{listed{ImportPath: module + "/shard", Deps: []string{"github.com/spf13/cobra"}}, "module github.com/spf13/cobra may not come into shard"},
		{listed{ImportPath: module + "/augment", Imports: []string{module + "/internal/jpeg"}}, ""},
		{listed{ImportPath: module + "/augment", Imports: []string{module + "/tfrecord"}}, "augment may not import tfrecord"},
		{listed{ImportPath: module + "/convert", Imports: []string{module + "/reader"}}, "convert may not import reader"},
		{listed{ImportPath: module + "/convert", TestImports: []string{module + "/gpu"}}, "convert may not import gpu"},
		{listed{ImportPath: module + "/reader", Imports: []string{module + "/convert"}}, "reader may not import convert"},
		{listed{ImportPath: module + "/gpu", Imports: []string{module + "/shard"}}, "gpu may not import shard"},
		{listed{ImportPath: module + "/internal/jpeg", Imports: []string{module + "/augment"}}, "internal may not import augment"},
		{listed{ImportPath: module + "/internal/jpeg", TestImports: []string{module + "/internal/build"}}, ""},
		{listed{ImportPath: module + "/internal/interop", XTestImports: []string{module + "/tfrecord"}}, ""},
		{listed{ImportPath: module + "/cmd/tfrec", Imports: []string{module + "/gpu", module + "/reader", "github.com/spf13/cobra"}}, ""},
		{listed{ImportPath: module + "/convert", Imports: []string{module + "/cmd/tfrec"}}, "convert may not import cmd"},
		{listed{ImportPath: module + "/attic"}, "a room without a rule"},
	} {
		got := strings.Join(faults(&c.p, packages), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s importing %v, in tests %v%v: got %q, want %q", c.p.ImportPath, c.p.Imports, c.p.TestImports, c.p.XTestImports, got, c.want)
		}
	}
}
