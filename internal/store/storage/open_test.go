package storage

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/store/regular"
)

func TestDirectories(t *testing.T) {
	_, root := newFake(t, map[string]string{"set/manifest.json": "{}", "set/a-0": "aa", "set/a-1": "b", "set/index/a-0.idx": "1", "other/": "", "setting": "s"})
	st, err := Stat(t.Context(), root+"/set")
	if err != nil || !st.IsDir() || st.Name() != "set" {
		t.Errorf("Stat of a folder: %v, %v", st, err)
	}
	if st, err = Stat(t.Context(), root+"/set/a-0"); err != nil || st.IsDir() || st.Size() != 2 {
		t.Errorf("Stat of an object: %v, %v", st, err)
	}
	if st, err = Stat(t.Context(), root); err != nil || !st.IsDir() {
		t.Errorf("Stat of the store: %v, %v", st, err)
	}
	for _, nothing := range []string{"/se", "/set/a", "/nowhere"} {
		if _, err := Stat(t.Context(), root+nothing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat(%s): %v", nothing, err)
		}
	}
	for dir, want := range map[string][]string{"": {"other/", "set/", "setting"}, "/set": {"a-0", "a-1", "index/", "manifest.json"}, "/other": nil} {
		entries, err := ReadDir(t.Context(), root+dir)
		if err != nil {
			t.Errorf("ReadDir(%q): %v", dir, err)
		}
		var got []string
		for _, e := range entries {
			if e.IsDir() {
				got = append(got, e.Name()+"/")
			} else {
				got = append(got, e.Name())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("ReadDir(%q) = %q, want %q", dir, got, want)
		}
	}
	if _, err := ReadDir(t.Context(), root+"/nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadDir of nothing: %v", err)
	}
}

func TestReadFileIsBounded(t *testing.T) {
	_, root := newFake(t, map[string]string{"x": "0123456789"})
	if data, err := ReadFile(t.Context(), root+"/x", 10); err != nil || string(data) != "0123456789" {
		t.Errorf("ReadFile: %q, %v", data, err)
	}
	if _, err := ReadFile(t.Context(), root+"/x", 9); err == nil || !errors.Is(err, regular.ErrTooLarge) {
		t.Errorf("ReadFile of more than the limit: %v", err)
	}
}

func TestGlob(t *testing.T) {
	f, root := newFake(t, map[string]string{"a/x-1": "", "a/x-2": "", "a/y": "", "b/x-1": "", "b/deep/x-1": "", "c": ""})
	for pattern, want := range map[string][]string{
		"/a/x-*":   {"/a/x-1", "/a/x-2"},
		"/*/x-1":   {"/a/x-1", "/b/x-1"},
		"/?":       {"/a", "/b", "/c"},
		"/[ab]/*":  {"/a/x-1", "/a/x-2", "/a/y", "/b/deep", "/b/x-1"},
		"/*/*/x-1": {"/b/deep/x-1"},
		"/q*":      nil,
	} {
		got, err := Glob(t.Context(), root+pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], root)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Glob(%s) = %q, want %q", pattern, got, want)
		}
	}
	f.lists = 0
	if _, err := Glob(t.Context(), root+"/a/x-*"); err != nil || f.lists != 1 {
		t.Errorf("a glob in one folder: %d lists, %v", f.lists, err)
	}
	if _, err := Glob(t.Context(), root+"/[a"); err == nil {
		t.Error("a broken pattern is taken")
	}
}

func TestPaths(t *testing.T) {
	tests := []struct{ path, join, dir, base string }{
		{"s3://b/a/x", "s3://b/a/x/m.json", "s3://b/a", "x"},
		{"s3://b", "s3://b/m.json", "s3://b", "b"},
		{"gs://b/", "gs://b/m.json", "gs://b", "b"},
		{"s3:/b/a", "s3://b/a/m.json", "s3://b", "a"},
		{"mem://b/a//x/../y/", "mem://b/a/y/m.json", "mem://b/a", "y"},
		{"a/b", "a/b/m.json", "a", "b"},
		{"file:///a/b", "/a/b/m.json", "/a", "b"},
		{"c:/x", "c:/x/m.json", "c:", "x"},
		{"http://x/y", "http:/x/y/m.json", "http:/x", "y"},
	}
	for _, test := range tests {
		if got := Join(test.path, "m.json"); got != test.join {
			t.Errorf("Join(%s) = %s, want %s", test.path, got, test.join)
		}
		if got := Dir(test.path); got != test.dir {
			t.Errorf("Dir(%s) = %s, want %s", test.path, got, test.dir)
		}
		if got := Base(test.path); got != test.base {
			t.Errorf("Base(%s) = %s, want %s", test.path, got, test.base)
		}
		if got := Parse(test.path).Path(); got != test.path {
			t.Errorf("%s is parsed, and given back as %s", test.path, got)
		}
		if joined := Parse(test.path).Join("m.json"); joined != Parse(test.join) {
			t.Errorf("joined to %s, it is %+v", test.path, joined)
		}
	}
	if !Remote("s3://b/x") || Remote("b/s3://x") || Remote("s3") || Remote("s3:x") {
		t.Error("Remote")
	}
}

// The first name after a URL that names no bucket is not the bucket.
func TestNoBucket(t *testing.T) {
	for _, p := range []string{"s3://", "s3:/", "s3:///bucket/x", Join("s3://", "bucket", "x")} {
		if l := Parse(p); !l.Remote() || l.host != "" {
			t.Errorf("%s: %+v, want a URL without a bucket", p, l)
		}
	}
}

// TestNoSecretsInURLs gives credentials in a URL: they are refused, and not repeated.
func TestNoSecretsInURLs(t *testing.T) {
	Register("mem", func(context.Context, string) (Store, error) { panic("opened") })
	defer Register("mem", nil)
	const path = "mem://KEY:SECRET@bucket/set"
	check := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "credentials") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := Stat(t.Context(), path)
	check("stat", err)
	loc := Parse(path)
	for _, err := range loc.Walk(t.Context()) {
		check("walk", err)
	}
	_, err = loc.OpenListed(t.Context(), Object{Version: "1"})
	check("open", err)
	_, err = loc.ReadListed(t.Context(), Object{Version: "1"}, nil)
	check("read", err)
	_, err = loc.Rel(Parse("mem://ANOTHER:SECRET@bucket/set"))
	if err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("rel: %v", err)
	}
	for _, told := range []string{Clean(path), Join(path, "a"), Dir(path)} {
		if strings.Contains(told, "SECRET") {
			t.Errorf("got %s", told)
		}
	}
}

func TestRel(t *testing.T) {
	tests := []struct{ dir, path, want string }{
		{"s3://b/a", "s3://b/a/x", "x"},
		{"s3://b", "s3://b/a/x", "a/x"},
		{"s3://b/a", "s3://b/c", "../c"},
		{"a", "a/b/c", "b/c"},
		{"s3://b", "s3://c/x", ""},
		{"s3://b", "x", ""},
	}
	for _, test := range tests {
		got, err := Rel(test.dir, test.path)
		if filepath.ToSlash(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("Rel(%s, %s) = %s, %v, want %s", test.dir, test.path, got, err, test.want)
		}
	}
}

func TestWithoutTheModule(t *testing.T) {
	_, err := Open(context.Background(), "azblob://c/x")
	if err == nil || !strings.Contains(err.Error(), "build-cloud") || !strings.Contains(err.Error(), "azblob://c/x") {
		t.Errorf("Open without a store: %v", err)
	}
}
