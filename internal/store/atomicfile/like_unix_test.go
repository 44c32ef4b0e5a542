//go:build unix

package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func create(t *testing.T, path string, mode fs.FileMode) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLikeTakesModeAndOwner(t *testing.T) {
	dir := t.TempDir()
	for i, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o400, 0o777, 0o664 | fs.ModeSetgid, 0o755 | fs.ModeSetuid} {
		old := create(t, filepath.Join(dir, fmt.Sprint(i)), mode)
		if os.Getuid() == 0 {
			if err := old.Chown(1234, 4321); err != nil {
				t.Fatal(err)
			}
			if err := old.Chmod(mode); err != nil {
				t.Fatal(err)
			}
		}
		want, err := old.Stat()
		if err != nil {
			t.Fatal(err)
		}
		f := create(t, filepath.Join(dir, "new"), 0o666)
		owned, err := Like(f, want)
		if err != nil || !owned {
			t.Errorf("%v: owned %v, %v", mode, owned, err)
		}
		got, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		a, b := got.Sys().(*syscall.Stat_t), want.Sys().(*syscall.Stat_t)
		if got.Mode() != mode || a.Uid != b.Uid || a.Gid != b.Gid {
			t.Errorf("%v of %d:%d, want %v of %d:%d", got.Mode(), a.Uid, a.Gid, mode, b.Uid, b.Gid)
		}
	}
}

// TestLikeWidensNothing has a process that may give files to nobody take the
// mode of another's file: its own group must not get what the other group had.
func TestLikeWidensNothing(t *testing.T) {
	if dir := os.Getenv("LIKE_IN"); dir != "" {
		old, err := os.Stat(filepath.Join(dir, "old"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir, "new"))
		if err != nil {
			t.Fatal(err)
		}
		if owned, err := Like(f, old); owned || err != nil {
			t.Fatalf("owned %v, %v", owned, err)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make files of two owners")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[fs.FileMode]fs.FileMode{0o660: 0o600, 0o644: 0o644, 0o664: 0o644, 0o755 | fs.ModeSetuid | fs.ModeSetgid: 0o755} {
		dir, err := os.MkdirTemp("", "tfrec-like-") // where another user gets to
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		create(t, filepath.Join(dir, "old"), mode)
		binary := filepath.Join(dir, "test")
		if data, err := os.ReadFile(self); err != nil || os.WriteFile(binary, data, 0o755) != nil {
			t.Fatal("copy the test", err)
		}
		c := exec.Command(binary, "-test.run=TestLikeWidensNothing")
		c.Dir = dir
		c.Env = append(os.Environ(), "LIKE_IN="+dir)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if st, err := os.Stat(filepath.Join(dir, "new")); err != nil || st.Mode() != want {
			t.Errorf("%v became %v, want %v (%v)", mode, st.Mode(), want, err)
		}
	}
}
