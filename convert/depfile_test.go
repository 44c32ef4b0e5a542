package convert

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
)

// oddNames are names that make and ninja must read correctly from a depfile.
var oddNames = []string{"c0/a b.png", "c0/$x.png", "c1/#1.png", "c1/50%.png", "c2/10:30.png", "c2/é.png"}

func TestDepfileNamesEveryInput(t *testing.T) {
	src := filepath.Join(t.TempDir(), "s")
	for i, name := range oddNames {
		put(t, src, name, pngOf(i))
	}
	put(t, src, "c0/broken\nline.png", pngOf(9))
	out, dep := t.TempDir(), filepath.Join(t.TempDir(), "out.d")
	var notes []string
	o := ImageOptions{Options: Options{Depfile: dep, AlsoReads: []string{"policy.yaml"}, Note: func(s string) { notes = append(notes, s) }}}
	mustImages(t, src, out, o)
	data, err := os.ReadFile(dep)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, name := range append([]string{"", "c0", "c1", "c2"}, oddNames...) {
		path, _ := plan.EscapeDepfile(filepath.Join(src, name))
		if !strings.Contains(text, " \\\n  "+path) || !strings.Contains(text, "\n"+strings.ReplaceAll(path, "%", `\%`)+":\n") {
			t.Errorf("%q is not in\n%s", path, text)
		}
	}
	if !strings.Contains(text, "./policy.yaml:\n") || !strings.HasPrefix(text, filepath.Join(out, "manifest.json")+":") {
		t.Errorf("got\n%s", text)
	}
	if !strings.Contains(strings.Join(notes, " "), "1 input with a line break") {
		t.Errorf("notes %q", notes)
	}
}

// TestBuildToolsReadDepfiles asks make and ninja whether a set is out of date.
func TestBuildToolsReadDepfiles(t *testing.T) {
	for _, tool := range []string{"make", "ninja"} {
		t.Run(tool, func(t *testing.T) {
			if _, err := exec.LookPath(tool); err != nil {
				t.Skip("no " + tool)
			}
			dir := t.TempDir()
			src, out, dep := filepath.Join(dir, "src"), filepath.Join(dir, "out"), filepath.Join(dir, "out.d")
			for i, name := range oddNames {
				put(t, src, name, pngOf(i))
			}
			age(t, src, old)
			manifest := filepath.Join(out, "manifest.json")
			put(t, dir, "Makefile", []byte(fmt.Sprintf("%s:\n\t@echo made; touch $@\n-include %s\n", manifest, dep)))
			put(t, dir, "build.ninja", []byte(fmt.Sprintf("rule convert\n  command = cp out.d.kept out.d && touch $out && echo made\n  depfile = out.d\n  deps = gcc\nbuild %s: convert\n", manifest)))
			// The tools only check: the test runs what they would run.
			convert := func() Status {
				s := mustImages(t, src, out, ImageOptions{Options: Options{Depfile: dep}})
				if data, err := os.ReadFile(dep); err == nil { // ninja deletes the file
					os.WriteFile(dep+".kept", data, 0o644)
				}
				return s.Status
			}
			runs := func() bool {
				cmd := exec.Command(tool, manifest)
				if tool == "make" {
					cmd.Args = append(cmd.Args, "MAKEFLAGS=")
				}
				cmd.Dir = dir
				got, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", tool, err, got)
				}
				return strings.Contains(string(got), "made")
			}
			convert()
			if tool == "ninja" {
				runs() // it must have run the rule itself to know the depfile
			}
			if runs() {
				t.Fatal("runs with nothing to do")
			}
			for _, c := range []struct {
				what   string
				change func()
				then   Status
			}{
				{"touched", func() { touch(t, filepath.Join(src, oddNames[0])) }, UpToDate},
				{"changed", func() { os.WriteFile(filepath.Join(src, oddNames[1]), pngOf(77), 0o644) }, Updated},
				{"deleted", func() { os.Remove(filepath.Join(src, oddNames[2])) }, Updated},
				{"new", func() { os.WriteFile(filepath.Join(src, "c1", "new.png"), pngOf(78), 0o644) }, Updated},
			} {
				// The times that file systems keep are coarse: all is old that does not change now.
				age(t, src, old)
				age(t, manifest, old.Add(time.Hour))
				c.change()
				if !runs() {
					t.Errorf("%s: does not run", c.what)
				}
				if got := convert(); got != c.then {
					t.Errorf("%s: %s, want %s", c.what, got, c.then)
				}
				if tool == "ninja" {
					runs()
				}
				if runs() {
					t.Errorf("%s: runs again", c.what)
				}
			}
		})
	}
}

// TestNamesThatMakeWouldRun has make read names that would set variables, run commands or mean
// members of archives.
func TestNamesThatMakeWouldRun(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	for _, directory := range []string{"a!=touch ran", "k=v", "a;touch ran;b", "$(shell touch ran)", "a(1)", "a&", `a\`, "export"} {
		t.Run(directory, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for i, name := range []string{"c/1.png", "c/x!=touch ran.png", "c/y;touch ran;.png"} {
				put(t, directory, name, pngOf(i))
			}
			put(t, ".", "Makefile", []byte("out/manifest.json:\n\t@echo made\n-include out.d\n"))
			mustImages(t, directory, "out", ImageOptions{Options: Options{Name: "n", Depfile: "out.d"}})
			makes := func() bool {
				got, err := exec.Command("make", "MAKEFLAGS=", "out/manifest.json").CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, got)
				}
				if _, err := os.Stat("ran"); err == nil {
					t.Fatal("make ran what was a name")
				}
				return strings.Contains(string(got), "made")
			}
			if makes() {
				t.Error("runs with nothing to do")
			}
			future := time.Now().Add(time.Hour)
			os.Chtimes(filepath.Join(directory, "c", "1.png"), future, future)
			if changed := makes(); changed == strings.Contains(directory, ";") { // those are left out, with a note
				t.Errorf("after a change: runs %v", changed)
			}
		})
	}
}

// age sets a time on all files and directories at and below a path.
func age(t *testing.T, path string, then time.Time) {
	t.Helper()
	err := filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// touch sets a time that what is written later does not precede, however coarse its time is.
func touch(t *testing.T, path string) {
	t.Helper()
	then := time.Now().Add(-time.Second)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}
