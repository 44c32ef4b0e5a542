package storage

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func TestWalk(t *testing.T) {
	f, root := newFake(t, map[string]string{"set/": "", "set/b/2": "bb", "set/a": "a", "set/b/c/1": "", "setting": "s"})
	for dir, want := range map[string]string{"": "set/ set/a set/b/2 set/b/c/1 setting", "/set": "a b/2 b/c/1", "/set/b/c": "1"} {
		f.lists = 0
		var names []string
		for o, err := range Parse(root + dir).Walk(quick(t)) {
			if err != nil {
				t.Fatal(err)
			}
			if o.Version == "" {
				t.Errorf("%s has no version", o.Name)
			}
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); got != want || f.lists != 1 {
			t.Errorf("Walk(%q): %s in %d lists, want %s in one", dir, got, f.lists, want)
		}
	}
	for _, nothing := range []string{root + "/nowhere", t.TempDir()} {
		for o, err := range Parse(nothing).Walk(quick(t)) {
			if want := map[bool]error{true: fs.ErrNotExist, false: fs.ErrInvalid}[Remote(nothing)]; !errors.Is(err, want) {
				t.Errorf("Walk(%s): %v, %v, want %v", nothing, o, err, want)
			}
		}
	}
	for range Parse(root).Walk(quick(t)) {
		break
	}
}

// Files and directories are distinguished without a request for each.
func TestGlobKinds(t *testing.T) {
	f, root := newFake(t, map[string]string{"d1/a-1": "", "d1/a-2": "", "d1/a/x": "", "d2/a-3": "", "d2/b": "", "d1/a-1/below": ""})
	f.fault = func() error { return errors.New("it was looked at") }
	files, directories, err := GlobKinds(quick(t), root+"/d*/a*")
	below := func(matches []Location) (names []string) {
		for _, m := range matches {
			names = append(names, strings.TrimPrefix(m.Path(), root))
		}
		return names
	}
	if err != nil || !slices.Equal(below(files), []string{"/d1/a-1", "/d1/a-2", "/d2/a-3"}) || !slices.Equal(below(directories), []string{"/d1/a", "/d1/a-1"}) {
		t.Errorf("files %q, folders %q, %v", files, directories, err)
	}
	all, err := Glob(quick(t), root+"/d*/a-1")
	if err != nil || !slices.Equal(all, []string{root + "/d1/a-1"}) {
		t.Errorf("Glob: %q, %v", all, err)
	}
}

func TestReadListed(t *testing.T) {
	for _, size := range []int{0, 1, firstPart + 1, 2*partSize + 3} {
		f, root := newFake(t, nil)
		want := noise(size)
		f.put("a/b", want)
		var is Object
		for o, err := range Parse(root).Walk(quick(t)) {
			if is = o; err != nil {
				t.Fatal(err)
			}
		}
		buf := make([]byte, 10, 100)
		got, err := Parse(root+"/a/b").ReadListed(quick(t), is, buf)
		if err != nil || string(got) != string(want) || f.opens != min(size, 1) {
			t.Errorf("size %d: %d bytes in %d requests, %v", size, len(got), f.opens, err)
		}
		file, err := Parse(root+"/a/b").OpenListed(quick(t), is)
		if err != nil || f.opens != min(size, 1) {
			t.Fatalf("size %d: opening it took %d requests, %v", size, f.opens, err)
		}
		if got, err := io.ReadAll(file); err != nil || string(got) != string(want) {
			t.Errorf("size %d, opened: %d bytes, %v", size, len(got), err)
		}
		file.Close()

		// Replaced, and then removed.
		f.put("a/b", want)
		if _, err := Parse(root+"/a/b").ReadListed(quick(t), is, nil); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), root+"/a/b") {
			t.Errorf("size %d, replaced: %v", size, err)
		}
		delete(f.objects, "a/b")
		if _, err := Parse(root+"/a/b").ReadListed(quick(t), is, nil); !errors.Is(err, ErrChanged) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("size %d, removed: %v", size, err)
		}
		if _, err := Parse(root+"/a/b").OpenListed(quick(t), Object{}); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("without a version: %v", err)
		}
	}
}

// A store that ignores the requested version, but reports which one it sends.
func TestAnswersOfAnotherVersion(t *testing.T) {
	f, root := newFake(t, nil)
	f.put("x", noise(1000))
	f.lax = true
	is := Object{Size: 1000, Version: "0"}
	if _, err := Parse(root+"/x").ReadListed(quick(t), is, nil); !errors.Is(err, ErrChanged) {
		t.Errorf("another version: %v", err)
	}
	is = Object{Size: 999, Version: "1"}
	if _, err := Parse(root+"/x").ReadListed(quick(t), is, nil); !errors.Is(err, ErrChanged) {
		t.Errorf("another size: %v", err)
	}
}
