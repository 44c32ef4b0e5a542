package gomlx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/train"

	"github.com/tfrec/tfrec/reader"
)

// Epochs have all records, each in another order, and the same ones again with the same seed. An
// iterator that stops early leaves the rest of the epoch to the next one.
func TestEpochs(t *testing.T) {
	dir := writeSet(t)
	epochs := func(seed uint64) (all [][]int64) {
		ds := begin(t, shuffled(openSet(t, dir, reader.Options{Seed: seed}), 8))
		for epoch := range int64(3) {
			all = append(all, rest(t, ds))
			if ds.Epoch() != epoch {
				t.Fatalf("epoch %d; want %d", ds.Epoch(), epoch)
			}
		}
		return all
	}
	first := epochs(1)
	for i, order := range first {
		sorted := slices.Sorted(slices.Values(order))
		if len(sorted) != records || sorted[0] != 0 || len(slices.Compact(sorted)) != records {
			t.Errorf("epoch %d has %v", i, order)
		}
		for _, other := range first[:i] {
			if slices.Equal(order, other) {
				t.Errorf("epoch %d repeats an order", i)
			}
		}
	}
	if again := epochs(1); !slices.EqualFunc(first, again, slices.Equal) {
		t.Error("another run with the same seed has other orders")
	}
	if other := epochs(2); slices.Equal(first[0], other[0]) {
		t.Error("another seed has the same order")
	}

	// 8 batches an epoch: the last piece stops exactly at the end, which the next iterator skips.
	ds := begin(t, shuffled(openSet(t, dir, reader.Options{Seed: 1}), 8))
	for i, order := range first {
		var pieces []int64
		for _, n := range []int{1, 4, 3} {
			pieces = append(pieces, slices.Concat(some(t, ds, n)...)...)
		}
		if !slices.Equal(pieces, order) {
			t.Errorf("epoch %d in pieces is %v; want %v", i, pieces, order)
		}
	}

	ds = begin(t, shuffled(openSet(t, dir, reader.Options{Seed: 1}), 8))
	some(t, ds, 2)
	if err := ds.NextEpoch(); err != nil {
		t.Fatal(err)
	}
	if got := rest(t, ds); !slices.Equal(got, first[1]) {
		t.Errorf("after NextEpoch came %v; want epoch 1, %v", got, first[1])
	}
}

// A dataset that is resumed from any of its states, at times more than once, returns what one that
// never stopped does.
func TestResume(t *testing.T) {
	set := openSet(t, writeSet(t), reader.Options{Seed: 7})
	flow := shuffled(set, 5).Prefetch(2)
	type step struct {
		ids   []int64
		state []byte
	}
	const epochs = 3
	run := func(ds *Dataset[*reader.ColumnBatch]) (steps []step) {
		for {
			for batch, err := range ds.Iter() {
				if err != nil {
					t.Fatal(err)
				}
				if ds.Epoch() == epochs {
					return steps
				}
				state, err := json.Marshal(ds.State())
				if err != nil {
					t.Fatal(err)
				}
				steps = append(steps, step{flat[int64](t, batch.Inputs[0]), state})
			}
		}
	}
	whole := run(begin(t, flow))
	rnd := rand.New(rand.NewPCG(2, 3))
	for range 40 {
		at := 0
		for range 1 + rnd.IntN(3) {
			at += rnd.IntN(len(whole) - at)
		}
		var state reader.State
		if err := json.Unmarshal(whole[at].state, &state); err != nil {
			t.Fatal(err)
		}
		ds, err := New(t.Context(), "ids", flow, reader.From{State: &state}, ids)
		if err != nil {
			t.Fatal(err)
		}
		got := run(ds)
		ds.Close()
		want := whole[at+1:]
		if !slices.EqualFunc(got, want, func(a, b step) bool { return slices.Equal(a.ids, b.ids) && bytes.Equal(a.state, b.state) }) {
			t.Fatalf("resumed after step %d: %d steps; want %d, or others", at, len(got), len(want))
		}
	}

	state := begin(t, flow).State()
	if _, err := New(t.Context(), "ids", shuffled(openSet(t, writeSet(t), reader.Options{Worker: 1, Workers: 2}), 5), reader.From{State: &state}, ids); !errors.Is(err, reader.ErrState) {
		t.Errorf("the state of another flow: %v; want ErrState", err)
	}
}

// Datasets of GoMLX over a Dataset have each record of an epoch once, and their goroutines end.
func TestBufferAndMap(t *testing.T) {
	noGoroutineLeft(t, func(ctx context.Context) {
		ds := begin(t, shuffled(openSet(t, writeSet(t), reader.Options{}), 2))
		mapped := dataset.ParallelMapOnHost(ds, func(b train.Batch) train.Batch { return b }).WithParallelism(4)
		for _, over := range []train.Dataset{dataset.Buffer(ds, 3), mapped} {
			for range 3 {
				got := slices.Sorted(slices.Values(rest(t, over)))
				if len(got) != records || len(slices.Compact(got)) != records {
					t.Errorf("an epoch has %v", got)
				}
			}
		}
		ds.Close()
	})
}

// Iterators that run at the same time share an epoch.
func TestConcurrentIterators(t *testing.T) {
	ds := begin(t, shuffled(openSet(t, writeSet(t), reader.Options{}), 2))
	var all sync.WaitGroup
	found := make(chan [][]int64, 4)
	for range cap(found) {
		all.Go(func() { found <- some(t, ds, 4) })
	}
	all.Wait()
	close(found)
	var got []int64
	for batches := range found {
		got = append(got, slices.Concat(batches...)...)
	}
	slices.Sort(got)
	if len(got) != 32 || len(slices.Compact(got)) != 32 {
		t.Errorf("%v; want 32 records, each once", got)
	}
}

// An error of the flow ends each iterator, with the names of the dataset and of the file.
func TestErrorIsFinal(t *testing.T) {
	dir := writeSet(t)
	path := filepath.Join(dir, "set-1.tfrecord")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	ds := begin(t, shuffled(openSet(t, dir, reader.Options{}), 4))
	for range 3 {
		if err := failure(ds); err == nil || !strings.Contains(err.Error(), "dataset ids: ") || !strings.Contains(err.Error(), path) {
			t.Errorf("%v: want the names of the dataset and of the file", err)
		}
		if n := len(collect(ds)); n != 1 {
			t.Errorf("%d iterations after the error; want 1", n)
		}
		if err := ds.NextEpoch(); err == nil {
			t.Error("NextEpoch after an error succeeds")
		}
	}
}

// collect returns the errors of all iterations.
func collect(ds train.Dataset) (all []error) {
	for _, err := range ds.Iter() {
		all = append(all, err)
	}
	return all
}

// A dataset that was closed or canceled at the end of an epoch fails.
func TestEnded(t *testing.T) {
	for name, harm := range map[string]func(ds *Dataset[*reader.ColumnBatch], cancel func()){
		"closed":   func(ds *Dataset[*reader.ColumnBatch], _ func()) { ds.Close() },
		"canceled": func(_ *Dataset[*reader.ColumnBatch], cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ds, err := New(ctx, "ids", shuffled(openSet(t, writeSet(t), reader.Options{}), 4), reader.From{}, ids)
			if err != nil {
				t.Fatal(err)
			}
			defer ds.Close()
			rest(t, ds)
			harm(ds, cancel)
			for range 2 {
				if err := failure(ds); err == nil || name == "canceled" && !errors.Is(err, context.Canceled) {
					t.Errorf("%v; want an error", err)
				}
			}
			if err := ds.NextEpoch(); err == nil {
				t.Error("NextEpoch succeeds")
			}
		})
	}
}

// Closing in the middle leaves no goroutine, and the tensors stay valid.
func TestClose(t *testing.T) {
	noGoroutineLeft(t, func(ctx context.Context) {
		ds, err := New(ctx, "ids", shuffled(openSet(t, writeSet(t), reader.Options{}), 4).Prefetch(3), reader.From{}, ids)
		if err != nil {
			t.Fatal(err)
		}
		var input *tensors.Tensor
		for batch, err := range ds.Iter() {
			if err != nil {
				t.Fatal(err)
			}
			input = batch.Inputs[0]
			break
		}
		before := ds.State()
		for range 2 {
			if err := ds.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := len(flat[int64](t, input)); n != 4 {
			t.Errorf("%d values; want 4", n)
		}
		if after := ds.State(); after.Skip != before.Skip || after.Epoch != before.Epoch {
			t.Errorf("the state is %v; want that before Close, %v", after, before)
		}
		if ds.Waited() <= 0 {
			t.Error("no time was measured")
		}
	})
	var none reader.Flow[*reader.ColumnBatch]
	if _, err := New(t.Context(), "ids", none, reader.From{}, ids); err == nil || !strings.HasPrefix(err.Error(), "dataset ids: ") {
		t.Errorf("an empty flow: %v", err)
	}
}

func TestNames(t *testing.T) {
	for name, short := range map[string]string{"train": "tra", "cv": "cv", "größe": "grö", "": ""} {
		ds := Dataset[int]{name: name}
		if ds.Name() != name || ds.ShortName() != short {
			t.Errorf("%q, short %q; want %q and %q", ds.Name(), ds.ShortName(), name, short)
		}
	}
}
