package tfrecord

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestFrame compares the frames of records of many sizes with those written, for all compressions
// and buffer sizes.
func TestFrame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []Compression{CompressionNone, CompressionGzip, CompressionZlib, CompressionZstd} {
		var records [][]byte
		for range 60 {
			records = append(records, noise(rng.IntN(1<<rng.IntN(18))))
		}
		r := NewReader(bytes.NewReader(file(t, WriterOptions{Compression: c}, records)), ReaderOptions{BufferSize: 64 + rng.IntN(4096)})
		if r.Frame() != nil {
			t.Error("a frame before the first record")
		}
		for i, want := range records {
			got, err := r.Next()
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%v: record %d: %d bytes, %v", c, i, len(got), err)
			}
			if !bytes.Equal(r.Frame(), AppendFrame(nil, want)) {
				t.Fatalf("%v: record %d: the frame is another one", c, i)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestALargeRecordIsHeldOnce reads compressed records of sizes that do not match the growth steps
// of the buffer, and measures what is allocated.
func TestALargeRecordIsHeldOnce(t *testing.T) {
	for _, size := range []int{5 << 20, 17 << 20, 33<<20 + 1, 64 << 20} {
		data := file(t, WriterOptions{Compression: CompressionGzip}, [][]byte{make([]byte, size)})
		r := NewReader(bytes.NewReader(data), ReaderOptions{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		record, err := r.Next()
		runtime.ReadMemStats(&after)
		if err != nil || len(record) != size {
			t.Fatalf("%d bytes, %v", len(record), err)
		}
		// An eighth for the next record, an eighth for the previous step, and a little more.
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(size)*21/16+1<<20 {
			t.Errorf("%d bytes allocated for a record of %d", n, size)
		}
	}
}
