package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/table"
)

// FuzzSource scans files of any bytes: an error names the file, the result does not depend on the
// number of workers, and all rows that were counted can be read.
func FuzzSource(f *testing.F) {
	f.Add([]byte(strings.Join(rowsOfAllKinds, "\n")))
	for _, text := range []string{"", "\n\n", "\xef\xbb\xbf", "{\"x\":1}\r\n{\"x\":\"NaN\"}", "{\"x\":false}\n{\"x\":\"\"}", "\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd\x04\x00"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "t.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatal(err)
			}
			return
		}
		defer s.Close()
		one, err := s.Scan(t.Context(), table.ScanOptions{Workers: 1})
		two, err2 := s.Scan(t.Context(), table.ScanOptions{Workers: 3})
		switch {
		case (err == nil) != (err2 == nil) || err == nil && !cmp.Equal(one, two):
			t.Fatalf("1 worker: %+v, %v; 3: %+v, %v", one, err, two, err2)
		case err != nil && !strings.Contains(err.Error(), path):
			t.Fatal(err)
		case err == nil:
			if rows := rowsOf(t, s, one); int64(len(rows)) != one.Rows {
				t.Fatalf("%d rows of %d", len(rows), one.Rows)
			}
		}
	})
}
