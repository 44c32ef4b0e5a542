package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteReplacesWhole(t *testing.T) {
	temp, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "f")
	for _, data := range []string{"first", "", "third, and longer"} {
		if err := Write(temp, path, []byte(data)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != data {
			t.Errorf("read %q, %v, want %q", got, err, data)
		}
	}
	if left := entries(t, temp); len(left) > 0 {
		t.Errorf("left in the temporary folder: %q", left)
	}
}

func TestFailuresLeaveNothing(t *testing.T) {
	temp, dir := t.TempDir(), t.TempDir()
	os.Mkdir(filepath.Join(dir, "taken"), 0o755)
	os.WriteFile(filepath.Join(dir, "taken", "x"), nil, 0o644)
	for _, path := range []string{filepath.Join(dir, "no", "such", "folder"), filepath.Join(dir, "taken")} {
		if err := Write(temp, path, []byte("x")); err == nil {
			t.Errorf("Write to %s succeeded", path)
		}
	}
	if left := entries(t, temp); len(left) > 0 {
		t.Errorf("left in the temporary folder: %q", left)
	}
	if got := entries(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %q", got)
	}
}

func TestRemoveOfNothingIsFine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Remove(path); err != nil {
		t.Error(err)
	}
	os.WriteFile(path, nil, 0o644)
	if err := Remove(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is still there")
	}
}

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := Lock(first); err != nil {
		t.Fatal(err)
	}
	if err := Lock(second); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v, want ErrLocked", err)
	}
	first.Close()
	if err := Lock(second); err != nil {
		t.Errorf("after the first is closed: %v", err)
	}
}

func TestSharedLocksGoTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second, third := open(), open(), open()
	if err := LockShared(first); err != nil {
		t.Fatal(err)
	}
	if err := LockShared(second); err != nil {
		t.Errorf("a second shared lock: %v", err)
	}
	if err := Lock(third); !errors.Is(err, ErrLocked) {
		t.Errorf("an exclusive lock beside shared ones: %v, want ErrLocked", err)
	}
	first.Close()
	second.Close()
	if err := Lock(third); err != nil {
		t.Errorf("an exclusive lock after the shared ones: %v", err)
	}
	if err := LockShared(open()); !errors.Is(err, ErrLocked) {
		t.Errorf("a shared lock beside an exclusive one: %v, want ErrLocked", err)
	}
}

func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b", "c")
	for range 2 {
		if err := MkdirAll(deep, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := os.Stat(deep); err != nil || !st.IsDir() {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "x")} {
		if err := MkdirAll(path, 0o755); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	if err := Mkdir(file, 0o755); err == nil {
		t.Error("a file passes for a directory")
	}
}
