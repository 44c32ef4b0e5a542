package stats

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// BenchmarkMeasure reads table-like Examples of 32 features: 28 distinct floats, 3 int64s and a
// text.
func BenchmarkMeasure(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	dir := filepath.Join(b.TempDir(), "out")
	var bytes int64
	writeSet(b, dir, 2, func(yield func([]byte)) {
		var builder tfrecord.Builder
		for range 10_000 {
			builder.Reset()
			for i := range 28 {
				builder.Float(fmt.Sprintf("column%02d", i), float32(rnd.NormFloat64()))
			}
			for i := range 3 {
				builder.Int64(fmt.Sprintf("number%02d", i), rnd.Int64N(1<<(4+i*8)))
			}
			builder.String("text", fmt.Sprint("word", rnd.IntN(200)))
			record := builder.Append(nil)
			bytes += int64(len(record))
			yield(record)
		}
	})
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Measure(context.Background(), []string{dir}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
