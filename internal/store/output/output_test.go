package output

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// emptyStore is the store of mem://bucket until the test ends.
func emptyStore(t *testing.T) *storagetest.Store {
	t.Helper()
	s := storagetest.New()
	storage.Forget()
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)
	return s
}

// places returns a local directory and one in a store, each with the file "there".
func places(t *testing.T) []string {
	t.Helper()
	emptyStore(t).Put("dir/there", []byte("content"))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{dir, "mem://bucket/dir"}
}

// want reports an error without the text; "" wants none.
func want(t *testing.T, what string, err error, text string) {
	t.Helper()
	if (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want %q", what, err, text)
	}
}

func TestFind(t *testing.T) {
	for _, dir := range places(t) {
		for name, is := range map[string]bool{"there": true, "new": false} {
			path := storage.Join(dir, name)
			if got, err := Find(t.Context(), path); err != nil || got != is {
				t.Errorf("%s: %v, %v, want %v", path, got, err, is)
			}
		}
		_, err := Find(t.Context(), dir)
		want(t, dir, err, "exists and is a directory: choose another name")
	}
	dir := t.TempDir()
	_, err := Find(t.Context(), filepath.Join(dir, "none", "file"))
	want(t, "no directory", err, "the output directory: ")
	_, err = Find(t.Context(), "file://"+filepath.ToSlash(filepath.Join(dir, "new")))
	want(t, "URL", err, "without file://")
	_, err = FindLocal(t.Context(), "mem://bucket/new")
	want(t, "store", err, "not supported in object storage")
	if exists, err := FindLocal(t.Context(), filepath.Join(dir, "new")); exists || err != nil {
		t.Errorf("new: %v, %v", exists, err)
	}
}

func TestFindLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need privileges")
	}
	dir := places(t)[0]
	dangling, link := filepath.Join(dir, "dangling"), filepath.Join(dir, "link")
	if err := errors.Join(os.Symlink("nowhere", dangling), os.Symlink("there", link)); err != nil {
		t.Fatal(err)
	}
	_, err := Find(t.Context(), dangling)
	want(t, "dangling", err, "is a dangling link: remove it, or choose another name")
	if exists, err := Find(t.Context(), link); err != nil || !exists {
		t.Errorf("link to a file: %v, %v", exists, err)
	}
	_, err = Find(t.Context(), os.DevNull)
	want(t, os.DevNull, err, "exists and is not a regular file: choose another name")
	want(t, "input by link", NotInput(t.Context(), link, filepath.Join(dir, "there")), "is one of the inputs")
	want(t, "dangling link", MustBeFree(dangling), "exists and is not what")
}

func TestMustBeFree(t *testing.T) {
	dir := places(t)[0]
	want(t, "new", MustBeFree(filepath.Join(dir, "new")), "")
	want(t, "directory", MustBeFree(dir), "exists and is not what this run would write: remove it, or choose another name")
}

func TestMustBegin(t *testing.T) {
	for _, dir := range places(t) {
		path := storage.Join(dir, "there")
		for begins, text := range map[string]string{"": "", "cont": "", "content": "", "contents": "is not what", "x": "is not what"} {
			want(t, path+" begins "+begins, MustBegin(t.Context(), path, begins), text)
		}
		if err := MustBegin(t.Context(), storage.Join(dir, "new"), "x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
	}
}

func TestNotInput(t *testing.T) {
	for _, dir := range places(t) {
		there, other := storage.Join(dir, "there"), storage.Join(dir, "new")
		want(t, other, NotInput(t.Context(), other, there), "")
		want(t, there, NotInput(t.Context(), there, "", other, "mem://bucket/other"), "")
		err := NotInput(t.Context(), there, other, dir+"/../"+storage.Base(dir)+"/there")
		want(t, there, err, there+" is one of the inputs: choose another name")
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v does not unwrap to fs.ErrExist", err)
		}
	}
}

func TestPut(t *testing.T) {
	for _, dir := range places(t) {
		for _, c := range []struct {
			name, data string
			overwrite  bool
			want       string // of the error
		}{
			{"new", "a", false, ""}, {"new", "a", false, ""}, {"other", "b", true, ""},
			{"there", "content", false, ""}, {"there", "contenT", false, "is not what"}, {"there", "conten", false, "is not what"},
			{"there", "content+", false, "is not what"}, {"there", "replaced", true, ""},
		} {
			path := storage.Join(dir, c.name)
			before, _ := storage.ReadFile(t.Context(), path, 100)
			want(t, path, Put(t.Context(), path, []byte(c.data), c.overwrite), c.want)
			if c.want == "" {
				before = []byte(c.data)
			}
			if after, err := storage.ReadFile(t.Context(), path, 100); err != nil || string(after) != string(before) {
				t.Errorf("%s has %q, %v, want %q", path, after, err, before)
			}
		}
	}
}

func TestDiffers(t *testing.T) {
	for detail, text := range map[string]string{
		"":  "out exists and is not what this run would write: remove it, or choose another name",
		"x": "out exists and is not what this run would write (x): remove it, or choose another name",
	} {
		if err := Differs("out", detail); err.Error() != text || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v, want %s", err, text)
		}
	}
}
