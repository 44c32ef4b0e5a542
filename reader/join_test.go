package reader

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/tfrecord"
)

// joins are the ways to make a pipe of several.
var joins = map[string]func(...Pipe) Pipe{
	"mix":    func(p ...Pipe) Pipe { return Mix(MixOptions{}, p...) },
	"concat": Concat,
}

// What is skipped after a join counts against the limits of all its pipes, wherever it begins and
// whichever of them have ended.
func TestLimitsOfJoinsAreThoseOfAllPipes(t *testing.T) {
	early := func(r Record) (bool, error) {
		if r.Number < 3 {
			return false, errors.New("bad")
		}
		return true, nil
	}
	for name, join := range joins {
		for _, o := range []Options{{SkipBad: SkipBad{Count: 3}}, {SkipBad: SkipBad{Share: 0.1}}, {SkipBad: SkipBad{Count: math.MaxInt64}}} {
			p := join(mixed(t, o, 30, 60)...).Filter(early)
			if n, err := readAll(p); n != 84 || err != nil {
				t.Errorf("%s, %+v: %d records, %v", name, o.SkipBad, n, err)
			}
			s, err := p.Start(t.Context(), From{})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 80 {
				if _, err := s.Next(); err != nil {
					t.Fatalf("%s, %+v: record %d: %v", name, o.SkipBad, n, err)
				}
				again, err := p.Start(t.Context(), From{State: new(s.State())})
				if err != nil {
					t.Fatalf("%s, %+v: resumed after record %d: %v", name, o.SkipBad, n, err)
				}
				if left := rest(t, again); len(left) != 83-n {
					t.Fatalf("%s, %+v: %d records after record %d", name, o.SkipBad, len(left), n)
				}
				again.Close()
			}
			s.Close()
		}
	}
}

// The Set of a join counts, finds and describes the records of sets with different options, and is
// not read in another order.
func TestJoinedSetsKeepTheirOptions(t *testing.T) {
	example := func(key string) []byte {
		return settest.Example(func(b *tfrecord.Builder) { b.Int64(key, 7) })
	}
	var pipes []Pipe
	for _, key := range []string{"a", "b"} {
		dir := t.TempDir()
		readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionNone, example(key), example(key))
		pipes = append(pipes, open(t, dir, Options{Compression: tfrecord.CompressionNone}).Records())
	}
	dir := t.TempDir()
	readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionGzip, example("a"))
	packed := open(t, dir, Options{Compression: tfrecord.CompressionGzip}).Records()
	for name, join := range joins {
		set := join(pipes[0], pipes[1], packed).Set()
		if n, err := set.Len(t.Context()); n != 5 || err != nil {
			t.Errorf("%s: %d records, %v; want 5", name, n, err)
		}
		r, err := set.At(t.Context(), nil, 3)
		if err != nil || !bytes.Equal(r.Data, example("b")) || r.File != 1 || r.Number != 1 {
			t.Errorf("%s: record 3 is %+v, %v", name, r, err)
		}
		for _, n := range []int64{-1, 5} {
			if _, err := set.At(t.Context(), nil, n); err == nil || !strings.Contains(err.Error(), "below the 5") {
				t.Errorf("%s: record %d: %v", name, n, err)
			}
		}
		if _, err := set.Schema(t.Context()); err == nil || !strings.Contains(err.Error(), "pipes 0 and 1") {
			t.Errorf("%s: the schema of different features: %v", name, err)
		}
		if schema, err := join(pipes[0], packed).Set().Schema(t.Context()); err != nil || len(schema) != 1 || schema[0].Key != "a" {
			t.Errorf("%s: the schema of equal features: %v, %v", name, schema, err)
		}
		for _, p := range []Pipe{set.Records(), set.ShuffleAll(ShuffleAllOptions{})} {
			if _, err := readAll(p); !errors.Is(err, fileset.ErrJoined) {
				t.Errorf("%s: another order: %v", name, err)
			}
		}
	}
}

// Weights may not change where stages after the mix would draw other elements again.
func TestOtherWeightsAreRefused(t *testing.T) {
	pipes := mixed(t, Options{}, 900, 900, 900)
	inner := func(weights ...float64) Pipe { return Mix(MixOptions{Weights: weights}, pipes[0], pipes[1]) }
	for name, after := range map[string]func(Pipe) Pipe{
		"mix":     func(p Pipe) Pipe { return Mix(MixOptions{}, p, pipes[2]) },
		"shuffle": func(p Pipe) Pipe { return p.Shuffle(3) },
		"cache":   func(p Pipe) Pipe { return p.Cache(CacheOptions{}) },
	} {
		s, err := after(inner(1, 2)).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		state := s.State()
		s.Close()
		if _, err := after(inner(2, 1)).Start(t.Context(), From{State: &state}); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
		if s, err = after(inner(1, 2)).Start(t.Context(), From{State: &state}); err != nil {
			t.Errorf("%s: the same weights: %v", name, err)
		} else {
			s.Close()
		}
	}

	worker := func(w, workers int, weights ...float64) Pipe {
		return Mix(MixOptions{Weights: weights}, mixed(t, Options{Worker: w, Workers: workers}, 900, 900)...)
	}
	first := worker(0, 1, 1, 2)
	s, err := first.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	merged, err := MergeStates([]State{s.State()})
	s.Close()
	if err != nil {
		t.Fatal(err)
	}
	of := first.Set().files.Joined
	p := Mix(MixOptions{Weights: []float64{2, 1}}, (&Set{of[0]}).Records(), (&Set{of[1]}).Records())
	if _, err := p.Start(t.Context(), From{State: &merged}); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "MergeStates") {
		t.Errorf("after MergeStates: %v", err)
	}
}

// A merged State with an impossible skip count is refused by flows, too.
func TestMergedSkipCountsAreNotTrusted(t *testing.T) {
	f := Map(open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 20), Options{}).Records(), func(Record) (int, error) { return 0, nil }, MapOptions{})
	s, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	merged, err := MergeStates([]State{s.State()})
	s.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, skipped := range [][][2]int64{{{0, 1}, {1, 1}, {2, 1}}, {{1 << 40, 5}}, {{1, -5}}} {
		merged.Skipped = skipped
		if _, err := f.Start(context.Background(), From{State: &merged}); !errors.Is(err, ErrState) {
			t.Errorf("skipped is %v: %v", skipped, err)
		}
	}
}
