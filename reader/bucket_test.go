package reader

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestBucketOptionsAreChecked(t *testing.T) {
	f := Map(writeSet(t, Options{}, 3).Records(), textOf, MapOptions{})
	length := func(s string) int { return len(s) }
	for _, o := range []BucketOptions{
		{},
		{BatchSizes: []int{1}},
		{Boundaries: []int{5}, BatchSizes: []int{1}},
		{Boundaries: []int{5}, BatchSizes: []int{1, 0}},
		{Boundaries: []int{5}, BatchSizes: []int{flows.MaxBatch + 1, 1}},
		{Boundaries: []int{5, 5}, BatchSizes: []int{1, 1, 1}},
		{Boundaries: []int{5, 4}, BatchSizes: []int{1, 1, 1}},
		{Boundaries: make([]int, flows.MaxBuckets), BatchSizes: slices.Repeat([]int{1}, flows.MaxBuckets+1)},
	} {
		if _, err := BucketByLength(f, length, o).Start(context.Background(), From{}); err == nil {
			t.Errorf("%.100v: no error", fmt.Sprint(o))
		}
	}
	if _, err := BucketByLength(f, nil, BucketOptions{Boundaries: []int{5}, BatchSizes: []int{1, 1}}).Start(context.Background(), From{}); err == nil {
		t.Error("no function: no error")
	}
}

// With BatchWithinEpoch the buckets are emptied at the end of each pass, at any State.
func TestBucketsWithinEpoch(t *testing.T) {
	set := writeSet(t, Options{BatchWithinEpoch: true, Seed: 2}, 9, 11)
	for _, drop := range []bool{false, true} {
		o := BucketOptions{Boundaries: []int{3, 8}, BatchSizes: []int{4, 3, 7}, DropRemainder: drop}
		length := func(v []int64) int { return int(v[1]) }
		f := BucketByLength(Map(set.Interleave(2, 1).Shuffle(4).Repeat(3), func(r Record) ([]int64, error) {
			return []int64{int64(r.Epoch), r.Number, int64(r.File)}, nil
		}, MapOptions{}), length, o)
		got := drain(t, Map(f, func(b [][]int64) (string, error) { return fmt.Sprint(b), nil }, MapOptions{}))
		var want []string
		pass := Map(set.Interleave(2, 1).Shuffle(4), func(r Record) ([]int64, error) {
			return []int64{int64(r.Epoch), r.Number, int64(r.File)}, nil
		}, MapOptions{})
		r, err := pass.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 3 {
			var in [][]int64
			for v, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				in = append(in, v)
			}
			for _, b := range bucketModel(in, length, o) {
				want = append(want, fmt.Sprint(b))
			}
			if err := r.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("drop %v:\n%s", drop, diff)
		}
		for n := range len(want) + 1 {
			again, err := f.Start(t.Context(), From{State: new(through(t, stateAfter(t, f, n)))})
			if err != nil {
				t.Fatalf("drop %v, after %d: %v", drop, n, err)
			}
			var rest []string
			for b, err := range again.All() {
				if err != nil {
					t.Fatal(err)
				}
				rest = append(rest, fmt.Sprint(b))
			}
			again.Close()
			if !slices.Equal(rest, want[n:]) {
				t.Fatalf("drop %v, after %d: got %v, want %v", drop, n, rest, want[n:])
			}
		}
	}
}

// Closed, or left for the next epoch, with elements in the buckets: nothing stays behind.
func TestBucketsLeaveNothing(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 900, 900)
	o := BucketOptions{Boundaries: []int{20, 40}, BatchSizes: []int{10, 2000, 7}}
	leavesNothing(t, func() {
		set := open(t, dir, Options{Memory: 1, Parallelism: 3})
		f := BucketByLength(Map(set.Interleave(3, 1), func(r Record) (Record, error) { return r, nil }, MapOptions{}),
			func(r Record) int { return len(r.Data) }, o).Prefetch(2)
		r, err := f.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 5 {
			for range 20 {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A State begins at the oldest element held: if there is none, nothing is made again.
func TestBucketStatesAreNear(t *testing.T) {
	f := BucketByLength(Map(writeSet(t, Options{}, 20).Records(), textOf, MapOptions{}),
		func(s string) int { return len(s) }, BucketOptions{Boundaries: []int{4}, BatchSizes: []int{1, 1}})
	for n := range 21 {
		if at := stateAfter(t, f, n).Flow[0].At; !slices.Equal(at, []int64{0, 0, 0}) {
			t.Errorf("after %d batches of one: %v", n, at)
		}
	}
}
