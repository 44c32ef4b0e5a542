package reader

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// readSome reads some of a pipe, and returns the error that ends it.
func readSome(t *testing.T, p Pipe, at *State) error {
	s, err := p.Start(t.Context(), From{State: at})
	if err != nil {
		return err
	}
	defer s.Close()
	for range 60 {
		if _, err := s.Next(); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
	return nil
}

// TestHugeNumbers sets numbers whose sums and products overflow. They must be refused or taken
// literally.
func TestHugeNumbers(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 5, 7)
	for _, c := range []struct {
		name string
		o    Options
		p    func(*Set) Pipe
		ok   bool
	}{
		{"memory", Options{Memory: math.MaxInt64}, func(s *Set) Pipe { return s.Interleave(2, 1) }, true},
		{"record", Options{MaxRecord: math.MaxInt64}, (*Set).Records, true},
		{"skip bad", Options{SkipBad: SkipBad{Count: math.MaxInt64}}, (*Set).Records, true},
		{"block", Options{}, func(s *Set) Pipe { return s.Interleave(2, math.MaxInt) }, true},
		{"cycle", Options{}, func(s *Set) Pipe { return s.Interleave(math.MaxInt, 1) }, false},
		{"shuffle", Options{}, func(s *Set) Pipe { return s.Records().Shuffle(math.MaxInt) }, false},
		{"large shuffle", Options{}, func(s *Set) Pipe { return s.Records().Shuffle(stages.MaxShuffle) }, true},
		{"repeat", Options{}, func(s *Set) Pipe { return s.Records().Repeat(math.MaxInt).Repeat(math.MaxInt).Cache(CacheOptions{}) }, true},
		{"skip", Options{}, func(s *Set) Pipe { return s.Records().Skip(math.MaxInt64) }, true},
		{"take", Options{}, func(s *Set) Pipe { return s.Records().Take(math.MaxInt64) }, true},
		{"prefetch", Options{}, func(s *Set) Pipe { return s.Records().Prefetch(math.MaxInt) }, false},
		{"cache", Options{}, func(s *Set) Pipe { return s.Records().Cache(CacheOptions{Limit: math.MaxInt64}).Repeat(2) }, true},
		{"map workers", Options{}, func(s *Set) Pipe {
			return MapData(s.Records(), func(dst []byte, r Record) ([]byte, error) { return dst, nil }, MapDataOptions{Workers: math.MaxInt})
		}, false},
		{"runs", Options{}, func(s *Set) Pipe {
			return s.ShuffleAll(ShuffleAllOptions{Block: math.MaxInt, Window: math.MaxInt})
		}, false},
		{"large runs", Options{}, func(s *Set) Pipe {
			return s.ShuffleAll(ShuffleAllOptions{Block: records.MaxRuns, Window: records.MaxRuns})
		}, true},
	} {
		if err := readSome(t, c.p(open(t, dir, c.o)), nil); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, o := range []Options{{Workers: math.MaxInt}, {Parallelism: math.MaxInt}, {Workers: -1}, {Worker: math.MaxInt, Workers: 2}} {
		if _, err := Open(t.Context(), dir, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	f := Map(open(t, dir, Options{}).Records(), func(Record) (int, error) { return 0, nil }, MapOptions{Workers: math.MaxInt})
	if _, err := f.Start(t.Context(), From{}); err == nil {
		t.Error("that many workers are taken")
	}
}

// TestHugeStates puts huge numbers into states, each in turn.
func TestHugeStates(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 5, 7)
	o := Options{SkipBad: SkipBad{Count: 3}}
	for name, build := range pipelines {
		p := build(open(t, dir, o))
		s := started(t, p)
		for range 9 {
			s.Next()
		}
		good := s.State()
		s.Close()
		for i, stage := range good.Stages {
			for k := range stage.At {
				for _, v := range []int64{math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1 << 62, 1<<40 + 1} {
					bad := good
					bad.Stages = slices.Clone(good.Stages)
					bad.Stages[i].At = slices.Clone(stage.At)
					bad.Stages[i].At[k] = v
					// What cannot be distinguished from a valid number is not an error.
					readSome(t, p, &bad)
				}
			}
		}
		bad := good
		bad.Workers = math.MaxInt64
		if err := readSome(t, p, &bad); !errors.Is(err, ErrState) {
			t.Errorf("%s: workers: %v", name, err)
		}
	}
}

// TestPaddingHasABound makes one worker read a record forever.
func TestPaddingHasABound(t *testing.T) {
	counts := []int64{1 << 40, 1}
	if parts, err := fileset.DivideFiles(counts, 1, 2, UnevenPad); err == nil {
		t.Errorf("%d stretches", len(parts))
	}
	if parts, err := fileset.DivideFiles([]int64{1000, 1}, 1, 2, UnevenPad); err != nil || len(parts) != 1000 {
		t.Errorf("%d stretches, %v", len(parts), err)
	}
}

// FuzzState resumes from anything.
func FuzzState(f *testing.F) {
	dir := readertest.WriteShards(f, tfrecord.CompressionNone, 5, 7)
	set := open(f, dir, Options{SkipBad: SkipBad{Count: 3}})
	names := slices.Sorted(maps.Keys(pipelines))
	for i, name := range names {
		s, err := pipelines[name](set).Start(f.Context(), From{})
		if err != nil {
			f.Fatal(err)
		}
		for range 7 {
			s.Next()
		}
		state, err := json.Marshal(s.State())
		s.Close()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), state)
	}
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		var state State
		if json.Unmarshal(data, &state) != nil {
			return
		}
		state.Dataset, _ = set.Fingerprint(t.Context()) // which a fuzzer cannot guess
		readSome(t, pipelines[names[int(i)%len(names)]](set), &state)
	})
}

// A forgotten argument is an error, not a panic.
func TestNothingToBeginWith(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 3), Options{})
	var none context.Context
	for name, begin := range map[string]func() error{
		"a pipe without a context": func() error { _, err := set.Records().Start(none, From{}); return err },
		"a flow without a context": func() error { _, err := ParseColumns(set.Records(), ColumnSpec{}).Start(none, From{}); return err },
		"counting without":         func() error { _, err := set.Len(none); return err },
		"one record without":       func() error { _, err := set.At(none, nil, 1); return err },
		"a pipe of nothing":        func() error { _, err := Pipe{}.Shuffle(3).Start(t.Context(), From{}); return err },
		"a flow of nothing":        func() error { _, err := Flow[int]{}.Start(t.Context(), From{}); return err },
		"batches of nothing":       func() error { _, err := Batch(Flow[int]{}, 3, BatchOptions{}).Start(t.Context(), From{}); return err },
		"to take less than none":   func() error { return readSome(t, set.Records().Take(-1), nil) },
		"to skip less than none":   func() error { return readSome(t, set.Records().Skip(-1), nil) },
	} {
		if err := begin(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
