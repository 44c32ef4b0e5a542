package reader

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

func TestStateIsRefused(t *testing.T) {
	dir := writeShards(t, tfrecord.None, 5, 5)
	state := func(p Pipe) State {
		s, err := p.Start(t.Context())
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
	other := writeShards(t, tfrecord.None, 5, 6)
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
		s, err := c.p.Resume(t.Context(), c.state)
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
			if s, err := build(open(t, dir, Options{})).Resume(t.Context(), bad); err == nil {
				s.Close()
				t.Errorf("stage %d at %v: no error", i, at)
			}
		}
	}
}

// TestImpossibleStates refuses states that no stream can return.
func TestImpossibleStates(t *testing.T) {
	set := open(t, writeShards(t, tfrecord.None, 7, 3), Options{})
	pipe := set.Interleave(2, 1).Shuffle(4)
	stream, err := pipe.Start(context.Background())
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
		s, err := pipe.Resume(context.Background(), state)
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, ErrState) {
			t.Errorf("skip %d: %v, want ErrState", skip, err)
		}
	}
}
