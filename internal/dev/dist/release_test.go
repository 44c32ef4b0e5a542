//go:build dist

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/build"
)

// nested are the modules below the root, in the order in which they are released: each
// requires those before it.
var nested = []string{"cloud", "beam", "gomlx"}

// consumer is a program of somebody else's which has all modules in it.
const consumer = `package main

import (
	"context"
	"os"

	"github.com/tfrec/tfrec/beam"
	_ "github.com/tfrec/tfrec/cloud"
	_ "github.com/tfrec/tfrec/gomlx"
	"github.com/tfrec/tfrec/reader"
)

func main() {
	if len(os.Args) > 2 {
		if _, err := reader.Open(context.Background(), os.Args[2], reader.Options{}); err != nil {
			os.Exit(1)
		}
	}
	os.Exit(beam.Main())
}
`

// TestRelease tags the modules as a release does, and uses them as others will:
// through the go command, with no workspace and a fresh module cache.
func TestRelease(t *testing.T) {
	c := newCheckout(t)
	for _, module := range nested {
		c.sh(t, "git --git-dir="+c.origin+" tag "+module+"/v"+build.Version)
		text, err := os.ReadFile(filepath.Join(c.dir, module, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^\s*replace\b`).Match(text) {
			t.Errorf("%s/go.mod has a replace directive, which only holds here: put it into go.work", module)
		}
		for _, required := range regexp.MustCompile(`(?m)^\s*(github.com/tfrec/tfrec\S*) v(\S+)`).FindAllStringSubmatch(string(text), -1) {
			if required[2] != build.Version {
				t.Errorf("%s/go.mod requires %s v%s; this is v%s", module, required[1], required[2], build.Version)
			}
		}
	}
	home := filepath.Join(filepath.Dir(c.dir), "home-release")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	c.env["HOME"] = home
	c = published(c)
	c.env["GOWORK"] = "off"

	t.Run("tidy", func(t *testing.T) {
		for _, module := range nested {
			in := *c
			in.dir = filepath.Join(c.dir, module)
			before := sums(t, in.dir)
			in.sh(t, "go mod tidy")
			if after := sums(t, in.dir); before != after {
				t.Errorf("%s: go.mod and go.sum are not tidy:\n%s", module, in.sh(t, "git diff -- ."))
			}
		}
	})
	t.Run("use", func(t *testing.T) {
		in := *c
		in.dir = filepath.Join(home, "consumer")
		if err := os.MkdirAll(in.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(in.dir, "main.go"), []byte(consumer), 0o644); err != nil {
			t.Fatal(err)
		}
		in.sh(t, "go mod init example.com/consumer")
		in.sh(t, "go get github.com/tfrec/tfrec/beam@latest github.com/tfrec/tfrec/cloud@latest github.com/tfrec/tfrec/gomlx@latest github.com/tfrec/tfrec@latest")
		in.sh(t, "go build -o consumer .")
		info := in.sh(t, "go version -m consumer")
		for _, module := range []string{"", "/cloud", "/beam", "/gomlx"} {
			if want := "\tdep\tgithub.com/tfrec/tfrec" + module + "\tv" + build.Version + "\t"; !strings.Contains(info, want) {
				t.Errorf("the consumer has another version: want %q in\n%s", want, info)
			}
		}
		if got := in.sh(t, "./consumer version"); !strings.HasPrefix(got, "tfrec "+build.Version) {
			t.Errorf("./consumer version: %q", got)
		}
	})
	t.Run("install", func(t *testing.T) {
		in := *c
		in.dir = home
		in.sh(t, "go install github.com/tfrec/tfrec/cloud/cmd/tfrec@latest")
		in.sh(t, "go install github.com/tfrec/tfrec/beam/cmd/tfrec-beam@latest")
		for _, name := range []string{"tfrec", "tfrec-beam"} {
			if got := in.sh(t, filepath.Join(home, "go", "bin", name)+" version"); !strings.HasPrefix(got, "tfrec "+build.Version) {
				t.Errorf("%s version: %q", name, got)
			}
		}
	})
}

// sums returns go.mod and go.sum of a module without the checksums of our own modules,
// which are known once a release is tagged.
func sums(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if name == "go.mod" || !strings.HasPrefix(line, "github.com/tfrec/tfrec") {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}
