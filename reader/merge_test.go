package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// elastic are pipelines, by name, each of one worker.
var elastic = map[string]func(of func() *Set) Pipe{
	"interleave": func(of func() *Set) Pipe { return of().Interleave(3, 2) },
	"shuffle":    func(of func() *Set) Pipe { return of().Interleave(2, 1).Shuffle(50) },
	"all":        func(of func() *Set) Pipe { return of().ShuffleAll(ShuffleAllOptions{}) },
	"all, late":  func(of func() *Set) Pipe { return of().ShuffleAll(ShuffleAllOptions{Block: 4}).Shuffle(20) },
	"repeat":     func(of func() *Set) Pipe { return of().ShuffleAll(ShuffleAllOptions{}).Repeat(2) },
	"sample": func(of func() *Set) Pipe {
		s := of()
		all, err := s.Len(context.Background())
		if err != nil {
			panic(err)
		}
		return s.Sample(WeightedSampler(slices.Repeat([]float64{1, 3}, int(all/2)), WeightedOptions{Records: all + 7, Replacement: true})).Repeat(2)
	},
	"cache": func(of func() *Set) Pipe { return of().Interleave(2, 1).Cache(CacheOptions{}).Shuffle(9).Repeat(2) },
	"map": func(of func() *Set) Pipe {
		return MapData(of().Records(), func(dst []byte, r Record) ([]byte, error) { return append(dst, r.Data...), nil }, MapDataOptions{}).
			Filter(func(r Record) (bool, error) { return idOf(r)%2 == 1, nil })
	},
	"mix": func(of func() *Set) Pipe {
		odd := func(r Record) (bool, error) { return idOf(r)%2 == 1, nil }
		even := func(r Record) (bool, error) { return idOf(r)%2 == 0, nil }
		return Mix(MixOptions{Weights: []float64{1, 2}}, of().Records().Filter(odd).Shuffle(8), of().Interleave(2, 1).Filter(even))
	},
	"concat": func(of func() *Set) Pipe {
		return Concat(of().Records(), of().ShuffleAll(ShuffleAllOptions{})).Prefetch(2)
	},
}

// elasticJob is the running workers of a job.
type elasticJob struct {
	batch   int
	streams []*Stream[[]Record]
	got     []int
}

// startJob starts as many workers, from a State if there is one.
func startJob(t *testing.T, dir, pipe string, workers, batch int, epoch int64, state *State) *elasticJob {
	t.Helper()
	j := &elasticJob{batch: batch}
	for w := range workers {
		of := func() *Set { return open(t, dir, Options{Seed: 3, Worker: w, Workers: workers, Memory: 8 << 20}) }
		f := Batch(elastic[pipe](of), batch, BatchOptions{})
		from := From{Epoch: epoch}
		if state != nil {
			from = From{State: state}
		}
		s, err := f.Start(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		j.streams = append(j.streams, s)
	}
	return j
}

// step receives a batch of each worker, and returns the records of all; none at the end of the
// epoch.
func (j *elasticJob) step(t *testing.T) (ids []int) {
	t.Helper()
	for w := range j.streams {
		ids = append(ids, j.next(t, w)...)
	}
	return ids
}

func (j *elasticJob) next(t *testing.T, worker int) (ids []int) {
	t.Helper()
	b, err := j.streams[worker].Next()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range b {
		ids = append(ids, idOf(r))
	}
	j.got = append(j.got, ids...)
	return ids
}

// merge ends the job and merges its States, as JSON and in any order.
func (j *elasticJob) merge(t *testing.T, r *rand.Rand) *State {
	t.Helper()
	var states []State
	for _, s := range j.streams {
		state, err := roundTrip(s.State())
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
		s.Close()
	}
	r.Shuffle(len(states), func(a, b int) { states[a], states[b] = states[b], states[a] })
	merged, err := MergeStates(states)
	if err != nil {
		t.Fatal(err)
	}
	if merged, err = roundTrip(merged); err != nil {
		t.Fatal(err)
	}
	return &merged
}

func (j *elasticJob) close() {
	for _, s := range j.streams {
		s.Close()
	}
}

// Whatever the pipeline, and however often the number of workers changes in an epoch, at any steps
// of the workers: every record is read as often as without that, and the next epoch is as usual.
func TestMergedStatesReadEachRecordOnce(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 90, 0, 41, 130, 7)
	for pipe := range elastic {
		t.Run(pipe, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(4) {
				r := rand.New(rand.NewPCG(seed, 1))
				counts := []int{8, 4, 16}
				if seed > 0 {
					counts = []int{1 + r.IntN(7), 1 + r.IntN(7), 1 + r.IntN(7)}
				}
				whole := startJob(t, dir, pipe, counts[0], 5, 1, nil)
				for whole.step(t) != nil {
				}
				whole.close()
				want := slices.Sorted(slices.Values(whole.got))

				var got []int
				var state *State
				for i, n := range counts {
					j := startJob(t, dir, pipe, n, 1+r.IntN(6), 1, state)
					for w := range j.streams { // each worker its own number of steps
						for range r.IntN(2 + len(want)/n/6) {
							j.next(t, w)
						}
					}
					if i+1 < len(counts) {
						state = j.merge(t, r)
						got = append(got, j.got...)
						continue
					}
					for w := range j.streams {
						if r.IntN(2) == 0 { // an ordinary State of a worker of a merged job
							j.resume(t, dir, pipe, w)
						}
						for j.next(t, w) != nil {
						}
					}
					got = append(got, j.got...)
					if sorted := slices.Sorted(slices.Values(got)); !slices.Equal(sorted, want) {
						t.Fatalf("workers %v: got %d records, want %d: %v", counts, len(got), len(want), missing(want, sorted))
					}
					j.got = nil
					again := startJob(t, dir, pipe, n, 5, 2, nil)
					for w := range j.streams {
						if err := j.streams[w].NextEpoch(); err != nil {
							t.Fatal(err)
						}
						for j.next(t, w) != nil {
						}
						for again.next(t, w) != nil {
						}
					}
					if !slices.Equal(j.got, again.got) {
						t.Errorf("workers %v: the epoch after a merge is not as usual", counts)
					}
					j.close()
					again.close()
				}
			}
		})
	}
}

// resume continues a worker from its State in a new stream, with other batches.
func (j *elasticJob) resume(t *testing.T, dir, pipe string, worker int) {
	t.Helper()
	state, err := roundTrip(j.streams[worker].State())
	if err != nil {
		t.Fatal(err)
	}
	j.streams[worker].Close()
	of := func() *Set {
		return open(t, dir, Options{Seed: 3, Worker: worker, Workers: len(j.streams), Memory: 8 << 20})
	}
	if j.streams[worker], err = Batch(elastic[pipe](of), j.batch, BatchOptions{}).Start(t.Context(), From{State: &state}); err != nil {
		t.Fatal(err)
	}
}

// missing lists the differences of two sorted lists.
func missing(want, got []int) (diff []string) {
	count := map[int]int{}
	for _, id := range want {
		count[id]++
	}
	for _, id := range got {
		count[id]--
	}
	for id, n := range count {
		if n != 0 {
			diff = append(diff, fmt.Sprintf("%+d of record %d", -n, id))
		}
	}
	return diff
}

// With the same total size of batches, each step has the same records with other numbers of
// workers.
func TestMergedStatesKeepGlobalBatches(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 320, 320)
	for pipe := range elastic {
		t.Run(pipe, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, 7))
			straight := startJob(t, dir, pipe, 8, 2, 0, nil)
			var want [][]int
			for range 12 {
				want = append(want, slices.Sorted(slices.Values(straight.step(t))))
			}
			straight.close()
			var state *State
			n := 0
			for _, workers := range []int{8, 4, 16} {
				j := startJob(t, dir, pipe, workers, 16/workers, 0, state)
				for range 4 {
					if got := slices.Sorted(slices.Values(j.step(t))); !slices.Equal(got, want[n]) {
						t.Fatalf("step %d, by %d workers: records %v, want %v", n, workers, got, want[n])
					}
					n++
				}
				state = j.merge(t, r)
			}
		})
	}
}

func TestMergeStatesRefuses(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 30, 30)
	state := func(pipe string, worker, workers int, epoch int64) State {
		of := func() *Set { return open(t, dir, Options{Worker: worker, Workers: workers}) }
		s, err := elastic[pipe](of).Start(t.Context(), From{Epoch: epoch})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		return s.State()
	}
	other := state("shuffle", 1, 2, 0)
	other.Dataset = "another"
	counted := func(worker int) State {
		of := func() *Set { return open(t, dir, Options{Worker: worker, Workers: 2}) }
		s, err := Batch(elastic["shuffle"](of), 2, BatchOptions{}).Take(3).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		return s.State()
	}
	for want, states := range map[string][]State{
		"a position of take": {counted(0), counted(1)},
		"no States":          nil,
		"one of 2 workers":   {state("shuffle", 0, 2, 0)},
		"two States are of":  {state("shuffle", 0, 2, 0), state("shuffle", 0, 2, 0)},
		"epoch 1":            {state("shuffle", 0, 2, 0), state("shuffle", 1, 2, 1)},
		"the dataset":        {state("shuffle", 0, 2, 0), other},
		`format ""`:          {{}},
		"there are 3 States": {state("shuffle", 0, 2, 0), state("shuffle", 1, 2, 0), state("shuffle", 1, 2, 0)},
	} {
		if _, err := MergeStates(states); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
	one, err := elastic["shuffle"](func() *Set { return open(t, dir, Options{}) }).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	one.Close()
	if _, err := elastic["shuffle"](func() *Set { return open(t, dir, Options{Worker: 1, Workers: 3}) }).Start(t.Context(), From{State: new(one.State())}); err == nil || !strings.Contains(err.Error(), "MergeStates") {
		t.Errorf("another number of workers: %v, want it to name MergeStates", err)
	}
	// Two pipelines that differ are found when they are resumed.
	merged, err := MergeStates([]State{state("shuffle", 0, 2, 0), state("interleave", 1, 2, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := elastic["shuffle"](func() *Set { return open(t, dir, Options{}) }).Start(t.Context(), From{State: &merged}); !errors.Is(err, ErrState) {
		t.Errorf("of two pipelines: %v", err)
	}
}

// Numbers that no merge wrote are refused, or lead to an error, never to a panic.
func TestMergedStatesAreNotTrusted(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 60, 60)
	j := startJob(t, dir, "shuffle", 2, 4, 0, nil)
	j.step(t)
	merged := j.merge(t, rand.New(rand.NewPCG(1, 1)))
	p := elastic["shuffle"](func() *Set { return open(t, dir, Options{Seed: 3, Worker: 1, Workers: 3}) })
	s, err := p.Start(t.Context(), From{State: merged})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	good := s.State()
	s.Close()
	data, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		bad := slices.Clone(data)
		for range 1 + r.IntN(3) {
			if i := r.IntN(len(bad)); bad[i] >= '0' && bad[i] <= '9' {
				bad[i] = byte('0' + r.IntN(10))
			} else if r.IntN(40) == 0 {
				bad[i] = '-'
			}
		}
		var state State
		if json.Unmarshal(bad, &state) != nil {
			continue
		}
		s, err := p.Start(t.Context(), From{State: &state})
		for n := 0; err == nil && n < 1000; n++ {
			_, err = s.Next()
		}
		if s != nil {
			s.Close()
		}
		if err == nil {
			t.Fatal("more records than there are")
		}
	}
	for _, state := range []State{
		{Merged: good.Merged}, {Merged: good.Merged, Stages: []StagePosition{{Name: stages.MergeName}}},
		{Format: StateFormat, Version: StateVersion, Dataset: good.Dataset, Merged: []State{{}}, Stages: good.Stages},
	} {
		if _, err := p.Start(t.Context(), From{State: &state}); !errors.Is(err, ErrState) {
			t.Errorf("%+v: %v", state, err)
		}
	}
}
