package reader

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestShuffleAllBatchReads compares records of all sizes, damaged ones among them, with the order
// itself, over batch reads that grow, from the beginning and resumed in each of them.
func TestShuffleAllBatchReads(t *testing.T) {
	const perFile = 25_001
	var all [][]byte
	for i := range 3 * perFile {
		all = append(all, fmt.Appendf(nil, "%d %s", i, bytes.Repeat([]byte{byte(i)}, i%17)))
	}
	all[7], all[perFile] = nil, nil
	all[perFile+3] = bytes.Repeat([]byte("large"), 1<<20)
	dir := t.TempDir()
	for i := range 3 {
		readertest.WriteFile(t, readertest.ShardPath(dir, i), tfrecord.CompressionNone, all[i*perFile:(i+1)*perFile]...)
	}
	data, err := os.ReadFile(readertest.ShardPath(dir, 2))
	if err != nil {
		t.Fatal(err)
	}
	var damaged []int64
	for offset, number := 0, int64(2*perFile); offset < len(data); number++ {
		n := len(all[number])
		if number%9973 == 0 {
			data[offset+tfrecord.HeaderSize+n-1] ^= 1
			damaged = append(damaged, number)
		}
		offset += tfrecord.Overhead + n
	}
	if err := os.WriteFile(readertest.ShardPath(dir, 2), data, 0o644); err != nil {
		t.Fatal(err)
	}
	want := make([]int64, 0, len(all))
	o := records.NewOrder(int64(len(all)), 1, records.DefaultWindow, pipeline.Key(5, pipeline.ForOrder, 0))
	for i := range int64(len(all)) {
		if n := o.At(i); !slices.Contains(damaged, n) {
			want = append(want, n)
		}
	}
	for _, memory := range []int64{0, 8 << 20} {
		pipe := open(t, dir, Options{Seed: 5, Memory: memory, SkipBad: SkipBad{Count: 100}}).ShuffleAll(ShuffleAllOptions{})
		read := func(s *Stream[Record], from int, stop func(n int) bool) {
			t.Helper()
			n := from
			for ; !stop(n); n++ {
				r, err := s.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				number := int64(r.File)*perFile + r.Number
				if n == len(want) || number != want[n] || !bytes.Equal(r.Data, all[number]) {
					t.Fatalf("Memory %d, from %d: element %d is record %d, of %d bytes", memory, from, n, number, len(r.Data))
				}
			}
			if !stop(n) && n != len(want) {
				t.Fatalf("Memory %d, from %d: %d elements, want %d", memory, from, n, len(want))
			}
		}
		s, err := pipe.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		at := 0
		for _, to := range []int{100, records.FirstSteps - 1, records.FirstSteps + 1, 3*records.FirstSteps - 7, 3*records.FirstSteps + 9, len(want)} {
			read(s, at, func(n int) bool { return n == to })
			at = to
			resumed, err := pipe.Start(t.Context(), From{State: new(s.State())})
			if err != nil {
				t.Fatal(err)
			}
			read(resumed, at, func(n int) bool { return n == to+50 })
			resumed.Close()
		}
	}
}

func TestShuffleAllSpreadsFiles(t *testing.T) {
	lengths := []int{50, 50, 50, 50}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
	want := readertest.InOrder(lengths...)
	read := func(o Options, a ShuffleAllOptions, epochs int) []int {
		return idsOf(t, open(t, dir, o).ShuffleAll(a).Repeat(epochs))
	}
	for _, a := range []ShuffleAllOptions{{}, {Block: 10}, {Block: 7, Window: 3}} {
		x, y, z := read(Options{Seed: 1}, a, 2), read(Options{Seed: 1, Parallelism: 7, Memory: 1}, a, 2), read(Options{Seed: 2}, a, 2)
		if !slices.Equal(x, y) {
			t.Errorf("%+v: the same seed gives another order", a)
		}
		if slices.Equal(x, z) || slices.Equal(x[:200], x[200:]) {
			t.Errorf("%+v: another seed, or epoch, gives the same order", a)
		}
		first := 0
		for _, id := range x[:50] {
			if id < 1000 {
				first++
			}
		}
		if a.Block == 0 && (first < 3 || first > 25) {
			t.Errorf("%d of the first 50 are of the first file", first)
		}
		for _, epoch := range [][]int{x[:200], x[200:]} {
			if !slices.Equal(slices.Sorted(slices.Values(epoch)), want) {
				t.Errorf("%+v: an epoch is not complete", a)
			}
		}
		a.SameEachEpoch = true
		if s := read(Options{Seed: 1}, a, 2); !slices.Equal(s[:200], s[200:]) {
			t.Errorf("%+v: SameEachEpoch gives another order", a)
		}
	}
}
