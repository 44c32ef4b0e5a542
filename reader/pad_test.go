package reader

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// sequences are flows of int64 sequences whose lengths are drawn, in 0..most.
func sequences(t *testing.T, r *rand.Rand, n, most int) (Flow[[]int64], [][]int64) {
	t.Helper()
	all := make([][]int64, n)
	for i := range all {
		all[i] = make([]int64, r.IntN(most+1))
		for k := range all[i] {
			all[i][k] = int64(1000*i + k)
		}
	}
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, n), Options{Parallelism: 1 + r.IntN(4)})
	return Map(set.Records(), func(r Record) ([]int64, error) { return all[r.Number], nil }, MapOptions{}), all
}

// Pad makes rows of the sequences, to the longest, a length, or a boundary, also after Resume and from a
// cache.
func TestPad(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		most := r.IntN(12)
		f, all := sequences(t, r, 1+r.IntN(60), most)
		o := PadOptions[int64]{Value: int64(r.IntN(3)) - 1}
		switch r.IntN(3) {
		case 0:
			o.Length = max(most, 1)
		case 1:
			o.Boundaries = []int{3, 6, 14}
		}
		n := 1 + r.IntN(7)
		var want []string
		for batch := range slices.Chunk(all, n) {
			want = append(want, paddedText(batch, o))
		}
		padded := Pad(Batch(f, n, BatchOptions{}), o)
		view := func(b *PaddedBatch[int64]) string { return fmt.Sprint(b.Shape, b.Values, b.Lengths) }
		got := viewed(t, padded, view)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, %+v:\n%s", seed, o, diff)
		}
		if got := viewed(t, padded.Cache(CacheOptions{}), view); !slices.Equal(got, want) {
			t.Fatalf("seed %d: from a cache %v, want %v", seed, got, want)
		}
		s := startedFlow(t, padded)
		cut := r.IntN(len(want))
		for range cut {
			_, err := s.Next()
			settest.Check(t, err)
		}
		again, err := padded.Start(t.Context(), From{State: new(through(t, s.State()))})
		settest.Check(t, err)
		var rest []string
		for b, err := range again.All() {
			settest.Check(t, err)
			rest = append(rest, view(b))
		}
		again.Close()
		if !slices.Equal(rest, want[cut:]) {
			t.Fatalf("seed %d: resumed after %d: %v, want %v", seed, cut, rest, want[cut:])
		}
	}
}

// paddedText is what a batch should be.
func paddedText(batch [][]int64, o PadOptions[int64]) string {
	length := o.Length
	for _, s := range batch {
		if o.Length == 0 {
			length = max(length, len(s))
		}
	}
	for _, b := range o.Boundaries {
		if b > length {
			length = b - 1
			break
		}
	}
	var values, lengths []int64
	for _, s := range batch {
		values = append(values, s...)
		for range length - len(s) {
			values = append(values, o.Value)
		}
		lengths = append(lengths, int64(len(s)))
	}
	return fmt.Sprint([]int{len(batch), length}, values, lengths)
}

// viewed returns a view of all elements.
func viewed[T any](t *testing.T, f Flow[T], view func(T) string) (all []string) {
	t.Helper()
	for v, err := range f.All(t.Context()) {
		settest.Check(t, err)
		all = append(all, view(v))
	}
	return all
}

func TestPadRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f, _ := sequences(t, r, 40, 9)
	long := Batch(f, 40, BatchOptions{})
	for want, o := range map[string]PadOptions[int64]{
		"want 1 to":                        {Length: -1},
		"want one of them":                 {Length: 3, Boundaries: []int{4}},
		"want ascending numbers":           {Boundaries: []int{4, 4}},
		"want less than the last boundary": {Boundaries: []int{3, 5}},
		"want 4 at most":                   {Length: 4},
	} {
		err := error(nil)
		for _, err = range Pad(long, o).All(t.Context()) {
			if err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", o, err, want)
		}
	}
	kept := startedFlow(t, Pad(Batch(f, 5, BatchOptions{}), PadOptions[int64]{}))
	first, err := kept.Next()
	settest.Check(t, err)
	clone := first.Clone()
	if _, err := kept.Next(); err != nil {
		t.Fatal(err)
	}
	if clone.Shape[0] != 5 || slices.Contains(clone.Values, -0x2424242424242425) {
		t.Errorf("a Clone is %+v", clone)
	}
}
