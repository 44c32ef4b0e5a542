package reader

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestShuffle(t *testing.T) {
	lengths := []int{300, 700, 1, 0, 999}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
	want := readertest.InOrder(lengths...)
	place := map[int]int{}
	for i, id := range want {
		place[id] = i
	}
	for _, buffer := range []int{1, 2, 16, 512, 1000, 1999, 2000, 2001, 50_000} {
		set := open(t, dir, Options{Seed: 5})
		a, b := idsOf(t, set.Records().Shuffle(buffer)), idsOf(t, set.Records().Shuffle(buffer))
		if !slices.Equal(a, b) {
			t.Errorf("buffer %d: the order changes", buffer)
		}
		if !slices.Equal(slices.Sorted(slices.Values(a)), want) {
			t.Errorf("buffer %d: other records come out", buffer)
		}
		if slices.Equal(a, want) != (buffer == 1) {
			t.Errorf("buffer %d: in order %v", buffer, slices.Equal(a, want))
		}
		for i, id := range a {
			if place[id] >= i+buffer {
				t.Fatalf("buffer %d: element %d comes at %d", buffer, place[id], i)
			}
		}
		seed := uint64(6)
		if c := idsOf(t, set.Records().ShuffleWith(ShuffleOptions{Buffer: buffer, Seed: &seed})); buffer > 1 && slices.Equal(a, c) {
			t.Errorf("buffer %d: another seed gives the same order", buffer)
		}
	}
}

func TestShuffleAndEpochs(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 40, 30)
	set := open(t, dir, Options{})
	want := readertest.InOrder(40, 30)
	got := idsOf(t, set.Records().Shuffle(50).Repeat(3))
	for i := range 3 {
		if epoch := slices.Clone(got[70*i : 70*i+70]); !slices.Equal(slices.Sorted(slices.Values(epoch)), want) {
			t.Errorf("epoch %d has other records: %v", i, epoch)
		}
	}
	if slices.Equal(got[:70], got[70:140]) || slices.Equal(got[70:140], got[140:]) {
		t.Error("two epochs have the same order")
	}
	got = idsOf(t, set.Records().ShuffleWith(ShuffleOptions{Buffer: 50, SameEachEpoch: true}).Repeat(2))
	if !slices.Equal(got[:70], got[70:]) {
		t.Error("SameEachEpoch: two epochs differ")
	}
	// After a Repeat, epochs do mix, as in tf.data.
	got = idsOf(t, set.Records().Repeat(2).Shuffle(50))
	if slices.Equal(slices.Sorted(slices.Values(got[:70])), want) {
		t.Error("a shuffle behind Repeat keeps epochs apart")
	}
	// Two consecutive shuffles draw different numbers.
	once, twice := idsOf(t, set.Records().Shuffle(70)), idsOf(t, set.Records().Shuffle(70).Shuffle(70))
	if slices.Equal(once, twice) {
		t.Error("a second shuffle does nothing")
	}
}

// With a buffer for all elements, each is about equally likely at each position.
func TestShuffleIsEven(t *testing.T) {
	const n, rounds = 12, 1200
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, n)
	var at [n][n]int
	got := idsOf(t, open(t, dir, Options{Seed: 3}).Records().Shuffle(n).Repeat(rounds))
	for i, id := range got {
		at[id][i%n]++
	}
	const want = rounds / n
	for id, places := range at {
		for place, k := range places {
			if math.Abs(float64(k-want)) > 6*math.Sqrt(want) {
				t.Errorf("%d is at place %d in %d of %d epochs, want about %d", id, place, k, rounds, want)
			}
		}
	}
}

// Large records are held by reference, small ones copied: their bytes are the same after the
// buffer.
func TestShuffleKeepsBytes(t *testing.T) {
	dir := t.TempDir()
	var records [][]byte
	for i := range 60 {
		records = append(records, bytes.Repeat([]byte{byte(i)}, 1+i*i*37%(3*stages.LargeRecord)))
	}
	readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionNone, records...)
	n := 0
	for r, err := range open(t, dir, Options{Memory: 1}).Records().Shuffle(7).Repeat(4).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Data, records[r.Number]) {
			t.Fatalf("record %d has other bytes", r.Number)
		}
		n++
	}
	if n != 240 {
		t.Errorf("%d records, want 240", n)
	}
}

// A buffer takes as much memory after many records, and after epochs that were left early, as in the
// beginning, whatever the size of the records.
func TestShuffleMemoryIsSteady(t *testing.T) {
	sizes := []int{100, stages.LargeRecord, stages.LargeMemory, stages.LargeRecord - 1, 20_000, stages.LargeMemory - 1, 100_000}
	if race.Enabled {
		sizes = sizes[:3] // one of each kind
	}
	for _, size := range sizes {
		var records [][]byte
		for i := range 60 {
			records = append(records, bytes.Repeat([]byte{byte(i)}, size))
		}
		dir := t.TempDir()
		readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionNone, records...)
		for _, poison := range []bool{false, true} {
			set, err := Open(t.Context(), dir, Options{PoisonRecycled: poison})
			if err != nil {
				t.Fatal(err)
			}
			s, err := set.Records().Repeat(-1).Shuffle(20).Start(t.Context(), From{})
			if err != nil {
				t.Fatal(err)
			}
			var first, most int64
			for n := range 4000 {
				if n > 3000 && n%20 == 0 {
					if err := s.NextEpoch(); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
				held := s.Report().Memory.Held
				if most = max(most, held); n == 1000 { // several blocks

					first = most
				}
			}
			s.Close()
			if most > first+first/2 {
				t.Errorf("records of %d bytes, poison %v: %d bytes were held, %d in the beginning", size, poison, most, first)
			}
		}
	}
}
