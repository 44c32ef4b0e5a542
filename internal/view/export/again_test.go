package export

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// contents are the files below a directory, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestExportAgain exports twice to the same place, as a caller does whose first
// export was killed when it had finished. The second finds it up to date, and sweeps
// what the first left; anything else in OUT is refused.
func TestExportAgain(t *testing.T) {
	table := mixed(t)
	images := exporttest.WriteRecords(t, "images", exporttest.Photo("a/1.jpg", "a"), exporttest.Photo("a/2.jpg", "a"), exporttest.Photo("b/x/3.jpg", "b"))
	boxes := odd(t)
	for _, format := range spec.Formats {
		in := table
		switch {
		case format.HasBoxes():
			in = boxes
		case format.HasImages():
			in = images
		}
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		first, err := exportTo(t, out, spec.Options{Format: format}, in)
		if err != nil {
			t.Fatal(err)
		}
		before := contents(t, dir)
		left := filepath.Join(dir, "."+filepath.Base(out)+".exporting-7")
		if err := os.Mkdir(left, 0o755); err != nil {
			t.Fatal(err)
		}
		second, err := exportTo(t, out, spec.Options{Format: format}, in)
		if err != nil {
			t.Fatalf("%s: again: %v", format, err)
		}
		if runtime.GOOS != "windows" { // directories can't be locked there, so none is removed
			exporttest.WantOnly(t, dir, "out")
		}
		first.Status, first.Seconds, second.Seconds = spec.UpToDate, 0, 0
		if *first != *second {
			t.Errorf("%s: again: %+v, want %+v", format, second, first)
		}
		refused := func(what string) {
			t.Helper()
			is := contents(t, dir)
			if _, err := exportTo(t, out, spec.Options{Format: format}, in); err == nil || !strings.Contains(err.Error(), "exists and is not what this run would write") {
				t.Errorf("%s: %s: %v", format, what, err)
			}
			if after := contents(t, dir); len(after) != len(is) {
				t.Errorf("%s: %s: refused, and it changed files: %d, before %d", format, what, len(after), len(is))
			}
		}
		paths := []string{}
		for path := range before {
			paths = append(paths, path)
		}
		slices.Sort(paths)
		for _, path := range paths {
			data := before[path]
			others := map[string]string{"a byte more": data + "x"}
			if data != "" { // YOLO has empty files
				others["a byte less"], others["another byte"], others["nothing"] = data[:len(data)-1], data[:len(data)-1]+"\x01", ""
			}
			for what, other := range others {
				if err := os.WriteFile(path, []byte(other), 0o644); err != nil {
					t.Fatal(err)
				}
				refused(what)
			}
			if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if format.HasImages() {
			if err := os.Mkdir(filepath.Join(out, "c"), 0o755); err != nil {
				t.Fatal(err)
			}
			refused("a directory more")
			if err := os.Remove(filepath.Join(out, "c")); err != nil {
				t.Fatal(err)
			}
			if len(paths) == 1 {
				continue // an empty directory is free
			}
			if err := os.Remove(paths[0]); err != nil {
				t.Fatal(err)
			}
			refused("a file less")
		}
	}
}
