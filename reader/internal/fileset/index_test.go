package fileset

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// With more records than the index may hold, some are found by reading on from others.
func TestSparseIndex(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900)
	at := readertest.Offsets(t, readertest.ShardPath(dir, 0))
	for _, most := range []int{1, 2, 3, 10, 899, 900} {
		x := &FileIndex{Stride: 1, plain: true, Size: at[900]}
		for _, offset := range at[:900] {
			x.Add(offset, most)
		}
		if len(x.Offsets) > most || x.Records != 900 {
			t.Fatalf("%d offsets of %d records, want %d at most", len(x.Offsets), x.Records, most)
		}
		set := open(t, dir, pipeline.Options{})
		set.indexes[0] = x
		for n := int64(0); n <= 900; n += 37 {
			c, err := set.place(t.Context(), 0, x, n)
			if err != nil || c != (pipeline.Cursor{Number: n, Offset: at[n]}) {
				t.Errorf("of %d offsets: record %d is at %+v, %v; want %d", most, n, c, err, at[n])
			}
		}
		if r, err := set.At(t.Context(), nil, 777); err != nil || !bytes.Equal(r.Data, readertest.Numbered(0, 777)) {
			t.Errorf("of %d offsets: At(777) = %+v, %v", most, r, err)
		}
	}
}

// A file that is shorter than its index is an error with a position, and never a wrong record.
func TestFileThatChangedAfterItsIndex(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 20)
	set := open(t, dir, pipeline.Options{})
	if _, err := set.Len(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := readertest.Offsets(t, readertest.ShardPath(dir, 0))
	readertest.Change(t, readertest.ShardPath(dir, 0), func(data []byte) []byte { return data[:at[15]+4] })
	if _, err := set.At(t.Context(), nil, 15); !errors.Is(err, ErrChanged) {
		t.Errorf("error %v", err)
	}
	if err := set.stampFiles(t.Context()); err != nil { // as if it had always been so
		t.Fatal(err)
	}
	_, err := set.At(t.Context(), nil, 15)
	var located *tfrecord.Error
	if !errors.As(err, &located) || located.Record != 15 {
		t.Errorf("error %v", err)
	}
}
