//go:build unix

package reader

import (
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// benchmarkParse parses Examples of some 184 bytes into columns, from 16 files again and again; one
// operation is one record. It reports the processor time of the whole process.
func benchmarkParse(b *testing.B, build func(*Set) Pipe) {
	dir := b.TempDir()
	for i := range 16 {
		records := make([][]byte, 20_000)
		for k := range records {
			records[k] = settest.Example(func(e *tfrecord.Builder) {
				e.Int64("label", int64(k%10))
				e.Float("values", make([]float32, 24)...)
				e.Bytes("name", []byte("record"))
			})
		}
		readertest.WriteFile(b, readertest.ShardPath(dir, i), tfrecord.CompressionNone, records...)
	}
	r, err := ParseColumns(build(open(b, dir, Options{Seed: 1})).Repeat(-1), ColumnSpec{Batch: 128}).Start(b.Context(), From{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	next := func() int {
		batch, err := r.Next()
		if err != nil {
			b.Fatal(err)
		}
		return batch.Rows
	}
	for n := 0; n < 40_000; { // full buffers
		n += next()
	}
	began := processorTime(b)
	b.ReportAllocs()
	left := 0
	for b.Loop() {
		if left--; left < 0 {
			left = next() - 1
		}
	}
	b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op")
}

// processorTime returns what the process has used, in nanoseconds.
func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkParse(b *testing.B) {
	benchmarkParse(b, func(s *Set) Pipe { return s.Interleave(16, 1) })
}

func BenchmarkParseShuffle(b *testing.B) {
	benchmarkParse(b, func(s *Set) Pipe { return s.Interleave(16, 1).Shuffle(10_000) })
}

func BenchmarkParseShuffleAll(b *testing.B) {
	benchmarkParse(b, func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) })
}

func BenchmarkParseMix(b *testing.B) {
	benchmarkParse(b, func(s *Set) Pipe {
		half := func(sources []shard.Source) *Set {
			var paths []string
			for _, source := range sources {
				paths = append(paths, source.Path)
			}
			set, err := OpenAll(b.Context(), paths, s.files.Opts)
			if err != nil {
				b.Fatal(err)
			}
			return set
		}
		even, odd := half(s.Sources()[:8]), half(s.Sources()[8:])
		return Mix(MixOptions{Weights: []float64{2, 1}}, even.Interleave(8, 1), odd.Interleave(8, 1))
	})
}
