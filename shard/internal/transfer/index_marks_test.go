package transfer

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/tfrecord"
)

// An index says where records begin, and nothing if it is one of other records or bytes, or is no
// index.
func TestIndexMarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		n := 1 + rng.IntN(40_000)
		var index []byte
		var want []recordcount.FrameMark
		var records []int64
		size := int64(0)
		for i := range n {
			if i > 0 && rng.IntN(n) < 5 {
				records = append(records, int64(i))
				want = append(want, recordcount.FrameMark{Record: int64(i), Offset: size})
			}
			frame := tfrecord.Overhead + rng.Int64()>>(40+rng.IntN(24))
			index = tfrecord.AppendIndex(index, tfrecord.IndexEntry{Offset: size, Size: frame})
			size += frame
		}
		marks := func(index []byte, total, size int64) []recordcount.FrameMark {
			return indexMarks(context.Background(), bytes.NewReader(index), total, size, records)
		}
		total := int64(n)
		if got := marks(index, total, size); !slices.Equal(got, want) {
			t.Fatalf("%d records: the marks are %v, want %v", n, got, want)
		}
		last := bytes.LastIndexByte(index[:len(index)-1], '\n') + 1
		for name, got := range map[string][]recordcount.FrameMark{
			"one record more":       marks(index, total+1, size),
			"one byte more":         marks(index, total, size+1),
			"a line more":           marks(append(slices.Clone(index), index[last:]...), total, size),
			"no last line":          marks(index[:last], total, size),
			"no end":                marks(index[:len(index)-1], total, size),
			"a last line of others": marks(append(slices.Clone(index[:last]), "x y\n"...), total, size),
		} {
			if got != nil {
				t.Errorf("%d records, %s: the marks are %v, want none", n, name, got)
			}
		}
	}
}
