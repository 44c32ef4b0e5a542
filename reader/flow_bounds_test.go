package reader

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// stateAfter returns the State after n elements.
func stateAfter[T any](t *testing.T, f Flow[T], n int) State {
	t.Helper()
	r, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range n {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	return r.State()
}

func TestFlowStatesAreRefused(t *testing.T) {
	set := writeSet(t, Options{}, 30)
	records := Map(set.Records(), textOf, MapOptions{})
	length := func(s string) int { return len(s) }
	buckets := BucketOptions{Boundaries: []int{4}, BatchSizes: []int{3, 4}}
	tokens := Map(records, func(s string) ([]int32, error) { return make([]int32, len(s)), nil }, MapOptions{})
	rows := PackOptions{Length: 7, OpenRows: 2}
	refused := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, ErrState) {
			t.Errorf("%s: %v, want ErrState", name, err)
		}
	}
	resume := func(f Flow[string], s State) error {
		r, err := f.Start(t.Context(), From{State: &s})
		if err == nil {
			r.Close()
		}
		return err
	}
	plain, taken := stateAfter(t, records, 3), stateAfter(t, records.Take(9), 3)
	refused("a State without a position", resume(records.Take(9), plain))
	refused("with one too many", resume(records, taken))
	refused("of another number", resume(records.Take(8), taken))
	refused("of another stage", resume(records.Skip(9), taken))
	refused("two stages, one position", resume(records.Take(9).Take(9), taken))
	refused("one below an UnbatchFlow", resume(Unbatch(Batch(records.Take(9), 2, BatchOptions{})), taken))
	_, err := set.Records().Start(t.Context(), From{State: &taken})
	refused("a Pipe", err)
	worker := func(n int) Pipe {
		return open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 30), Options{Worker: 0, Workers: n}).ShuffleAll(ShuffleAllOptions{})
	}
	refused("another number of workers", resume(Map(worker(2), textOf, MapOptions{}).Take(5), stateAfter(t, Map(worker(1), textOf, MapOptions{}).Take(5), 2)))

	for name, f := range map[string]Flow[string]{
		"take":    records.Take(9),
		"skip":    records.Skip(2),
		"unbatch": Unbatch(Batch(records, 4, BatchOptions{}).Take(5)),
		"bucket":  Unbatch(BucketByLength(records, length, buckets)),
		"pack":    Map(Pack(tokens, rows), func(*PackedBatch[int32]) (string, error) { return "", nil }, MapOptions{}),
	} {
		good := stateAfter(t, f, 2)
		if err := resume(f, good); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range good.Flow {
			n := len(good.Flow[i].At)
			bad := [][]int64{nil, {}, make([]int64, n+1), make([]int64, 1<<16)}
			for k := range n {
				for _, v := range []int64{-1, -1 << 63, 1<<63 - 1, pipeline.MaxSkip + 1} {
					at := slices.Clone(good.Flow[i].At)
					at[k] = v
					bad = append(bad, at)
				}
			}
			for _, at := range bad {
				s := pipeline.CloneState(&good)
				s.Flow[i].At = at
				refused(name, resume(f, s))
			}
			s := pipeline.CloneState(&good)
			s.Flow = slices.Delete(s.Flow, i, i+1)
			refused(name+" without a section", resume(f, s))
		}
	}
	// Numbers of the right size that no run wrote.
	for _, at := range [][]int64{{0, 1, 0}, {1, 2, 3}, {0, 3, 0}, {100, 0, 0}, {pipeline.MaxSkip, 2, 2}} {
		s := stateAfter(t, BucketByLength(records, length, buckets), 0)
		s.Flow[0].At = at
		_, err := BucketByLength(records, length, buckets).Start(t.Context(), From{State: &s})
		refused("bucket", err)
	}
	for _, at := range [][]int64{{0, 1, 7}, {0, 0, 3}, {0, 0, 0}, {0, 0, 8}, {1, 0, 3, 3, 3}, {100, 0}, {pipeline.MaxSkip, 0, 1}} {
		s := stateAfter(t, Pack(tokens, rows), 0)
		s.Flow[0].At = at
		_, err := Pack(tokens, rows).Start(t.Context(), From{State: &s})
		refused("pack", err)
	}
	s := stateAfter(t, Unbatch(Batch(records, 4, BatchOptions{}).Take(5)), 2)
	s.Flow[1].At = []int64{pipeline.MaxSkip}
	refused("unbatch past the end", resume(Unbatch(Batch(records, 4, BatchOptions{}).Take(5)), s))
}

// A State of stages without a position of their own has no sections, as before there were any.
func TestFlowStatesWithoutSections(t *testing.T) {
	set := writeSet(t, Options{}, 30)
	f := Batch(Map(set.Records(), textOf, MapOptions{}), 2, BatchOptions{}).Prefetch(2)
	data, err := json.Marshal(stateAfter(t, f, 3))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), `"flow"`) {
		t.Errorf("%s", data)
	}
	data, err = json.Marshal(stateAfter(t, f.Take(7), 3))
	if err != nil {
		t.Fatal(err)
	}
	if want := `"flow":[{"name":"take(7)","at":[3]}]`; !strings.Contains(string(data), want) {
		t.Errorf("%s\nhas no %s", data, want)
	}
}

// The State of a batch is that of its flow, and of its Clone too.
func TestStatesOfBatchesHaveSections(t *testing.T) {
	p := imageSet(t, 40, nil).Interleave(2, 1)
	f := ParseColumns(p, ColumnSpec{Batch: 3}).Skip(1).Take(9)
	clones := Map(ParseColumns(p, ColumnSpec{Batch: 3}).Skip(1), func(b *ColumnBatch) (*ColumnBatch, error) { return b.Clone(), nil }, MapOptions{}).Take(9)
	for name, f := range map[string]Flow[*ColumnBatch]{"batches": f, "clones": clones} {
		r, err := f.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var states []State
		var kept []*ColumnBatch
		for b, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, r.State())
			if diff := cmp.Diff(states[len(states)-1], b.State()); diff != "" {
				t.Fatalf("%s: the batch's State, not the flow's:\n%s", name, diff)
			}
			if name == "batches" {
				b = b.Clone()
			}
			kept = append(kept, b)
		}
		for i, b := range kept {
			if diff := cmp.Diff(states[i], b.State()); diff != "" {
				t.Fatalf("%s: the State of clone %d:\n%s", name, i, diff)
			}
		}
	}
	for _, s := range drain(t, Map(Images(p, ImageSpec{Size: 4, Batch: 3}).Take(5), func(b *ImageBatch) (State, error) { return b.State(), nil }, MapOptions{})) {
		if len(s.Flow) != 1 {
			t.Errorf("the State of a batch of images has %d sections, want 1", len(s.Flow))
		}
	}
}

// Take does not wait for, nor make, much more than it returns, and leaves nothing running.
func TestTakeStopsWorkingAhead(t *testing.T) {
	set := writeSet(t, Options{}, 50_000)
	var made atomic.Int64
	f := Map(set.Records(), func(r Record) (string, error) {
		made.Add(1)
		return textOf(r)
	}, MapOptions{Workers: 1}).Take(3)
	leavesNothing(t, func() {
		r, err := f.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 3 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if _, err := r.Next(); err != io.EOF {
				t.Errorf("%v, want io.EOF", err)
			}
		}
		if n := made.Load(); n > 10_000 {
			t.Errorf("%d elements were made to take 3", n)
		}
		if err := r.NextEpoch(); err != nil {
			t.Fatal(err)
		}
		if v, err := r.Next(); v != "0/0" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	})
	if got := drain(t, f.Take(0)); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

func TestBoundsRefuse(t *testing.T) {
	f := Map(writeSet(t, Options{}, 3).Records(), textOf, MapOptions{})
	for name, f := range map[string]Flow[string]{"take": f.Take(-1), "skip": f.Skip(-1), "nothing": Flow[string]{}.Take(1)} {
		if _, err := f.Start(context.Background(), From{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Stages with a position cost a share of an allocation.
func TestFlowStagesAllocateLittle(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 200_000), Options{})
	f := Map(set.Records(), func(r Record) (int64, error) { return r.Number, nil }, MapOptions{})
	r, err := Enumerate(f.Take(1<<40).Skip(3)).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := func() {
		for range 1000 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 20 {
		next()
	}
	if n := leastAllocs(next); n > 250 {
		t.Errorf("%v allocations for 1000 elements", n)
	}
}
