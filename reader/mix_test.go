package reader

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// mixed opens sets of so many records each, record k of set i having number i*1000+k, and returns
// their pipes.
func mixed(t *testing.T, o Options, lengths ...int) []Pipe {
	t.Helper()
	var pipes []Pipe
	for i, n := range lengths {
		dir := t.TempDir()
		records := make([][]byte, n)
		for k := range records {
			records[k] = readertest.Numbered(i, k)
		}
		readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionNone, records...)
		pipes = append(pipes, open(t, dir, o).Records())
	}
	return pipes
}

// The shares of the pipes are those of the weights, each keeps its order, and nothing is lost.
func TestMixDrawsByWeight(t *testing.T) {
	lengths := []int{900, 900, 900}
	ids := idsOf(t, Mix(MixOptions{Weights: []float64{6, 3, 1}}, mixed(t, Options{Seed: 4}, lengths...)...))
	if sorted := slices.Sorted(slices.Values(ids)); !slices.Equal(sorted, readertest.InOrder(lengths...)) {
		t.Fatalf("%d records, want each of the %d once", len(ids), len(readertest.InOrder(lengths...)))
	}
	next, drawn := [3]int{}, [3]float64{}
	for n, id := range ids {
		if id%1000 != next[id/1000] {
			t.Fatalf("element %d is record %d of pipe %d, want %d", n, id%1000, id/1000, next[id/1000])
		}
		next[id/1000]++
		if n < 1000 { // all three have some left
			drawn[id/1000]++
		}
	}
	for i, want := range []float64{600, 300, 100} {
		// Four standard deviations of a binomial distribution.
		if off := math.Abs(drawn[i] - want); off > 4*math.Sqrt(want*(1-want/1000)) {
			t.Errorf("pipe %d: %g of 1000 draws, want about %g", i, drawn[i], want)
		}
	}
}

// Epochs draw differently, and a seed draws the same again.
func TestMixDrawsByEpochAndSeed(t *testing.T) {
	pipes := mixed(t, Options{}, 200, 200)
	seed := uint64(9)
	of := func(epoch int64, o MixOptions) []int {
		s, err := Mix(o, pipes...).Start(t.Context(), From{Epoch: epoch})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return rest(t, s)
	}
	first := of(0, MixOptions{})
	if !slices.Equal(first, of(0, MixOptions{})) {
		t.Error("epoch 0 is not the same again")
	}
	for name, other := range map[string][]int{"epoch 1": of(1, MixOptions{}), "another seed": of(0, MixOptions{Seed: &seed})} {
		if slices.Equal(first, other) {
			t.Errorf("%s draws as epoch 0 does", name)
		}
	}
}

func TestMixStopsOnEmpty(t *testing.T) {
	pipes := mixed(t, Options{}, 5, 100)
	big := pipes[1].Repeat(-1)
	ids := idsOf(t, Mix(MixOptions{StopOnEmpty: true}, pipes[0], big))
	small := 0
	for _, id := range ids {
		if id < 1000 {
			small++
		}
	}
	if small != 5 {
		t.Errorf("%d of the 5 records of the pipe that ends first", small)
	}
	if last := idsOf(t, Mix(MixOptions{}, pipes...)); len(last) != 105 {
		t.Errorf("%d records of 105 without StopOnEmpty", len(last))
	}
}

func TestChoose(t *testing.T) {
	pipes := mixed(t, Options{}, 3, 3)
	o := MixOptions{Choose: func(_, n int64) int { return int(n % 2) }}
	if ids, want := idsOf(t, Mix(o, pipes...)), []int{0, 1000, 1, 1001, 2, 1002}; !slices.Equal(ids, want) {
		t.Errorf("in turns: %v, want %v", ids, want)
	}
	o.Choose = func(_, n int64) int { return []int{1, 1, 0, -1}[n] }
	if ids, want := idsOf(t, Mix(o, pipes...)), []int{1000, 1001, 0}; !slices.Equal(ids, want) {
		t.Errorf("until -1: %v, want %v", ids, want)
	}
	o.Choose = func(int64, int64) int { return 1 }
	if _, err := readAll(Mix(o, pipes...)); err == nil || !strings.Contains(err.Error(), "have ended") {
		t.Errorf("a pipe that has ended, for ever: %v", err)
	}
	o.Choose = func(int64, int64) int { return 2 }
	if _, err := readAll(Mix(o, pipes...)); err == nil || !strings.Contains(err.Error(), "want a pipe from 0 to 1") {
		t.Errorf("a pipe that does not exist: %v", err)
	}
}

// readAll counts the records of a pipe.
func readAll(p Pipe) (n int, err error) {
	for _, err := range p.All(context.Background()) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Records after Mix and Concat know their file and their pipe, also of nested ones, and of a set
// that is in it twice.
func TestJoinedSetsKnowTheirRecords(t *testing.T) {
	pipes := mixed(t, Options{}, 20, 20, 20)
	inner := Mix(MixOptions{}, pipes[1], pipes[2])
	for name, p := range map[string]Pipe{
		"mix": Mix(MixOptions{}, pipes[0], inner, pipes[0]), "concat": Concat(pipes[0], inner, pipes[0]),
	} {
		seen := map[int]int{}
		for r, err := range p.Cache(CacheOptions{}).Repeat(2).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			of := idOf(r) / 1000
			if want := pipes[of].Set().Path(r0(r)); p.Set().Path(r) != want {
				t.Fatalf("%s: a record of pipe %d has the path %s, want %s", name, of, p.Set().Path(r), want)
			}
			in := p.Set().Input(r)
			if (in == 1) != (of > 0) {
				t.Fatalf("%s: a record of set %d is said to be of pipe %d", name, of, in)
			}
			seen[in]++
		}
		if seen[0] != 40 || seen[1] != 80 || seen[2] != 40 {
			t.Errorf("%s: records by pipe: %v, want 40, 80, 40", name, seen)
		}
	}
}

// r0 is the record in its own set, which has one file.
func r0(r Record) Record {
	r.File = 0
	return r
}

// Other weights apply from the next stretch after the State, in which nothing is lost or repeated.
func TestMixResumesWithOtherWeights(t *testing.T) {
	pipes := mixed(t, Options{}, 999, 999)
	for _, stop := range []int{0, 1, 511, 512, 513, 700} {
		s, err := Mix(MixOptions{Weights: []float64{1, 1}}, pipes...).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		var ids []int
		for range stop {
			r, err := s.Next()
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, idOf(r))
		}
		state, err := roundTrip(s.State())
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		other := Mix(MixOptions{Weights: []float64{0, 1}}, pipes...)
		if s, err = other.Start(t.Context(), From{State: &state}); err != nil {
			t.Fatal(err)
		}
		from := (stop/stages.MixStretch + 1) * stages.MixStretch
		if stop%stages.MixStretch == 0 {
			from = stop + stages.MixStretch // at most
		}
		ids = append(ids, rest(t, s)...)
		s.Close()
		ones := 0
		for _, id := range ids {
			if id >= 1000 {
				if id != 1000+ones {
					t.Fatalf("after %d: record %d of pipe 1 instead of %d", stop, id-1000, ones)
				}
				ones++
			}
		}
		if ones != 999 {
			t.Errorf("after %d: %d of 999 records of pipe 1", stop, ones)
		}
		for n, id := range ids[min(from, len(ids)):] {
			if id < 1000 {
				t.Fatalf("after %d: element %d is of pipe 0, whose weight is 0", stop, from+n)
			}
		}
		shuffled := Mix(MixOptions{Weights: []float64{1, 1}}, pipes...).Shuffle(5)
		if s, err = shuffled.Start(t.Context(), From{}); err != nil {
			t.Fatal(err)
		}
		state = s.State()
		s.Close()
		if _, err := other.Shuffle(5).Start(t.Context(), From{State: &state}); !errors.Is(err, ErrState) {
			t.Errorf("a Shuffle after Mix, and other weights: %v", err)
		}
	}
}

func TestJoinsRefuse(t *testing.T) {
	pipes := mixed(t, Options{}, 3, 3)
	another := mixed(t, Options{Worker: 1, Workers: 2}, 3)[0]
	within := mixed(t, Options{BatchWithinEpoch: true}, 3)[0]
	for want, p := range map[string]Pipe{
		"without a Pipe":              Mix(MixOptions{}),
		"pipe 1 has no Set":           Concat(pipes[0], Pipe{}),
		"pipe 0 has no Set":           Mix(MixOptions{}, Pipe{}),
		"of worker 1 of 2":            Mix(MixOptions{}, pipes[0], another),
		"3 Weights for 2":             Mix(MixOptions{Weights: []float64{1, 2, 3}}, pipes...),
		"weight 1 is -1":              Mix(MixOptions{Weights: []float64{1, -1}}, pipes...),
		"weight 0 is NaN":             Mix(MixOptions{Weights: []float64{math.NaN(), 1}}, pipes...),
		"add up to 0":                 Mix(MixOptions{Weights: []float64{0, 0}}, pipes...),
		"add up to +Inf":              Mix(MixOptions{Weights: []float64{math.MaxFloat64, math.MaxFloat64}}, pipes...),
		"neither Weights nor a Seed":  Mix(MixOptions{Choose: func(int64, int64) int { return 0 }, Weights: []float64{1, 1}}, pipes...),
		"a different number of times": Mix(MixOptions{}, pipes[0], pipes[1].Repeat(2)).Cache(CacheOptions{}),
		"BatchWithinEpoch":            Mix(MixOptions{}, within, pipes[0].Repeat(2)),
	} {
		if _, err := readAll(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
}

// Positions that no Mix or Concat wrote are refused.
func TestJoinsRefuseStates(t *testing.T) {
	pipes := mixed(t, Options{}, 700, 700)
	for name, p := range map[string]Pipe{"mix": Mix(MixOptions{}, pipes...), "concat": Concat(pipes...)} {
		s, err := p.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		for range 600 {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		good := s.State()
		s.Close()
		last := len(good.Stages) - 1
		for i := range good.Stages[last].At {
			for _, v := range []int64{-1 << 63, -3, 1 << 33, 1<<63 - 1} {
				bad := pipeline.CloneState(&good)
				bad.Stages[last].At[i] = v
				s, err := p.Start(t.Context(), From{State: &bad})
				if err == nil {
					// A place far behind the end is found while reading.
					for err == nil {
						_, err = s.Next()
					}
					s.Close()
				}
				// Any number of draws up to maxSkip is possible, and any weight.
				weight := math.Float64frombits(uint64(v))
				possible := name == "mix" && (i == 0 && v > 0 && v <= pipeline.MaxSkip || i > 0 && i%2 == 0 && weight >= 0 && !math.IsInf(weight, 0))
				if !errors.Is(err, ErrState) && !(possible && err == io.EOF) {
					t.Errorf("%s: word %d is %d: %v", name, i, v, err)
				}
			}
		}
		if good.Stages[last].At = good.Stages[last].At[1:]; name == "mix" {
			if _, err := p.Start(t.Context(), From{State: &good}); !errors.Is(err, ErrState) {
				t.Errorf("%s: a section too short: %v", name, err)
			}
		}
	}
}

// The limits of all sets together bound what is skipped after Mix; the limit of a set bounds what is
// skipped in its own pipe.
func TestMixSkipsWithinLimits(t *testing.T) {
	pipes := mixed(t, Options{SkipBad: SkipBad{Count: 3}}, 50, 50)
	fails := func(n int) Pipe {
		return Mix(MixOptions{}, pipes...).Filter(func(r Record) (bool, error) {
			if r.Number < int64(n) {
				return false, errors.New("bad")
			}
			return true, nil
		})
	}
	if n, err := readAll(fails(3)); n != 94 || err != nil {
		t.Errorf("6 bad records of 100, 3 allowed in each set: %d records, %v", n, err)
	}
	if _, err := readAll(fails(4)); !errors.Is(err, ErrTooManyBad) {
		t.Errorf("8 bad records: %v", err)
	}
	bad := pipes[0].Filter(func(r Record) (bool, error) {
		if r.Number < 4 {
			return false, errors.New("bad")
		}
		return true, nil
	})
	if _, err := readAll(Mix(MixOptions{}, bad, pipes[1])); !errors.Is(err, ErrTooManyBad) {
		t.Errorf("4 bad records in one set: %v", err)
	}
}

// A State names the stages of the pipes before those that follow.
func TestStatesOfJoinsNameTheirStages(t *testing.T) {
	pipes := mixed(t, Options{Seed: 5}, 3, 3)
	s, err := Mix(MixOptions{}, pipes[0], pipes[1].Repeat(2)).Take(4).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var names []string
	for _, stage := range s.State().Stages {
		names = append(names, stage.Name)
	}
	data, _ := json.Marshal(names)
	if want := `["interleave(cycle=1,block=1)","interleave(cycle=1,block=1)","repeat(2)","mix(seed=5,pipes=2)","take(4)"]`; string(data) != want {
		t.Errorf("stages %s, want %s", data, want)
	}
}
