package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestBatchSizes(t *testing.T) {
	cases := []struct {
		records, n int
		drop       bool
		want       []int
	}{
		{10, 4, false, []int{4, 4, 2}},
		{10, 4, true, []int{4, 4}},
		{8, 4, false, []int{4, 4}},
		{8, 4, true, []int{4, 4}},
		{3, 4, false, []int{3}},
		{3, 4, true, nil},
		{0, 4, false, nil},
		{2000, 1500, false, []int{1500, 500}},
		{3, 1, false, []int{1, 1, 1}},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d by %d drop %v", c.records, c.n, c.drop), func(t *testing.T) {
			p := writeSet(t, Options{}, c.records, 0).Records()
			var ofRecords, ofFlow []int
			next := 0
			for b, err := range Batch(p, c.n, BatchOptions{DropRemainder: c.drop}).All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				ofRecords = append(ofRecords, len(b))
				for _, r := range b {
					if want := fmt.Sprintf("0/%d", next); string(r.Data) != want {
						t.Fatalf("%q; want %q", r.Data, want)
					}
					next++
				}
			}
			for b, err := range Batch(Map(p, textOf, MapOptions{}), c.n, BatchOptions{DropRemainder: c.drop}).All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				ofFlow = append(ofFlow, len(b))
			}
			if !slices.Equal(ofRecords, c.want) || !slices.Equal(ofFlow, c.want) {
				t.Errorf("batches of %v records and of %v elements; want %v", ofRecords, ofFlow, c.want)
			}
		})
	}
}

func TestBatchRefuses(t *testing.T) {
	p := writeSet(t, Options{}, 1).Records()
	for _, n := range []int{0, -1, flows.MaxBatch + 1} {
		if _, err := Batch(p, n, BatchOptions{}).Start(context.Background(), From{}); err == nil {
			t.Errorf("a batch of %d", n)
		}
		if _, err := Batch(Map(p, textOf, MapOptions{}), n, BatchOptions{}).Start(context.Background(), From{}); err == nil {
			t.Errorf("a flow's batch of %d", n)
		}
		if s, err := Batch(p, 1, BatchOptions{}).Prefetch(-n).Start(context.Background(), From{}); err == nil {
			s.Close()
			if n > 0 {
				t.Errorf("prefetch of %d", -n)
			}
		}
	}
}

func TestUnbatch(t *testing.T) {
	p := writeSet(t, Options{}, 5).Records()
	words := Map(p, func(r Record) ([]string, error) {
		if r.Number == 2 {
			return nil, nil
		}
		return strings.Split(string(r.Data), "/"), nil
	}, MapOptions{})
	want := []string{"0", "0", "0", "1", "0", "3", "0", "4"}
	if diff := cmp.Diff(want, drain(t, Unbatch(words))); diff != "" {
		t.Error(diff)
	}
	r, err := Unbatch(words).Start(context.Background(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 3 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Unbatch(words).Start(context.Background(), From{State: new(r.State())})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if v, err := again.Next(); v != "1" || err != nil {
		t.Errorf("%q, %v; want the second word of the second record", v, err)
	}
}

func TestRecordBatchesAllocateNothing(t *testing.T) {
	race.Skip(t)
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip, tfrecord.CompressionZlib, tfrecord.CompressionZstd} {
		set := open(t, readertest.WriteShards(t, c, 160_000), Options{})
		r, err := Batch(set.Records(), 1000, BatchOptions{}).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		next := func() {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 {
			next()
		}
		if n := leastAllocs(next); n > 20 {
			t.Errorf("%v: %v allocations for 1000 records", c, n)
		}
	}
}
