package write

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// fill gives the features of a record of 184 bytes.
func fill(b interface {
	Int64(key string, v ...int64)
	Float(key string, v ...float32)
}, i int, x []float32) {
	b.Int64("label", int64(i%3))
	for j := range x {
		x[j] = float32(i + j)
	}
	b.Float("x", x...)
}

// BenchmarkSet writes a set of small records, with Loop as its peer: the same records, framed, with
// checksums and a SHA-256 of the file, in the order in which they come.
//
//	TMPDIR=/dev/shm go test -run xxx -bench Set ./shard/write
func BenchmarkSet(b *testing.B) {
	const records = 1_000_000
	x := make([]float32, 36)
	b.Run("Loop", func(b *testing.B) {
		for range b.N {
			f, err := os.Create(filepath.Join(b.TempDir(), "a.tfrecord"))
			if err != nil {
				b.Fatal(err)
			}
			sum := sha256.New()
			w, err := tfrecord.NewWriter(io.MultiWriter(f, sum), tfrecord.WriterOptions{})
			if err != nil {
				b.Fatal(err)
			}
			var e tfrecord.Builder
			var record []byte
			for i := range records {
				e.Reset()
				fill(&e, i, x)
				record = e.Append(record[:0])
				if err := w.WriteRecord(record); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			f.Close()
			sum.Sum(nil)
			b.SetBytes(int64(records * len(record)))
		}
	})
	for name, o := range map[string]Options{"ByKey": {}, "InOrder": {InOrder: true}} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				o.Shards = 16
				s, err := Create(b.Context(), filepath.Join(b.TempDir(), "set"), o)
				if err != nil {
					b.Fatal(err)
				}
				for i := range records {
					e := s.Example(fmt.Sprintf("%08d", i))
					fill(e, i, x)
					if err := e.Write(); err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(s.Progress().Bytes)
				if _, err := s.Finish(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
