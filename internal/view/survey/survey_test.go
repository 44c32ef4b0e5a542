package survey

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func put(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("12345"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a/1.JPG", "a/b/2.jpg", "3.png", ".hidden/4.png", "__MACOSX/5.png", "x.csv.gz", "y.jsonl", "z.TAR", "w.tar.zst", "data/p.parquet",
		"s-train.tfrecord-00000-of-00002", "part-r-00000", "k.npz", "c.json", "d.xml", "labels/e.txt", "classes.txt", "sample_submission.csv", "Makefile")
	got, err := Look(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := &Survey{
		Directory: true, Images: Count{3, 15}, Tops: map[string]int64{".": 1, "a": 2},
		Archives: []string{"w.tar.zst", "z.TAR"}, Records: []string{"part-r-00000", "s-train.tfrecord-00000-of-00002"}, Columnar: []string{"data/p.parquet"},
		Tables: []string{"x.csv.gz", "y.jsonl"}, Arrays: []string{"k.npz"}, JSON: []string{"c.json"}, Annotations: []string{"d.xml", "labels/e.txt"},
		Extensions: got.Extensions,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	files := int64(0)
	for _, e := range got.Extensions {
		files += e.Files
	}
	if first := got.Extensions[0]; files != 17 || first.Files < 2 {
		t.Errorf("%d files, %v first", files, first)
	}
}

func TestLookAtFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.csv", "b.csv", "sub/c.csv")
	for src, want := range map[string]int{"a.csv": 1, "*.csv": 2, "s*/*.csv": 1} {
		got, err := Look(t.Context(), filepath.Join(dir, src))
		if err != nil || got.Directory || len(got.Tables) != want {
			t.Errorf("%s: %+v, %v", src, got, err)
		}
	}
	for _, src := range []string{"nowhere", "*.tar"} {
		if got, err := Look(t.Context(), filepath.Join(dir, src)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v", src, got, err)
		}
	}
	if got, err := Look(t.Context(), filepath.Join(dir, "sub")); err != nil || len(got.Extensions) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNamesImages(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "photos/a b.jpg", "top.png", "photos/7.webp", "photos/deep/x.jpg", "other.txt")
	for text, want := range map[string]bool{
		"path,label\na b.jpg,x\n": true, "id,label\n7,x\n": true, `{"file_name":"photos/deep/x.jpg"}`: true, "file;c\n.\\top.png;1\n": true, "top": true, `[{"images":[{"file_name": "top.png"}]}]`: true,
		"a,b\n1,2\n": false, "other.txt": false, "../x/top.png": false, "": false, "x.jpg\n": false, "photos": false, "\x00top": false,
	} {
		file := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := NamesImages(t.Context(), file, dir); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if NamesImages(t.Context(), filepath.Join(dir, "nowhere"), dir) {
		t.Error("a file that is not there names images")
	}
}
