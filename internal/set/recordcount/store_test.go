package recordcount

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Counting the records of an object takes a request for each part of 4 MiB, whatever the size of
// the records, those larger than a part one each. Detection reads the first record in addition, and
// the parts after it.
func TestCountsInParts(t *testing.T) {
	const size = 20 << 20
	for _, record := range []int{184, 17 << 10, 110 << 10, 1 << 20, 6 << 20} {
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var file bytes.Buffer
		w, err := tfrecord.NewWriter(&file, tfrecord.WriterOptions{})
		check(err)
		n := int64(0)
		for ; n*int64(record) < size; n++ {
			check(w.WriteRecord(make([]byte, record)))
		}
		check(w.Close())
		store := storagetest.New()
		store.Put("a", file.Bytes())
		var opens atomic.Int64
		store.Fault = func(kind, _ string) error {
			if kind == "open" {
				opens.Add(1)
			}
			return nil
		}
		storage.Register("mem", func(context.Context, string) (storage.Store, error) { return store, nil })
		t.Cleanup(storage.Forget)
		f := Counted{Source: shard.Source{Path: "mem://store/a"}, Size: int64(file.Len())}
		check(f.Count(t.Context(), 0, nil))
		if f.Records != n {
			t.Errorf("records of %d bytes: %d, want %d", record, f.Records, n)
		}
		if got := opens.Load(); got > 11 {
			t.Errorf("records of %d bytes: %d requests, want 11 at most", record, got)
		} else {
			t.Logf("records of %d bytes: %d requests", record, got)
		}
	}
}
