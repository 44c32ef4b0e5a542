package shard_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// A set is written to and read from a file:// URL as if it were the path in it.
func TestFileURLs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set")
	t.Chdir(t.TempDir())
	d, err := shard.OpenDir(t.Context(), "file://"+path, shard.DirOptions{})
	check(t, err)
	w, err := d.Create("a-train.tfrecord-00000-of-00001", shard.WriterOptions{})
	check(t, err)
	check(t, w.WriteRecord([]byte("x")))
	info, err := w.Commit()
	check(t, err)
	m := &manifest.Manifest{
		Format: manifest.Format, Version: manifest.Version, Name: "a", Compression: "none",
		Splits: []manifest.Split{{Name: "train", Records: 1, Shards: []manifest.Shard{info}}},
	}
	check(t, d.PutSet(m))
	check(t, d.Close())
	sources, err := shard.Expand(t.Context(), []string{"file://" + path}, shard.ExpandOptions{})
	check(t, err)
	if len(sources) != 1 || sources[0].Info == nil || sources[0].Info.Records != 1 {
		t.Errorf("sources: %+v", sources)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("the working directory has %v, %v", entries, err)
	}
	check(t, os.Remove(filepath.Join(path, info.File)))
	if _, err := shard.Expand(t.Context(), []string{"file://" + path}, shard.ExpandOptions{}); err == nil {
		t.Error("a set without its shard is taken for whole")
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
