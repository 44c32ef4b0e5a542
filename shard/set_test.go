package shard

import (
	"context"
	"testing"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeSet writes a set named "t", with its manifest. Its only split is train, and each of its
// shards has the records that give yields.
func writeSet(t testing.TB, path string, shards int, give func(yield func([]byte))) *manifest.Manifest {
	t.Helper()
	return writeCompressedSet(t, path, shards, tfrecord.CompressionNone, give)
}

func writeCompressedSet(t testing.TB, path string, shards int, c tfrecord.Compression, give func(yield func([]byte))) *manifest.Manifest {
	t.Helper()
	dir, err := setdir.Open(context.Background(), path, setdir.Options{})
	check(t, err)
	defer dir.Close()
	m := &manifest.Manifest{Format: manifest.Format, Version: manifest.Version, Name: "t", Compression: c.String()}
	split := manifest.Split{Name: "train"}
	for i := range shards {
		name := Name{Dataset: m.Name, Split: split.Name, Index: i, Count: shards}
		w, err := dir.Create(name.String(), setdir.WriterOptions{Compression: c})
		check(t, err)
		give(func(record []byte) { check(t, w.WriteRecord(record)) })
		info, err := w.Commit()
		check(t, err)
		split.Shards = append(split.Shards, info)
		split.Records += info.Records
	}
	m.Splits = []manifest.Split{split}
	putManifest(t, dir, m)
	return m
}

func putManifest(t testing.TB, dir *setdir.Dir, m *manifest.Manifest) {
	t.Helper()
	data, err := m.Encode()
	check(t, err)
	check(t, dir.Put(manifest.File, data))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
