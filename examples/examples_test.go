// Package examples holds files to begin with: rules for build tools, scripts for
// schedulers, a training job. Its tests run them.
package examples

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/internal/dev/memtemp"
)

// bin is a directory with tfrec, the first in the PATH.
var bin string

func TestMain(m *testing.M) {
	memtemp.Use()
	os.Exit(func() int {
		var err error
		if bin, err = os.MkdirTemp("", "examples"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(bin)
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "../cmd/tfrec").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		os.Unsetenv("MAKEFLAGS") // of the make that runs the tests
		return m.Run()
	}())
}

// run runs a command in dir and returns what it prints.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// need skips a test of a tool that is not there.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool)
		}
	}
}

var old = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// project makes a directory with the files of an example and some photographs,
// all of them old.
func project(t *testing.T, example string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "photos"), os.DirFS("../testdata/demo/photos")); err != nil {
		t.Fatal(err)
	}
	age(t, dir)
	age(t, bin)
	return dir
}

// age gives all below dir an old time.
func age(t *testing.T, dir string) {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	for i := len(paths) - 1; i >= 0 && err == nil; i-- { // directories after what is in them
		err = os.Chtimes(paths[i], old, old)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, path, before, after string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), before) {
		t.Fatalf("%s does not contain %q", path, before)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), before, after)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// manifest reads what the tests look at.
func manifest(t *testing.T, out string) (m struct {
	Fingerprint string
	Splits      []struct{ Records int }
}) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestBuildToolsRebuildWhenTheyShould changes things one by one.
func TestBuildToolsRebuildWhenTheyShould(t *testing.T) {
	for _, tool := range []string{"make", "ninja"} {
		t.Run(tool, func(t *testing.T) {
			need(t, tool)
			dir := project(t, "build")
			builds := func() bool {
				got := run(t, dir, nil, tool)
				return !strings.Contains(got, "is up to date.") && !strings.Contains(got, "no work to do")
			}
			if !builds() {
				t.Fatal("nothing built")
			}
			image := filepath.Join(dir, "photos", "roses")
			entries, err := os.ReadDir(image)
			if err != nil {
				t.Fatal(err)
			}
			image = filepath.Join(image, entries[0].Name())
			copied := filepath.Join(dir, "photos", "roses", "a copy #1.jpg")
			before := manifest(t, filepath.Join(dir, "out")).Fingerprint
			for _, c := range []struct {
				what   string
				change func() error
				other  bool // another set comes of it
			}{
				{"nothing", nil, false},
				{"a picture is touched", func() error {
					then := time.Now().Add(-time.Second) // what is written later does not precede it
					return os.Chtimes(image, then, then)
				}, false},
				{"a picture comes", func() error {
					data, err := os.ReadFile(image)
					if err == nil {
						err = os.WriteFile(copied, data, 0o644)
					}
					return err
				}, true},
				{"a picture changes", func() error {
					data, err := os.ReadFile("../testdata/demo/photos/tulips/" + first(t, "../testdata/demo/photos/tulips"))
					if err == nil {
						err = os.WriteFile(copied, data, 0o644)
					}
					return err
				}, true},
				{"a picture goes", func() error { return os.Remove(copied) }, true},
				{"an option changes", func() error {
					replace(t, filepath.Join(dir, "convert.yaml"), "shards: 2", "shards: 3")
					return nil
				}, true},
			} {
				age(t, dir) // file systems keep times in steps
				if c.change != nil {
					if err := c.change(); err != nil {
						t.Fatal(err)
					}
				}
				if got := builds(); got != (c.change != nil) {
					t.Errorf("%s: builds %v", c.what, got)
				}
				after := manifest(t, filepath.Join(dir, "out")).Fingerprint
				if c.other != (after != before) {
					t.Errorf("%s: the set's fingerprint was %s, now it is %s", c.what, before, after)
				}
				before = after
				if builds() {
					t.Errorf("%s: builds again", c.what)
				}
			}
			if tool == "make" {
				tfrec := filepath.Join(bin, "tfrec")
				age(t, dir)
				if err := os.Chtimes(tfrec, time.Now(), time.Now()); err != nil {
					t.Fatal(err)
				}
				if !builds() {
					t.Error("another tfrec: does not build")
				}
			}
		})
	}
}

func first(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal(dir, err)
	}
	return entries[0].Name()
}

func TestCIStepsMakeOnlyWhatChanged(t *testing.T) {
	data, err := os.ReadFile("build/ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	if err := yaml.Unmarshal(data, &workflow); err != nil {
		t.Fatal(err)
	}
	dir := project(t, "build")
	for _, want := range []string{`"status":"written"`, `"status":"up_to_date"`} {
		ran := 0
		for _, step := range workflow.Jobs["shards"].Steps {
			if step.Run != "" {
				run(t, dir, nil, "sh", "-c", step.Run)
				ran++
			}
		}
		if ran != 2 {
			t.Fatalf("%d steps", ran)
		}
		summary, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		if err != nil || !strings.Contains(string(summary), want) {
			t.Errorf("got %s, %v; want %s", summary, err, want)
		}
		// The next checkout gives every file a new time.
		err = filepath.WalkDir(filepath.Join(dir, "photos"), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				err = os.Chtimes(path, time.Now(), time.Now())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestGenruleRepeats runs what Bazel's rule says, as Bazel would expand it,
// twice in other places.
func TestGenruleRepeats(t *testing.T) {
	need(t, "tar")
	data, err := os.ReadFile("build/BUILD.bazel")
	if err != nil {
		t.Fatal(err)
	}
	var command strings.Builder
	_, cmd, _ := strings.Cut(string(data), "cmd = ")
	for _, part := range regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(cmd, -1) {
		command.WriteString(part[1])
	}
	var tars []string
	for range 2 {
		dir := project(t, "build")
		text := strings.NewReplacer("$$", "$", "$@", "gen/shards.tar", "$(RULEDIR)", "gen",
			"$(execpath //tools:tfrec)", "tfrec", "$(execpath convert.yaml)", "./convert.yaml").Replace(command.String())
		run(t, dir, nil, "sh", "-c", "mkdir gen && "+text)
		tar, err := os.ReadFile(filepath.Join(dir, "gen", "shards.tar"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(tar), "out/manifest.json") {
			t.Error("no set in the tar")
		}
		tars = append(tars, string(tar))
	}
	if tars[0] != tars[1] {
		t.Error("two runs give two files")
	}
}
