package reader

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestStateIsRefused(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 5, 5)
	state := func(p Pipe) State {
		s, err := p.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		return s.State()
	}
	build := func(s *Set) Pipe { return s.Interleave(2, 1).Shuffle(3).Repeat(2) }
	good := state(build(open(t, dir, Options{})))
	other := readertest.WriteShards(t, tfrecord.CompressionNone, 5, 6)
	bad := good
	bad.Stages = slices.Clone(good.Stages)
	for _, c := range []struct {
		name  string
		p     Pipe
		state State
	}{
		{"another dataset", build(open(t, other, Options{})), good},
		{"another stage", open(t, dir, Options{}).Interleave(2, 1).Repeat(2), good},
		{"another cycle", open(t, dir, Options{}).Interleave(3, 1).Shuffle(3).Repeat(2), good},
		{"another seed", build(open(t, dir, Options{Seed: 1})), good},
		{"another order of files", build(open(t, dir, Options{ShuffleFiles: true})), good},
		{"another worker", build(open(t, dir, Options{Worker: 1, Workers: 2})), good},
		{"skipping", build(open(t, dir, Options{SkipBad: SkipBad{Count: 1}})), good},
		{"nothing", build(open(t, dir, Options{})), State{}},
		{"another version", build(open(t, dir, Options{})), State{Format: StateFormat, Version: 99}},
	} {
		s, err := c.p.Start(t.Context(), From{State: &c.state})
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, ErrState) {
			t.Errorf("%s: error %v, want ErrState", c.name, err)
		}
	}
	// Invalid numbers are an error, never a panic.
	for i := range good.Stages {
		for _, at := range [][]int64{{}, {-1}, {1 << 62}, {1, 2, 3}, {-5, -5, -5, -5, -5, -5, -5, -5, -5, -5},
			slices.Repeat([]int64{1 << 40}, len(good.Stages[i].At)), slices.Repeat([]int64{-9}, len(good.Stages[i].At))} {
			bad.Stages = slices.Clone(good.Stages)
			bad.Stages[i].At = at
			if s, err := build(open(t, dir, Options{})).Start(t.Context(), From{State: &bad}); err == nil {
				s.Close()
				t.Errorf("stage %d at %v: no error", i, at)
			}
		}
	}
}

// TestImpossibleStates refuses states that no stream can return.
func TestImpossibleStates(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 7, 3), Options{})
	pipe := set.Interleave(2, 1).Shuffle(4)
	stream, err := pipe.Start(context.Background(), From{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := stream.Next(); err != nil {
			t.Fatal(err)
		}
	}
	state := stream.State()
	stream.Close()
	for _, skip := range []int64{-1, 11, 1 << 30, 9e18} {
		state.Skip = skip
		s, err := pipe.Start(context.Background(), From{State: &state})
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, ErrState) {
			t.Errorf("skip %d: %v, want ErrState", skip, err)
		}
	}
}

// A State is refused by a flow with other settings, and says which; workers and prefetching are free.
func TestFlowStateOfOtherSettings(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 9, 9)
	numbers := func(o Options) Flow[int64] {
		return Map(open(t, dir, o).Records(), func(r Record) (int64, error) { return r.Number, nil }, MapOptions{})
	}
	bucket := func(boundary int) Flow[[]int64] {
		return BucketByLength(numbers(Options{}), func(n int64) int { return int(n) }, BucketOptions{Boundaries: []int{boundary}, BatchSizes: []int{2, 3}})
	}
	within := Options{BatchWithinEpoch: true}
	for _, c := range []struct {
		name      string
		was, here Flow[[]int64]
		says      string
	}{
		{"size", Batch(numbers(Options{}), 3, BatchOptions{}), Batch(numbers(Options{}), 4, BatchOptions{}), "batch(3)"},
		{"remainder", Batch(numbers(Options{}), 3, BatchOptions{}), Batch(numbers(Options{}), 3, BatchOptions{DropRemainder: true}), "batch(3,drop)"},
		{"epochs", Batch(numbers(Options{}), 3, BatchOptions{}), Batch(numbers(within), 3, BatchOptions{}), "batches within epochs"},
		{"no longer epochs", Batch(numbers(within), 3, BatchOptions{}), Batch(numbers(Options{}), 3, BatchOptions{}), "nothing more"},
		{"bounds", bucket(4), bucket(5), "boundaries=[4]"},
		{"another stage", Batch(numbers(Options{}), 3, BatchOptions{}), Map(Batch(numbers(Options{}), 3, BatchOptions{}), func(v []int64) ([]int64, error) { return v, nil }, MapOptions{}), "map"},
		{"the same", Batch(numbers(Options{}), 3, BatchOptions{}), Batch(numbers(Options{Parallelism: 3}).Prefetch(2), 3, BatchOptions{}), ""},
	} {
		s, err := c.was.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		state := through(t, s.State())
		s.Close()
		s, err = c.here.Start(t.Context(), From{State: &state})
		if err == nil {
			s.Close()
		}
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if !errors.Is(err, ErrState) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want ErrState with %q", c.name, err, c.says)
		}
	}
	if _, err := open(t, dir, Options{}).Records().Start(t.Context(), From{State: &State{Making: []string{"map"}}}); !errors.Is(err, ErrState) {
		t.Errorf("a pipe resumes the State of a flow: %v", err)
	}
}
