package shard

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// exampleFile writes n Examples to a file, and returns its path.
func exampleFile(t testing.TB, path string, n int, build func(i int, b *tfrecord.Builder)) string {
	t.Helper()
	var data []byte
	var b tfrecord.Builder
	for i := range n {
		b.Reset()
		build(i, &b)
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	putFile(t, path, data)
	return path
}

// madeSet makes a set of n Examples in a directory of the test's, with label names
// for the feature "label" when there are any.
func madeSet(t testing.TB, n, shards int, labels []string, build func(i int, b *tfrecord.Builder)) string {
	t.Helper()
	file := exampleFile(t, filepath.Join(t.TempDir(), "made.tfrecord"), n, build)
	out := filepath.Join(t.TempDir(), "set")
	v := &verb{name: "made", describe: func(m *Manifest) error {
		for i, f := range m.Features {
			if f.Key == "label" && labels != nil {
				m.Features[i].Class, m.Labels = ClassLabel, labels
			}
		}
		return nil
	}}
	_, err := reshape(context.Background(), []string{file}, out, &ReshapeOptions{Name: "made", Shards: shards}, v)
	check(t, err)
	return out
}

// idsOf returns the values of an int64 feature in all records of a split, in
// their order; all splits for "".
func idsOf(t testing.TB, path, split, key string) []int64 {
	t.Helper()
	sources, err := Expand(t.Context(), []string{path}, ExpandOptions{})
	check(t, err)
	var ids []int64
	var e tfrecord.Example
	for _, s := range sources {
		if split != "" && s.Split != split {
			continue
		}
		r, err := Open(t.Context(), s.Path, tfrecord.ReaderOptions{})
		check(t, err)
		for record, err := range r.All() {
			check(t, err)
			check(t, e.Parse(record))
			f, ok := e.Get(key)
			id, isInt := f.Int64()
			if !ok || !isInt {
				t.Fatalf("%s: a record without %s", s.Path, key)
			}
			ids = append(ids, id)
		}
		check(t, r.Close())
	}
	return ids
}

// numbers builds records with their number as the feature id.
func numbers(i int, b *tfrecord.Builder) {
	b.Int64("id", int64(i))
	b.String("text", fmt.Sprintf("record %d", i))
}

// manifestOf reads the manifest of a set.
func manifestOf(t testing.TB, path string) *Manifest {
	t.Helper()
	m, err := ReadManifest(t.Context(), filepath.Join(path, ManifestFile))
	check(t, err)
	return m
}

// nothingAt wants no file or directory at a path.
func nothingAt(t testing.TB, path string) {
	t.Helper()
	if entries, err := os.ReadDir(path); err == nil {
		t.Errorf("%s was left, with %v", path, entries)
	}
}

// filesOf returns all files below a directory by their paths there, but for this
// machine's state.
func filesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == StateDir {
				return filepath.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return files
}

func sameFiles(a, b map[string]string) bool { return maps.Equal(a, b) && len(a) > 0 }
