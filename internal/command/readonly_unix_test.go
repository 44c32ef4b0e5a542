//go:build unix

package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user that owns nothing.
const nobody = 65534

// asNobody returns the command for another user, who may not write what root or the tests' user
// made read-only.
func asNobody(t *testing.T, binary string, args ...string) *exec.Cmd {
	t.Helper()
	c := tfrec(t, args...)
	c.Path = binary
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return c
}

// openBinary copies the test binary to where anybody may run it.
func openBinary(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(dir, "tfrec.test")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// chmodAll sets the modes of all below a directory.
func chmodAll(t *testing.T, dir string, directories, files fs.FileMode) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := files
		if d.IsDir() {
			mode = directories
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReadOnlyInputs has every verb read inputs in directories that it may not write:
// those that make something else work, those that change the input say so, and
// nothing is changed.
func TestReadOnlyInputs(t *testing.T) {
	base := t.TempDir()
	for dir := base; dir != filepath.Dir(os.TempDir()) && len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binary := openBinary(t, base)
	var denied *fs.PathError
	if err := asNobody(t, binary, "version").Run(); errors.As(err, &denied) {
		t.Skipf("no process can be run as nobody here: %v", err)
	}
	in := filepath.Join(base, "in")
	set, bare, hurt := filepath.Join(in, "set"), filepath.Join(in, "bare"), filepath.Join(in, "hurt")
	must(t, "convert", "images", filepath.Join(demo(), "photos"), set, "--name", "r", "--resize", "32x32", "--encode", "png", "--shards", "2", "--quiet")
	for _, dir := range []string{bare, hurt} {
		copySet(t, set, dir)
		for _, gone := range []string{"manifest.json", "index", "features.json", "dataset_info.json"} {
			if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
				t.Fatal(err)
			}
		}
	}
	shard := filepath.Join(hurt, "r-train.tfrecord-00000-of-00002")
	data, err := os.ReadFile(shard)
	if err == nil {
		data[60] ^= 1
		err = os.WriteFile(shard, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	before, err := readSet(in)
	if err != nil {
		t.Fatal(err)
	}
	chmodAll(t, in, 0o555, 0o444)
	defer chmodAll(t, in, 0o755, 0o644)
	work := filepath.Join(base, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(work, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		line string
	}{
		{0, "reshard SET OUT --shards 3"}, {0, "reshard BARE OUT --shuffle --memory 1MB"}, {0, "reshard SET OUT --group-by image/class/text"},
		{0, "merge SET SET OUT"}, {0, "sample SET OUT --count 3"}, {0, "take BARE OUT --count 3"},
		{0, "split SET OUT --splits a=0.5,b=0.5"}, {0, "filter BARE OUT --where label!=1"}, {0, "dedupe BARE BARE OUT --by image/filename --memory 1MB"},
		{0, "features drop SET OUT --keys image/width"}, {0, "repair SET OUT"}, {3, "repair HURT OUT"}, {3, "repair HURT/r-train.tfrecord-00000-of-00002 OUT"},
		{0, "diff SET BARE"}, {0, "diff --unordered SET BARE --memory 1MB"}, {3, "diff SET HURT"},
		{0, "verify SET"}, {0, "verify BARE"}, {0, "inspect SET"}, {0, "stats BARE"}, {0, "cat BARE --take 1"},
		{0, "export SET OUT --format csv"}, {0, "preview SET OUT.html"}, {3, "adopt BARE --check"}, {0, "index SET --check"}, {3, "index BARE --check"}, {0, "index SET"},
		{1, "adopt BARE"}, {1, "index BARE"}, {1, "append SET BARE"}, {1, "repair HURT --in-place"}, {1, "repair HURT/r-train.tfrecord-00000-of-00002 --in-place"},
		{1, "reshard BARE IN/new"}, {1, "repair HURT IN/new"},
	} {
		out := filepath.Join(work, "out")
		var args []string
		for _, word := range strings.Fields(c.line) {
			for name, path := range map[string]string{"SET": set, "BARE": bare, "HURT": hurt, "OUT": out, "IN/": in + "/"} {
				if rest, ok := strings.CutPrefix(word, name); ok && !strings.HasPrefix(word, "-") {
					word = path + rest
					break
				}
			}
			args = append(args, word)
		}
		cmd := asNobody(t, binary, append(args, "--quiet")...)
		cmd.Dir = work
		text, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%s: %v, want exit code %d\n%s", c.line, err, c.code, text)
		}
		if c.code == 1 && (!strings.Contains(string(text), "permission denied") || !strings.Contains(string(text), in)) {
			t.Errorf("%s: it says %s, want what was denied, and where", c.line, text)
		}
		left, _ := filepath.Glob(filepath.Join(work, "*"))
		hidden, _ := filepath.Glob(filepath.Join(work, ".*"))
		for _, path := range append(left, hidden...) {
			if !strings.HasPrefix(filepath.Base(path), "out") || c.code == 1 {
				t.Errorf("%s: it left %s", c.line, path)
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after, err := readSet(in); err != nil || difference(before, after) != "" {
		t.Errorf("the input was changed: %v %s", err, difference(before, after))
	}
}
