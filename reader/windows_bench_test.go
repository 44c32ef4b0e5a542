package reader

import (
	"testing"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// BenchmarkSequences parses the same values as rows of a table, as lists of 32 steps, as episodes of
// 32 flat steps, and as windows of these: one operation is a row, or a step.
func BenchmarkSequences(b *testing.B) {
	const rows, steps, batch = 64 << 10, 32, 1024
	values := make([]float32, 28)
	table := columns.Schema{{Key: "label", Kind: tfrecord.KindInt64}, {Key: "v", Kind: tfrecord.KindFloat, Shape: []int{28}}}
	of := func(s columns.Steps) columns.Schema {
		all := columns.Schema{table[0], table[1]}
		for i := range all {
			all[i].Steps, all[i].Length = s, columns.Longest
		}
		return all
	}
	window := columns.WindowSpec{Schema: of(columns.FlatSteps), Length: 8, Stride: 8}
	for _, bench := range []struct {
		name   string
		steps  int // of a row of a batch
		schema columns.Schema
		record func(i int) []byte
		pipe   func(*Set) Pipe
	}{
		{"rows", 1, table, func(i int) []byte {
			return settest.Example(func(b *tfrecord.Builder) { b.Int64("label", int64(i)); b.Float("v", values...) })
		}, nil},
		{"lists", steps, of(columns.ListSteps), func(i int) []byte {
			var s tfrecord.SequenceBuilder
			for k := range steps {
				s.Int64("label", int64(i+k))
				s.Float("v", values...)
			}
			return s.Append(nil)
		}, nil},
		{"flat", steps, of(columns.FlatSteps), flatEpisode(values, steps), nil},
		{"windows", 8, of(columns.FlatSteps), flatEpisode(values, steps), func(s *Set) Pipe { return Windows(s.Interleave(4, 1), window) }},
		{"windows, shuffled", 8, of(columns.FlatSteps), flatEpisode(values, steps), func(s *Set) Pipe { return Windows(s.Interleave(4, 1), window).Shuffle(1000) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			set := writeRecords(b, Options{}, 4, func(int) (records [][]byte) {
				each := bench.steps
				if bench.pipe != nil {
					each = steps
				}
				for i := 0; i < rows/4; i += each {
					records = append(records, bench.record(i))
				}
				return records
			})
			pipe := set.Interleave(4, 1)
			if bench.pipe != nil {
				pipe = bench.pipe(set)
			}
			s, err := ParseColumns(pipe.Repeat(-1), ColumnSpec{Schema: bench.schema, Batch: batch / bench.steps}).Start(b.Context(), From{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			b.SetBytes(28*4 + 8)
			b.ReportAllocs()
			left := 0
			for b.Loop() {
				if left--; left >= 0 {
					continue
				}
				c, err := s.Next()
				if err != nil {
					b.Fatal(err)
				}
				left = c.Get("label").Len() - 1
			}
		})
	}
}

// flatEpisode returns a function that makes an episode in RLDS format.
func flatEpisode(values []float32, steps int) func(i int) []byte {
	return func(i int) []byte {
		return settest.Example(func(b *tfrecord.Builder) {
			var labels []int64
			var all []float32
			for k := range steps {
				labels, all = append(labels, int64(i+k)), append(all, values...)
			}
			b.Int64("label", labels...)
			b.Float("v", all...)
		})
	}
}
