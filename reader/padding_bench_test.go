package reader

import (
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// BenchmarkPadding makes batches of lists of 1 to 512 numbers, most of them short; one operation
// is one record. Plain batches are ragged columns, padded ones tensors, and packed ones rows of 512
// numbers; pad/op is the padding of a record, in numbers.
func BenchmarkPadding(b *testing.B) {
	const batch = 64
	rnd := rand.New(rand.NewPCG(3, 3))
	dir := b.TempDir()
	for file := range 4 {
		records := make([][]byte, 10_000)
		for i := range records {
			ids := make([]int64, 1+rnd.IntN(1+rnd.IntN(512)))
			for k := range ids {
				ids[k] = int64(rnd.IntN(32_000))
			}
			records[i] = settest.Example(func(b *tfrecord.Builder) { b.Int64("ids", ids...) })
		}
		readertest.WriteFile(b, readertest.ShardPath(dir, file), tfrecord.CompressionNone, records...)
	}
	pipe := open(b, dir, Options{Seed: 1}).Interleave(4, 1).Shuffle(1000).Repeat(-1)
	schema := columns.Schema{{Key: "ids", Kind: tfrecord.KindInt64, Ragged: true}}
	type sequence struct {
		data []byte
		ids  int
	}
	sequences := MapWith(pipe, func() func(Record) (sequence, error) {
		var e tfrecord.Example
		return func(r Record) (sequence, error) {
			if err := e.Parse(r.Data); err != nil {
				return sequence{}, err
			}
			ids, _ := e.Get("ids")
			return sequence{r.Data, ids.Len()}, nil
		}
	}, MapOptions{})
	type tensor struct{ rows, pad int }
	ragged := func(records []sequence) (c columns.Columns, err error) {
		parser, err := columns.NewParser(schema)
		if err != nil {
			return c, err
		}
		parser.Reset(&c)
		for _, s := range records {
			if err := parser.Append(&c, s.data); err != nil {
				return c, err
			}
		}
		return c, nil
	}
	plain := func(records []sequence) (tensor, error) {
		c, err := ragged(records)
		return tensor{c.Rows, 0}, err
	}
	padded := func(records []sequence) (t tensor, err error) {
		c, err := ragged(records)
		if err != nil {
			return t, err
		}
		var dense columns.Column
		if err := c.Get("ids").Dense(&dense, 0, nil); err != nil {
			return t, err
		}
		return tensor{c.Rows, len(dense.Int64s) - len(c.Get("ids").Int64s)}, nil
	}
	buckets := BucketByLength(sequences, func(s sequence) int { return s.ids }, BucketOptions{
		Boundaries: []int{17, 33, 65, 129, 257}, BatchSizes: []int{batch, batch, batch, batch, batch, batch},
	})
	lists := Map(pipe, func(r Record) ([]int64, error) {
		var e tfrecord.Example
		if err := e.Parse(r.Data); err != nil {
			return nil, err
		}
		ids, _ := e.Get("ids")
		return ids.AppendInt64s(make([]int64, 0, ids.Len())), nil
	}, MapOptions{})
	packed := func(b *PackedBatch[int64]) (t tensor, err error) {
		for i, n := range b.Segments {
			if n > 0 && b.Positions[i] == 0 {
				t.rows++
			}
		}
		t.pad = len(b.Tokens) - b.Filled
		return t, nil
	}
	for _, way := range []struct {
		name string
		flow Flow[tensor]
	}{
		{"plain", Map(Batch(sequences, batch, BatchOptions{}), plain, MapOptions{})},
		{"padded", Map(Batch(sequences, batch, BatchOptions{}), padded, MapOptions{})},
		{"buckets, padded", Map(buckets, padded, MapOptions{})},
		{"packed", Map(Pack(lists, PackOptions{Length: 512, Batch: 16}), packed, MapOptions{})},
	} {
		b.Run(way.name, func(b *testing.B) {
			r, err := way.flow.Start(b.Context(), From{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			b.ReportAllocs()
			rows, pad := 0, 0
			for done := 0; b.Loop(); done++ {
				if done < rows {
					continue
				}
				t, err := r.Next()
				if err != nil {
					b.Fatal(err)
				}
				rows, pad = rows+t.rows, pad+t.pad
			}
			b.ReportMetric(float64(pad)/float64(max(rows, 1)), "pad/op")
		})
	}
}
