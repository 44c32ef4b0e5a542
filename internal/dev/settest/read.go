package settest

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// IDsOf returns the values of an int64 feature in all records of a split, in order; of all splits
// if split is "".
func IDsOf(t testing.TB, path, split, key string) []int64 {
	t.Helper()
	sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
	Check(t, err)
	var ids []int64
	var e tfrecord.Example
	for _, s := range sources {
		if split != "" && s.Split != split {
			continue
		}
		r, err := shard.Open(t.Context(), s.Path, tfrecord.ReaderOptions{})
		Check(t, err)
		for record, err := range r.All() {
			Check(t, err)
			Check(t, e.Parse(record))
			f, ok := e.Get(key)
			id, isInt := f.Int64()
			if !ok || !isInt {
				t.Fatalf("%s: a record without %s", s.Path, key)
			}
			ids = append(ids, id)
		}
		Check(t, r.Close())
	}
	return ids
}

// ManifestOf reads the manifest of a set.
func ManifestOf(t testing.TB, path string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Read(t.Context(), filepath.Join(path, manifest.File))
	Check(t, err)
	return m
}

// RecordsOf reads the records of a file that must be intact.
func RecordsOf(t testing.TB, path string) [][]byte {
	t.Helper()
	r, err := shard.Open(t.Context(), path, tfrecord.ReaderOptions{})
	Check(t, err)
	defer r.Close()
	var list [][]byte
	for record, err := range r.All() {
		Check(t, err)
		list = append(list, bytes.Clone(record))
	}
	return list
}

func IndexOf(t testing.TB, path string) []tfrecord.IndexEntry {
	t.Helper()
	r, err := shard.Open(t.Context(), path, tfrecord.ReaderOptions{})
	Check(t, err)
	defer r.Close()
	entries, err := tfrecord.BuildIndex(r.Reader)
	Check(t, err)
	return entries
}
