package reader

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeIndex writes the index file of a plain file.
func writeIndex(t testing.TB, path string, entries ...tfrecord.IndexEntry) {
	t.Helper()
	var b []byte
	for _, e := range entries {
		b = tfrecord.AppendIndex(b, e)
	}
	index := manifest.IndexPath(path)
	if err := os.MkdirAll(filepath.Dir(index), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLenAndAt(t *testing.T) {
	lengths := []int{40, 0, 7, 1}
	want := readertest.InOrder(lengths...)
	for _, index := range []string{"none", "good", "of another file", "cut off"} {
		dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
		for i := range lengths {
			at := readertest.Offsets(t, readertest.ShardPath(dir, i))
			var entries []tfrecord.IndexEntry
			for k := range lengths[i] {
				entries = append(entries, tfrecord.IndexEntry{Offset: at[k], Size: at[k+1] - at[k]})
			}
			switch {
			case index == "good":
			case index == "of another file" && len(entries) > 2:
				entries[1].Size++
			case index == "cut off" && len(entries) > 1:
				entries = entries[:len(entries)-1]
			default:
				continue
			}
			writeIndex(t, readertest.ShardPath(dir, i), entries...)
		}
		set := open(t, dir, Options{Worker: 1, Workers: 2})
		n, err := set.Len(t.Context())
		if err != nil || n != int64(len(want)) {
			t.Errorf("index %s: Len() = %d, %v", index, n, err)
		}
		buf := []byte("kept")
		for i, id := range want {
			r, err := set.At(t.Context(), buf, int64(i))
			if err != nil || idOf(r) != id || !bytes.Equal(r.Data, readertest.Numbered(id/1000, id%1000)) {
				t.Fatalf("index %s: At(%d) = %+v, %v", index, i, r, err)
			}
			if r.Number != int64(id%1000) || int(r.File) != id/1000 {
				t.Errorf("index %s: At(%d) is record %d of file %d", index, i, r.Number, r.File)
			}
		}
		for _, n := range []int64{-1, int64(len(want))} {
			if _, err := set.At(t.Context(), nil, n); err == nil {
				t.Errorf("At(%d): no error", n)
			}
		}
	}
}

func TestCompressedFilesHaveNoPlaces(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionGzip, 5, 6)
	set := open(t, dir, Options{})
	if n, err := set.Len(t.Context()); err != nil || n != 11 {
		t.Errorf("Len() = %d, %v", n, err)
	}
	if _, err := set.At(t.Context(), nil, 0); err == nil {
		t.Error("At: no error")
	}
	if _, err := idsUntil(set.ShuffleAll(ShuffleAllOptions{})); err == nil {
		t.Error("ShuffleAll: no error")
	}
}
