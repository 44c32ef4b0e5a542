//go:build linux || darwin

package convert

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// replaceUnseen replaces a file by another one of its size, and sets its time back.
func replaceUnseen(t *testing.T, path string, data []byte) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil || st.Size() != int64(len(data)) {
		t.Fatalf("%v, %d bytes for %d", err, len(data), st.Size())
	}
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path+".new", st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedWithItsOldTime replaces an image and a table by others of the same size and time: the
// set follows, unless Options.TrustTimes is set. A file that was only touched otherwise redoes nothing.
func TestReplacedWithItsOldTime(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for _, kind := range []string{"images", "table"} {
		for _, trust := range []bool{false, true} {
			src, out := t.TempDir(), t.TempDir()
			options := Options{Shards: 2, TrustTimes: trust}
			var path string
			var data []byte
			run := func() *Summary { return mustImages(t, src, out, ImageOptions{Options: options}) }
			if kind == "images" {
				src = directories(t, 6)
				path, data = filepath.Join(src, "c0", "00000.png"), nil
				if matches, err := filepath.Glob(filepath.Join(src, "c0", "*.png")); err == nil {
					path = matches[0]
				}
				before, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for n := 1; data == nil; n++ { // another image of the same size
					if p := pngOf(1000 + n); len(p) == len(before) && string(p) != string(before) {
						data = p
					}
				}
			} else {
				path, data = filepath.Join(src, "t.csv"), []byte("a,b\n1,x\n2,z\n")
				put(t, src, "t.csv", []byte("a,b\n1,x\n2,y\n"))
				run = func() *Summary {
					s, err := CSV(t.Context(), []string{path}, out, CSVOptions{Options: options})
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
			}
			filepath.WalkDir(src, func(p string, _ os.DirEntry, _ error) error { return os.Chtimes(p, old, old) })
			run()
			if s := run(); s.Status != UpToDate {
				t.Errorf("%s: again it is %s", kind, s.Status)
			}
			before := contents(t, out)
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
			if s := run(); s.Status != UpToDate {
				t.Errorf("%s with another mode: it is %s", kind, s.Status)
			}
			sameSet(t, contents(t, out), before)
			replaceUnseen(t, path, data)
			if s := run(); (s.Status == UpToDate) != trust {
				t.Errorf("%s, TrustTimes %v: %s", kind, trust, s.Status)
			}
			if got := contents(t, out); trust != (strings.Join(shardsOf(got), "") == strings.Join(shardsOf(before), "")) {
				t.Errorf("%s, TrustTimes %v: the shards are wrong", kind, trust)
			}
		}
	}
}

// shardsOf returns the contents of shards, by name.
func shardsOf(files map[string]string) (shards []string) {
	for name, data := range files {
		if strings.Contains(name, ".tfrecord-") && !strings.HasPrefix(name, "index") {
			shards = append(shards, name+data)
		}
	}
	slices.Sort(shards)
	return shards
}

// TestScansThatAreWrong makes a set of a table again with other options, after the table was replaced
// with its old time: the scan of the first run is of other rows, and is done again.
func TestScansThatAreWrong(t *testing.T) {
	for _, name := range []string{"t.csv", "t.jsonl"} {
		text := map[string][2]string{"t.csv": {"a\n1\n2\n", "a\n3\n4\n"}, "t.jsonl": {"{\"a\":1}\n{\"a\":2}\n", "{\"a\":3}\n{\"a\":4}\n"}}[name]
		src, out, fresh := t.TempDir(), t.TempDir(), t.TempDir()
		put(t, src, name, []byte(text[0]))
		path, old := filepath.Join(src, name), time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		o := TableOptions{CSVOptions: CSVOptions{Options: Options{Shards: 1, TrustTimes: true}}}
		mustTable(t, []string{path}, out, o)
		replaceUnseen(t, path, []byte(text[1]))
		o.Shards, o.Overwrite = 2, true
		said := notes(&o.Options)
		mustTable(t, []string{path}, out, o)
		if n := strings.Join(*said, "\n"); !strings.Contains(n, "all tables are scanned again: ") {
			t.Errorf("%s: notes %q", name, n)
		}
		o.Note = nil
		mustTable(t, []string{path}, fresh, o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
}
