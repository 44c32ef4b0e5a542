package gomlx

import (
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// Batches of 1 MiB of floats, alone and as tensors. The tensors are the only memory that a batch
// costs, and their filling the only copy.
func BenchmarkDataset(b *testing.B) {
	const rows, width, total = 256, 1024, 2048
	dir := b.TempDir()
	settest.ExampleFile(b, filepath.Join(dir, "x.tfrecord"), total, func(i int, e *tfrecord.Builder) {
		e.Float("x", make([]float32, width)...)
	})
	set, err := reader.Open(b.Context(), dir, reader.Options{})
	if err != nil {
		b.Fatal(err)
	}
	flow := reader.ParseColumns(set.Records().Cache(reader.CacheOptions{}).Repeat(-1), reader.ColumnSpec{Batch: rows})
	b.Run("batches", func(b *testing.B) {
		stream, err := flow.Start(b.Context(), reader.From{})
		if err != nil {
			b.Fatal(err)
		}
		defer stream.Close()
		b.SetBytes(4 * rows * width)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := stream.Next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, inputs := range []int{1, 4} {
		b.Run(fmt.Sprintf("tensors-%d", inputs), func(b *testing.B) {
			var spec Columns
			for range inputs {
				spec.Inputs = append(spec.Inputs, Column{Key: "x"})
			}
			ds, err := New(b.Context(), "x", flow, reader.From{}, spec)
			if err != nil {
				b.Fatal(err)
			}
			defer ds.Close()
			b.SetBytes(4 * rows * width)
			b.ReportAllocs()
			next, stop := iter.Pull2(ds.Iter())
			defer stop()
			for b.Loop() {
				if _, err, _ := next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
