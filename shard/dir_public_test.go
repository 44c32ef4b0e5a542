package shard_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestDir writes a set by hand, as a program outside this module would.
func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "birds")
	dir, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shard.OpenDir(t.Context(), path, shard.DirOptions{}); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("a second process: %v, want ErrBusy", err)
	}
	if m, err := dir.Manifest(); m != nil || err != nil || dir.Path() != path {
		t.Errorf("an empty directory %s: %v, %v", dir.Path(), m, err)
	}
	abandoned, err := dir.Create("birds-train.tfrecord-00000-of-00001", shard.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	abandoned.Abort()
	w, err := dir.Create("birds-train.tfrecord-00000-of-00001", shard.WriterOptions{Compression: tfrecord.CompressionNone})
	if err != nil {
		t.Fatal(err)
	}
	frames := tfrecord.AppendFrame(tfrecord.AppendFrame(nil, []byte("heron")), []byte("kite"))
	err = errors.Join(w.WriteRecord([]byte("stork")), w.WriteFrames(frames, []int{5 + tfrecord.Overhead, 4 + tfrecord.Overhead}))
	if err != nil || w.Records() != 3 {
		t.Fatal(w.Records(), err)
	}
	info, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest.Manifest{
		Format: manifest.Format, Version: manifest.Version, Name: "birds", Compression: "none",
		Splits: []manifest.Split{{Name: "train", Records: info.Records, Shards: []manifest.Shard{info}}},
	}
	if err := errors.Join(dir.PutSet(m), dir.Put("notes.txt", []byte("seen")), dir.Close()); err != nil {
		t.Fatal(err)
	}

	dir, err = shard.OpenDir(t.Context(), path, shard.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if got, err := dir.Manifest(); err != nil || got.Splits[0].Shards[0].SHA256 != info.SHA256 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := dir.Read("notes.txt", 4); string(got) != "seen" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := dir.Read("notes.txt", 3); err == nil {
		t.Error("a file over the limit was read")
	}
	if err := dir.Remove("../notes.txt"); err == nil {
		t.Error("a name outside of the directory was removed")
	}
	if err := dir.Remove("notes.txt", "notes.txt"); err != nil {
		t.Error(err)
	}
	if is, err := dir.Exists("notes.txt"); is || err != nil {
		t.Errorf("removed, and there: %v, %v", is, err)
	}
	sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
	if err != nil || len(sources) != 1 {
		t.Fatal(sources, err)
	}
	var got []string
	r, err := shard.Open(t.Context(), sources[0].Path, tfrecord.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for record, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(record))
	}
	if !slices.Equal(got, []string{"stork", "heron", "kite"}) {
		t.Errorf("read %q", got)
	}
	if _, err := shard.Open(t.Context(), filepath.Join(path, "none"), tfrecord.ReaderOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
