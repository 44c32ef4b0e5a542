//go:build unix

package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// runFor runs the command and returns its exit code and what it wrote. It fails the
// test when a signal ends the command, as testwait.Command does when it hangs.
func runFor(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := tfrec(t, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("tfrec %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// replaceWith puts a FIFO that nobody writes to, or an endless device, in the place
// of a file.
func replaceWith(t *testing.T, kind, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var err error
	if kind == "device" {
		err = os.Symlink("/dev/zero", path)
	} else {
		err = syscall.Mkfifo(path, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// smallSet converts a table into a set with every kind of file that a set has.
func smallSet(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	csv, set := filepath.Join(dir, "t.csv"), filepath.Join(dir, "set")
	if err := os.WriteFile(csv, []byte("id,label\n1,a\n2,b\n3,a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, "convert", "csv", csv, set, "--label", "label", "--vocab", "--shards", "1", "--quiet")
	return set
}

// TestFilesOfSetsAreRegular replaces each file of a set, and has every verb that
// reads sets read it.
func TestFilesOfSetsAreRegular(t *testing.T) {
	race.Skip(t)
	set := smallSet(t)
	files, err := readSet(set)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 6 {
		t.Fatalf("the set has %d files", len(files))
	}
	for name := range files {
		for _, kind := range []string{"FIFO", "device"} {
			copied := filepath.Join(t.TempDir(), "set")
			if err := os.CopyFS(copied, os.DirFS(set)); err != nil {
				t.Fatal(err)
			}
			replaceWith(t, kind, filepath.Join(copied, name))
			described := name == "manifest.json" || strings.Contains(name, "tfrecord-") && !strings.HasPrefix(name, "index")
			for _, args := range [][]string{
				{"verify"}, {"verify", "--deep"}, {"verify", "--sample", "2"}, {"inspect"}, {"stats"}, {"cat"}, {"cat", "--shuffle", "global"},
				{"bench", "--seconds", "0"}, {"index", "--check"}, {"diff", set}, {"adopt", "--check"},
				{"preview", "p.html"}, {"export", "x", "--format", "jsonl"}, {"reshard", "x"}, {"dedupe", "x"}, {"repair", "x"},
			} {
				args = slices.Clone(args)
				for i, a := range args {
					if a == "x" || a == "p.html" { // outputs come after the input
						args[i] = filepath.Join(t.TempDir(), a)
						args = slices.Insert(args, i, copied)
						break
					}
				}
				if !slices.Contains(args, copied) {
					args = append(args, copied)
				}
				code, _, stderr := runFor(t, append(args, "--quiet")...)
				if described && code == 0 && args[0] != "adopt" {
					t.Errorf("%s with a %s as %s: exit 0", args[0], kind, name)
				}
				if args[0] == "verify" && len(args) == 2 && code == 0 {
					t.Errorf("verify with a %s as %s: exit 0", kind, name)
				}
				if strings.Contains(stderr, "goroutine ") {
					t.Errorf("%s with a %s as %s: %s", args[0], kind, name, stderr)
				}
			}
		}
	}
}

// TestMembersWithoutAManifestAreRegular puts a FIFO among the shards of a directory that
// has no manifest: it must not be waited for, and not be left out in silence.
func TestMembersWithoutAManifestAreRegular(t *testing.T) {
	set := smallSet(t)
	if err := errors.Join(os.Remove(filepath.Join(set, "manifest.json")), os.RemoveAll(filepath.Join(set, ".tfrec"))); err != nil {
		t.Fatal(err)
	}
	replaceWith(t, "FIFO", filepath.Join(set, "more.tfrecord"))
	for _, args := range [][]string{{"verify", set}, {"inspect", set}, {"stats", set}, {"cat", set}, {"index", set}, {"reshard", set, filepath.Join(t.TempDir(), "out")}} {
		if code, _, stderr := runFor(t, args...); code != cli.ExitFailed || !strings.Contains(stderr, "more.tfrecord") || !strings.Contains(stderr, "a pipe") {
			t.Errorf("%s: exit %d, %s", args[0], code, stderr)
		}
	}
}

// TestFilesOfFlagsAreRegular gives a FIFO and a device wherever a flag names a file
// that is read.
func TestFilesOfFlagsAreRegular(t *testing.T) {
	set := smallSet(t)
	csv, photos := filepath.Join(filepath.Dir(set), "t.csv"), filepath.Join(demo(), "photos")
	for _, kind := range []string{"FIFO", "device"} {
		odd := filepath.Join(t.TempDir(), "odd.yaml") // --augment takes a file by its name
		replaceWith(t, kind, odd)
		for _, args := range [][]string{
			{"convert", "--config", odd},
			{"convert", "images", photos, "OUT", "--labels", odd},
			{"convert", "images", photos, "OUT", "--augment", odd},
			{"convert", "--from-manifest", odd, photos, "OUT"},
			{"convert", "csv", csv, "OUT", "--schema", odd},
			{"convert", "csv", csv, "OUT", "--label", "label", "--vocab=" + odd},
			{"verify", set, "--against", odd},
			{"cat", set, "--resume", odd},
			{"split", set, "OUT", "--list", odd},
			{"adopt", set, "--classes", odd},
			{"augment", "preview", odd, "--augment", "hflip"},
			{"export", odd, "OUT", "--format", "csv"},
			{"preview", odd, "OUT"},
			{"reshard", odd, "OUT"},
			{"repair", odd, "OUT"},
			{"index", odd},
			{"convert", "csv", odd, "OUT", "--depfile", "x.d"}, // which names what is to be read again
		} {
			for i, a := range args {
				if a == "OUT" {
					args[i] = filepath.Join(t.TempDir(), "out")
				}
			}
			if code, _, _ := runFor(t, append(args, "--quiet")...); code != cli.ExitFailed && code != cli.ExitUsage {
				t.Errorf("%s with a %s: exit %d", strings.Join(args[:2], " "), kind, code)
			}
		}
	}
}

// TestTablesMayBePipes converts tables that come through FIFOs, and wants the set that
// files of the same names give. It then interrupts a wait for one that nobody writes to.
func TestTablesMayBePipes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	data := [][]byte{[]byte("a,b\n1,x\n2,y\n"), []byte("a,b\n3,z\n")}
	var files, fifos []string
	for i := range data {
		name := string(rune('a'+i)) + ".csv"
		files, fifos = append(files, filepath.Join(dir, "files", name)), append(fifos, filepath.Join(dir, "fifos", name))
		for _, d := range []string{files[i], fifos[i]} {
			if err := os.MkdirAll(filepath.Dir(d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(files[i], data[i], 0o644); err != nil {
			t.Fatal(err)
		}
		replaceWith(t, "FIFO", fifos[i])
	}
	convert := func(out string, srcs ...string) []string {
		return append(append([]string{"convert", "csv"}, srcs...), filepath.Join(dir, out), "--name", "t", "--shards", "1")
	}
	must(t, convert("want", files...)...)
	for range 2 { // the second time it is up to date
		for i, fifo := range fifos {
			go func() {
				if w, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil {
					w.Write(data[i])
					w.Close()
				}
			}()
		}
		if code, _, stderr := runFor(t, convert("got", fifos...)...); code != 0 {
			t.Fatalf("exit %d, %s", code, stderr)
		}
	}
	want, err := readSet(filepath.Join(dir, "want"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readSet(filepath.Join(dir, "got"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(want, got); diff != "" {
		t.Error(diff)
	}
	code, _, stderr := runFor(t, convert("none", "/dev/zero")...)
	if code != cli.ExitFailed || !strings.Contains(stderr, "a device") {
		t.Errorf("a device: exit %d, %s", code, stderr)
	}
	interruptedWaiting(t, convert("none", fifos[0])...)
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// interruptedWaiting interrupts a command that waits for a FIFO that nobody writes to.
func interruptedWaiting(t *testing.T, args ...string) {
	t.Helper()
	c := tfrec(t, args...)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var stderr bytes.Buffer
	c.Env, c.ExtraFiles, c.Stderr = append(c.Env, saysReady+"=1"), []*os.File{w}, &stderr
	err = c.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, r)
	time.Sleep(200 * time.Millisecond) // more often than not, it waits for the FIFO now
	c.Process.Signal(os.Interrupt)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		t.Errorf("%s, interrupted while it waits: %v\n%s", args[0], c.ProcessState, stderr.String())
	}
}

// TestStreamsMayBePipes reads a file of records through a FIFO, and wants what
// reading the file gives. It then interrupts a wait for a FIFO that nobody writes to.
func TestStreamsMayBePipes(t *testing.T) {
	set := smallSet(t)
	shards, err := filepath.Glob(filepath.Join(set, "*.tfrecord-*"))
	if err != nil || len(shards) != 1 {
		t.Fatal(shards, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	data, err := os.ReadFile(shards[0])
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range [][]string{{"cat"}, {"inspect"}, {"verify"}, {"verify", "--deep"}} {
		fifo := filepath.Join(filepath.Dir(file), "fifo")
		replaceWith(t, "FIFO", fifo)
		_, want, _ := runFor(t, append(slices.Clone(verb), file)...)
		go func() {
			if w, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil {
				w.Write(data)
				w.Close()
			}
		}()
		code, got, stderr := runFor(t, append(slices.Clone(verb), fifo)...)
		if got = strings.ReplaceAll(got, fifo, file); code != 0 || got != want {
			t.Errorf("%s: exit %d, %q, %s; want %q", verb[0], code, got, stderr, want)
		}
		interruptedWaiting(t, append(slices.Clone(verb), fifo)...)
	}
}
