package records

import (
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// Where the index has some of the offsets only, a global order has all records.
func TestShuffleAllWithASparseIndex(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900)
	for _, stride := range []int{2, 16, 1024} {
		set := open(t, dir, pipeline.Options{})
		indexes, err := set.AllIndexes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x := indexes[0]
		var kept []int64
		for i := 0; i < len(x.Offsets); i += stride {
			kept = append(kept, x.Offsets[i])
		}
		x.Offsets, x.Stride = kept, int64(stride)
		ids := map[string]bool{}
		for _, id := range read(t, set, ShuffleAll(set, ShuffleAllOptions{}), func(r pipeline.Record) string { return string(r.Data) }) {
			ids[id] = true
		}
		if len(ids) != 900 {
			t.Errorf("an offset of %d records: %d records, want 900", stride, len(ids))
		}
	}
}
