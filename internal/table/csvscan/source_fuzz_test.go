package csvscan

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzSource opens and scans files of any bytes: an error names the file, and
// what is found out does not depend on the number of workers and agrees with
// the rows that are then read.
func FuzzSource(f *testing.F) {
	for _, dir := range []string{testdata + "odd/*", testdata + "spectrum/csvs/*"} {
		paths, _ := filepath.Glob(dir)
		for _, path := range paths {
			if text, err := os.ReadFile(path); err == nil && len(text) < 1000 {
				f.Add(text)
			}
		}
	}
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00"))
	path := filepath.Join(f.TempDir(), "t.csv")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, Options{})
		if err == nil {
			defer s.Close()
			err = scanTwice(t, s)
		}
		var located *Error
		if err != nil && (!errors.As(err, &located) || located.Name != path) {
			t.Fatalf("error without a place: %v", err)
		}
	})
}

func scanTwice(t *testing.T, s *Source) error {
	one, err1 := s.Scan(t.Context(), ScanOptions{Workers: 1})
	two, err2 := s.Scan(t.Context(), ScanOptions{Workers: 3})
	if (err1 == nil) != (err2 == nil) || err1 == nil && !reflect.DeepEqual(one, two) {
		t.Fatalf("1 worker: %+v, %v; 3: %+v, %v", one, err1, two, err2)
	}
	if err1 != nil {
		return err1
	}
	good, _ := rows(t, s, one) // checks the counts
	for i, c := range one.Columns {
		if n := c.Ints + c.Floats + c.Texts + c.Missing; n != int64(len(good)) {
			t.Fatalf("column %d has %d values in %d rows", i, n, len(good))
		}
		for _, row := range good {
			checkKind(t, &c, row[s.Header()[i]])
		}
	}
	return nil
}

// checkKind reports whether a value fits the type of its column.
func checkKind(t *testing.T, c *Column, value string) {
	ok := true
	switch missing := NewMissing(DefaultMissing).Is([]byte(value)); {
	case missing:
	case c.Kind() == KindInt64:
		_, ok = ParseInt64([]byte(value))
	case c.Kind() == KindFloat:
		_, ok = ParseFloat64([]byte(value))
	}
	if !ok {
		t.Fatalf("%q in a column of kind %v", value, c.Kind())
	}
}
