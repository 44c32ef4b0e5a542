package exporttest

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// JPEGBytes look like a JPEG, and nothing here decodes them.
const JPEGBytes = "\xff\xd8\xff\xe0 as it was"

// Build adds the features of one record.
type Build func(b *tfrecord.Builder)

// WriteRecords makes a file of Examples in a directory of the test's.
func WriteRecords(t testing.TB, name string, records ...Build) string {
	t.Helper()
	var data []byte
	for _, add := range records {
		var b tfrecord.Builder
		add(&b)
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Photo is a record of an image of that name and label.
func Photo(name, label string) Build {
	return func(b *tfrecord.Builder) {
		b.String(imagekey.Encoded, JPEGBytes+name)
		b.String(imagekey.Format, "jpeg")
		b.String(imagekey.Filename, name)
		b.String(imagekey.Text, label)
	}
}

// Tree returns the files below dir, sorted.
func Tree(t testing.TB, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// WantOnly fails the test when a directory holds anything but these names.
func WantOnly(t testing.TB, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

// TarMembers returns the names and contents in a tar, in order. Its headers tell nothing of the time or
// the user.
func TarMembers(t testing.TB, path string) (names []string, contents []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || h.ModTime.Unix() != 0 || h.Uid != 0 || h.Uname != "" {
			t.Fatalf("%s: %+v, %v", path, h, err)
		}
		names, contents = append(names, h.Name), append(contents, string(data))
	}
}
