package reader

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// flowSteps are stages of flows over slices of numbers: build adds the stage, and model is what it
// does to an epoch, by the simplest definition. N is the argument.
var flowSteps = map[string]struct {
	build func(f Flow[[]int], n int) Flow[[]int]
	model func(in [][]int, n int) [][]int
}{
	"take": {
		func(f Flow[[]int], n int) Flow[[]int] { return f.Take(int64(n)) },
		func(in [][]int, n int) [][]int { return in[:min(n, len(in))] },
	},
	"skip": {
		func(f Flow[[]int], n int) Flow[[]int] { return f.Skip(int64(n)) },
		func(in [][]int, n int) [][]int { return in[min(n, len(in)):] },
	},
	"enumerate": {
		func(f Flow[[]int], _ int) Flow[[]int] {
			return Map(Enumerate(f), func(e Indexed[[]int]) ([]int, error) {
				return append(slices.Clone(e.Value), int(e.Index)), nil
			}, MapOptions{})
		},
		func(in [][]int, _ int) (out [][]int) {
			for i, v := range in {
				out = append(out, append(slices.Clone(v), i))
			}
			return out
		},
	},
	"batch": {
		func(f Flow[[]int], n int) Flow[[]int] {
			return joined(Batch(f, n+1, BatchOptions{DropRemainder: n%2 == 0}))
		},
		func(in [][]int, n int) (out [][]int) {
			for b := range slices.Chunk(in, n+1) {
				if len(b) == n+1 || n%2 > 0 {
					out = append(out, slices.Concat(b...))
				}
			}
			return out
		},
	},
	"batch, take, unbatch": {
		func(f Flow[[]int], n int) Flow[[]int] { return Unbatch(Batch(f, 1+n%5, BatchOptions{}).Take(int64(n))) },
		func(in [][]int, n int) [][]int { return in[:min((1+n%5)*n, len(in))] },
	},
	"batch, unbatch": {
		func(f Flow[[]int], n int) Flow[[]int] {
			return Unbatch(Batch(f, n+1, BatchOptions{DropRemainder: n%2 == 0}))
		},
		func(in [][]int, n int) [][]int {
			if n%2 == 0 {
				in = in[:len(in)-len(in)%(n+1)]
			}
			return in
		},
	},
	"split": {
		func(f Flow[[]int], n int) Flow[[]int] {
			return Unbatch(Map(f, func(v []int) ([][]int, error) { return split(v), nil }, MapOptions{Workers: n % 3}))
		},
		func(in [][]int, _ int) (out [][]int) {
			for _, v := range in {
				out = append(out, split(v)...)
			}
			return out
		},
	},
	"filter": {
		func(f Flow[[]int], n int) Flow[[]int] {
			return f.Filter(func(v []int) (bool, error) { return sum(v)%(2+n%3) != 0, nil })
		},
		func(in [][]int, n int) [][]int {
			return slices.DeleteFunc(slices.Clone(in), func(v []int) bool { return sum(v)%(2+n%3) == 0 })
		},
	},
	"map": {
		func(f Flow[[]int], n int) Flow[[]int] {
			return Map(f, func(v []int) ([]int, error) { return v, nil }, MapOptions{Workers: n % 4})
		},
		func(in [][]int, _ int) [][]int { return in },
	},
	"prefetch": {
		func(f Flow[[]int], n int) Flow[[]int] { return f.Prefetch(n) },
		func(in [][]int, _ int) [][]int { return in },
	},
	"cache": { // and then each epoch is the first one
		func(f Flow[[]int], _ int) Flow[[]int] { return f.Cache(CacheOptions{}) },
		func(in [][]int, _ int) [][]int { return in },
	},
	"bucket": {
		func(f Flow[[]int], n int) Flow[[]int] {
			return joined(BucketByLength(f, lengthOf, bucketsOf(n)))
		},
		func(in [][]int, n int) (out [][]int) {
			for _, b := range bucketModel(in, lengthOf, bucketsOf(n)) {
				out = append(out, slices.Concat(b...))
			}
			return out
		},
	},
	"bucket, unbatch": {
		func(f Flow[[]int], n int) Flow[[]int] {
			return Unbatch(BucketByLength(f, lengthOf, bucketsOf(n)))
		},
		func(in [][]int, n int) [][]int { return slices.Concat(bucketModel(in, lengthOf, bucketsOf(n))...) },
	},
	"pack": {packFlow, packFlowModel},
	// These have no model here: see flowTrial.modelled.
	"shuffle": {build: func(f Flow[[]int], n int) Flow[[]int] {
		return f.ShuffleWith(ShuffleOptions{Buffer: 1 + n, SameEachEpoch: n%3 == 0})
	}},
	"repeat": {build: func(f Flow[[]int], n int) Flow[[]int] { return f.Repeat(n % 4) }},
}

func joined(f Flow[[][]int]) Flow[[]int] {
	return Map(f, func(b [][]int) ([]int, error) { return slices.Concat(b...), nil }, MapOptions{})
}

// split returns slices of one number, and of two at the end.
func split(v []int) (out [][]int) {
	for len(v) > 2 {
		out, v = append(out, v[:1]), v[1:]
	}
	if len(v) > 0 {
		out = append(out, v)
	}
	return out
}

func lengthOf(v []int) int { return len(v) }

func sum(v []int) (n int) {
	for _, x := range v {
		n += x
	}
	return n
}

// bucketsOf draws options.
func bucketsOf(seed int) (o BucketOptions) {
	rnd := rand.New(rand.NewPCG(uint64(seed), 4))
	o.DropRemainder = rnd.IntN(3) == 0
	o.BatchSizes = []int{1 + rnd.IntN(6)}
	for at := rnd.IntN(3); len(o.Boundaries) == 0 || rnd.IntN(3) > 0; at += 1 + rnd.IntN(4) {
		o.Boundaries = append(o.Boundaries, at)
		o.BatchSizes = append(o.BatchSizes, 1+rnd.IntN(6))
	}
	return o
}

// bucketModel is tf.data's bucket_by_sequence_length, without its padding.
func bucketModel[T any](in []T, length func(T) int, o BucketOptions) (out [][]T) {
	held := make([][]T, len(o.BatchSizes))
	for _, v := range in {
		i := 0
		for i < len(o.Boundaries) && length(v) >= o.Boundaries[i] {
			i++
		}
		if held[i] = append(held[i], v); len(held[i]) == o.BatchSizes[i] {
			out, held[i] = append(out, held[i]), nil
		}
	}
	for _, rest := range held {
		if len(rest) > 0 && !o.DropRemainder {
			out = append(out, rest)
		}
	}
	return out
}

// flowTrial is a flow drawn from a seed.
type flowTrial struct {
	Files  []int
	Source string
	Bad    bool
	Epochs int
	Steps  []step // with N only
}

func drawFlow(rnd *rand.Rand) (t flowTrial) {
	for range 1 + rnd.IntN(3) {
		t.Files = append(t.Files, rnd.IntN(60))
	}
	t.Files[0]++
	t.Bad = rnd.IntN(3) == 0
	t.Epochs = 1 + rnd.IntN(3)
	names := slices.Sorted(maps.Keys(flowSteps))
	for range rnd.IntN(6) {
		t.Steps = append(t.Steps, step{Kind: names[rnd.IntN(len(names))], N: rnd.IntN(60 >> rnd.IntN(6))})
	}
	sources := slices.Sorted(maps.Keys(pipelines))
	t.Source = sources[rnd.IntN(len(sources))]
	for t.cached() && (t.Source == "mix" || t.Source == "all: concat") { // their pipes repeat differently: refused
		t.Source = sources[rnd.IntN(len(sources))]
	}
	return t
}

func (t *flowTrial) cached() bool {
	return slices.ContainsFunc(t.Steps, func(s step) bool { return s.Kind == "cache" })
}

// modelled reports whether all steps have a model. Where one has none, the elements must be those of a
// run that is never stopped.
func (t *flowTrial) modelled() bool {
	return !slices.ContainsFunc(t.Steps, func(s step) bool { return flowSteps[s.Kind].model == nil })
}

var errBadRecord = errors.New("bad record")

// flows returns the flow of the trial, and the one before its steps.
func (t *flowTrial) flows(tb *testing.T) (f, source Flow[[]int]) {
	o := Options{Seed: 5}
	if t.Bad {
		o.SkipBad = SkipBad{Share: 1}
	}
	set := writeSet(tb, o, t.Files...)
	source = Map(pipelines[t.Source](set), func(r Record) ([]int, error) {
		id := int(r.Epoch)*10000 + int(r.File)*1000 + int(r.Number)
		if t.Bad && id%11 == 3 {
			return nil, errBadRecord
		}
		return slices.Repeat([]int{id}, id*id%7), nil
	}, MapOptions{})
	f = source
	for _, s := range t.Steps {
		if s.Kind == "cache" && s.N%2 > 0 {
			f = f.Cache(CacheOptions{Dir: tb.TempDir(), Version: "1"})
			continue
		}
		f = flowSteps[s.Kind].build(f, s.N)
	}
	return f, source
}

// collect returns the rest of the epoch.
func collect(r *Stream[[]int]) (all [][]int, err error) {
	for v, err := range r.All() {
		if err != nil {
			return nil, err
		}
		all = append(all, slices.Clone(v))
	}
	return all, nil
}

// sections are what a State says of the stages of a flow. One position in records has several forms.
func sections(s State) []any { return []any{s.Epoch, s.Flow, s.Skipped, s.Making} }

// Stages of flows return what their models return, in any combination, in every epoch, left early
// or not, and from any State.
func TestStagesOfFlows(t *testing.T) {
	for _, seed := range torture.Sample(t, 60, torture.Seeds(150, 1000)) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		trial := drawFlow(rnd)
		if err := trial.run(t, rnd); err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, trial, err)
		}
	}
}

func (t *flowTrial) run(tb *testing.T, rnd *rand.Rand) error {
	f, source := t.flows(tb)
	if !t.modelled() {
		source = f
	}
	model, err := source.Start(tb.Context(), From{})
	if err != nil {
		return err
	}
	defer model.Close()
	whole, err := f.Start(tb.Context(), From{})
	if err != nil {
		return err
	}
	defer whole.Close()
	r, err := f.Start(tb.Context(), From{})
	if err != nil {
		return err
	}
	defer func() { r.Close() }()
	// Whether an epoch was left early, as Take does.
	left := slices.ContainsFunc(t.Steps, func(s step) bool { return strings.Contains(s.Kind, "take") })
	cached := t.cached()
	var want [][]int
	for epoch := range t.Epochs {
		if epoch > 0 {
			if err := errors.Join(r.NextEpoch(), model.NextEpoch(), whole.NextEpoch()); err != nil {
				return err
			}
		}
		if epoch == 0 || !cached || !t.modelled() {
			if want, err = collect(model); err != nil {
				return err
			}
		}
		want := want
		for _, s := range t.Steps {
			if t.modelled() {
				want = flowSteps[s.Kind].model(want, s.N)
			}
		}
		leave := len(want) + 1
		if rnd.IntN(2) == 0 {
			leave = rnd.IntN(leave)
		}
		for i := 0; i < leave; i++ {
			if rnd.IntN(8) == 0 {
				state, err := roundTrip(r.State())
				if err != nil {
					return err
				}
				r.Close()
				resumed, err := f.Start(tb.Context(), From{State: &state})
				if err != nil {
					return fmt.Errorf("epoch %d, after %d of %d elements: %w", epoch, i, len(want), err)
				}
				r = resumed
				if diff := cmp.Diff(sections(state), sections(r.State()), cmpopts.EquateEmpty()); diff != "" {
					return fmt.Errorf("epoch %d, after %d of %d elements: the state of what was resumed:\n%s", epoch, i, len(want), diff)
				}
			}
			v, err := r.Next()
			if i == len(want) {
				if err != io.EOF {
					return fmt.Errorf("epoch %d, after its %d elements: %v, %v", epoch, i, v, err)
				}
				if _, err := whole.Next(); err != io.EOF {
					return err
				}
				break
			}
			if err != nil || !slices.Equal(v, want[i]) {
				return fmt.Errorf("epoch %d, element %d of %d: got %v, %v; want %v", epoch, i, len(want), v, err, want[i])
			}
			if _, err := whole.Next(); err != nil {
				return err
			}
			got, want := r.State(), whole.State()
			if left { // how much was skipped ahead is not known
				got.Skipped, want.Skipped = nil, nil
			}
			if diff := cmp.Diff([]any{want.Flow, want.Skipped}, []any{got.Flow, got.Skipped}); diff != "" {
				return fmt.Errorf("epoch %d, after element %d: another state than that of a run that was not stopped:\n%s", epoch, i, diff)
			}
		}
		left = left || leave <= len(want)
	}
	return nil
}
