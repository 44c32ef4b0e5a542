package reader

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// pair joins the numbers of two records.
func pair(r []Record) ([2]int, error) { return [2]int{idOf(r[0]), idOf(r[1])}, nil }

func zipped(t *testing.T, f Flow[[2]int], from From) (pairs [][2]int) {
	t.Helper()
	s, err := f.Start(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for p, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// Each pair has the records that the pipes return at the same place, in each epoch and from each
// State.
func TestZipPairs(t *testing.T) {
	left, right := readertest.WriteShards(t, tfrecord.CompressionNone, 30, 0, 51, 19), readertest.WriteShards(t, tfrecord.CompressionNone, 60, 40)
	a := open(t, left, Options{Seed: 2}).Records().Shuffle(9)
	b := open(t, right, Options{Seed: 3}).ShuffleAll(ShuffleAllOptions{}).Filter(func(r Record) (bool, error) { return r.Number%3 > 0, nil })
	f := Zip(pair, a, b)
	for epoch := range int64(2) {
		var want [][2]int
		x, y := idsOfEpoch(t, a, epoch), idsOfEpoch(t, b, epoch)
		for i := range min(len(x), len(y)) {
			want = append(want, [2]int{x[i], y[i]})
		}
		if got := zipped(t, f, From{Epoch: epoch}); !slices.Equal(got, want) {
			t.Fatalf("epoch %d: %v, want %v", epoch, got, want)
		}
		s, err := f.Start(t.Context(), From{Epoch: epoch})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			state, err := roundTrip(s.State())
			if err != nil {
				t.Fatal(err)
			}
			if got := zipped(t, f, From{State: &state}); !slices.Equal(got, want[i+1:]) {
				t.Fatalf("resumed after %d pairs: %v, want %v", i+1, got, want[i+1:])
			}
		}
		s.Close()
	}
}

func idsOfEpoch(t *testing.T, p Pipe, epoch int64) []int {
	t.Helper()
	s, err := p.Start(t.Context(), From{Epoch: epoch})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return rest(t, s)
}

func TestZipRefuses(t *testing.T) {
	good := mixed(t, Options{}, 3)[0]
	var states []State
	for w := range 2 {
		s, err := Concat(mixed(t, Options{Worker: w, Workers: 2}, 9)...).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, s.State())
		s.Close()
	}
	merged, err := MergeStates(states)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Zip(pair, good, good).Start(t.Context(), From{State: &merged}); !errors.Is(err, ErrState) {
		t.Errorf("a merged State: %v", err)
	}
	for want, f := range map[string]Flow[[2]int]{
		"may skip records":       Zip(pair, good, mixed(t, Options{SkipBad: SkipBad{Count: 1}}, 3)[0]),
		"is Unordered":           Zip(pair, good, Mix(MixOptions{}, good, mixed(t, Options{Unordered: true}, 3)[0])),
		"among 2 workers":        Zip(pair, slices.Repeat(mixed(t, Options{Worker: 1, Workers: 2, ShardBy: ShardRecords}, 3), 2)...),
		"Zip without a Pipe":     Zip(pair),
		"has no Set":             Zip(pair, good, Pipe{}),
		"Zip without a function": Zip[[2]int](nil, good, good),
		"record 0 at byte 0":     Zip(func([]Record) (p [2]int, err error) { return p, errors.New("not a pair") }, good, good),
	} {
		s, err := f.Start(t.Context(), From{})
		if err == nil {
			_, err = s.Next()
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
}
