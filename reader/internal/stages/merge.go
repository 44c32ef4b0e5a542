package stages

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// MergeStates combines the States of all workers of a job, in any order, into one with which any
// number of workers continue: each resumes from it with its own Worker and Workers in the
// Options. Element t of worker i counts as element t·workers + i of the job, and new worker j of
// m takes elements j, j + m …, so that every record of the epoch is read once, and workers at the
// same step with batches of the same total size get the same records as before in each step. The
// next epoch is divided as if the job had begun with the new workers.
//
// For the rest of the epoch a new worker runs the pipelines of the old workers that it continues,
// and drops the elements of others: half as many workers run two each; twice as many run one each
// and read all of it. The memory is divided among them. A global order (Set.ShuffleAll and
// Repeat) needs no such detour if all States are of the same step.
//
// The new workers open the set with the options of the former ones, except for Worker and Workers.
// Damage skipped by the former workers does not count against the limit of the new ones. In a
// global order with UnevenDrop, the new workers drop again what cannot be divided evenly.
//
// States of other datasets or epochs, and too few or too many of them, are an error that unwraps to
// ErrState.
func MergeStates(states []pipeline.State) (pipeline.State, error) {
	refuse := func(format string, args ...any) (pipeline.State, error) {
		return pipeline.State{}, fmt.Errorf("merge: %w: "+format, append([]any{pipeline.ErrState}, args...)...)
	}
	if len(states) == 0 {
		return refuse("no States")
	}
	first := &states[0]
	all := make([]pipeline.State, len(states))
	for i := range states {
		s := &states[i]
		switch {
		case s.Format != pipeline.StateFormat || s.Version != first.Version:
			return refuse("State %d has format %q, version %d", i, s.Format, s.Version)
		case s.Workers != len(states):
			return refuse("State %d is of one of %d workers, and there are %d States", i, s.Workers, len(states))
		case s.Worker < 0 || s.Worker >= len(all):
			return refuse("State %d is of worker %d of %d", i, s.Worker, s.Workers)
		case all[s.Worker].Format != "":
			return refuse("two States are of worker %d", s.Worker)
		case len(s.Flow) > 0:
			return refuse("worker %d has a position of %s, which counts or holds elements of this worker alone: such flows continue with the same number of workers", s.Worker, s.Flow[0].Name)
		case s.Dataset != first.Dataset:
			return refuse("worker %d has the dataset %s, worker %d has %s", s.Worker, s.Dataset, first.Worker, first.Dataset)
		case s.Epoch != first.Epoch:
			return refuse("worker %d is in epoch %d, worker %d in %d: save all at the same step", s.Worker, s.Epoch, first.Worker, first.Epoch)
		}
		all[s.Worker] = pipeline.CloneState(s)
		all[s.Worker].Making = nil // batches start over
	}
	if sameGlobalPlace(all) {
		return all[0], nil // from which any number of workers resume
	}
	return pipeline.State{
		Format: pipeline.StateFormat, Version: pipeline.StateVersion, Dataset: first.Dataset, Workers: len(states), Epoch: first.Epoch,
		Stages: []pipeline.StagePosition{{Name: MergeName}}, Merged: all,
	}, nil
}

// sameGlobalPlace reports whether the States are of the same step of a global order.
func sameGlobalPlace(states []pipeline.State) bool {
	for i := range states {
		s, first := &states[i], &states[0]
		if !pipeline.IsGlobal(s) || pipeline.ReceivedOf(s) != pipeline.ReceivedOf(first) || !slices.EqualFunc(s.Stages[1:], first.Stages[1:], func(a, b pipeline.StagePosition) bool {
			return a.Name == b.Name && slices.Equal(a.At, b.At)
		}) {
			return false
		}
	}
	return true
}

// MergeName is the name of the only stage of a merged State.
const MergeName = "merge"

// maxMerges bounds how often States are merged within an epoch.
const maxMerges = 8

// merges returns how often a State was merged.
func merges(s *pipeline.State) (n int) {
	for i := range s.Merged {
		n = max(n, 1+merges(&s.Merged[i]))
	}
	return n
}

// merge continues the pipelines of former workers up to the end of an epoch. Its own section is the
// number of the next element, over all workers, and for each of its inputs the number of elements
// received since the merge and its place.
type merge struct {
	run    *pipeline.Run // its own: blocks of it make merged States
	from   pipeline.State
	in     []former
	live   int   // inputs that have not ended
	coming int64 // number of the worker's next element over all workers
	number int64 // of the block, from 1
	stats  *pipeline.Counters
	err    error
}

// former is the pipeline of a former worker.
type former struct {
	input
	run    *pipeline.Run
	worker int
	taken  int64          // elements since the merge
	state  pipeline.State // to start from
}

// openMerge opens the pipelines that continue a merged State for the worker of r.
func openMerge(r *pipeline.Run, last *pipeline.Link, s *pipeline.State) (*merge, error) {
	refuse := func(format string, args ...any) (*merge, error) {
		return nil, fmt.Errorf("resume: %w: "+format, append([]any{pipeline.ErrState}, args...)...)
	}
	if len(s.Stages) != 1 || s.Stages[0].Name != MergeName {
		return refuse("it has merged States, and stages of its own")
	}
	o, old := r.Opts, len(s.Merged)
	own := s.Stages[0].At
	switch {
	case s.Format != pipeline.StateFormat || s.Version != pipeline.StateVersion:
		return refuse("its format is %q, version %d", s.Format, s.Version)
	case old > pipeline.MaxParts:
		return refuse("it has the States of %d workers: want %d at most", old, pipeline.MaxParts)
	case merges(s) > maxMerges:
		return refuse("it was merged %d times in an epoch: want %d at most", merges(s), maxMerges)
	case s.Dataset != r.Fingerprint:
		return refuse("it is of the dataset %s, this is %s", s.Dataset, r.Fingerprint)
	case pipeline.CheckEpoch(s.Epoch) != nil || s.Skip < 0 || s.Skip > pipeline.MaxSkip:
		return refuse("epoch is %d, skip is %d", s.Epoch, s.Skip)
	case pipeline.CheckSkipped(s) != nil:
		return refuse("%v", pipeline.CheckSkipped(s))
	case own != nil && (s.Worker != o.Worker || s.Workers != o.Workers):
		return refuse("it is of worker %d of %d, this is %d of %d; MergeStates takes those of all workers", s.Worker, s.Workers, o.Worker, o.Workers)
	}
	m := &merge{run: &pipeline.Run{Engine: r.Engine, Opts: r.Opts, Data: r.Data, Fingerprint: r.Fingerprint}, from: pipeline.CloneState(s), coming: int64(o.Worker), stats: r.Stats(MergeName)}
	m.run.StateAt, m.run.Merged = m.state, true
	worker, step := o.Worker, gcd(old, o.Workers)
	n := (old + step - 1) / step
	if own != nil {
		if len(own) != 1+n || own[0] < 0 || own[0] > pipeline.MaxSkip || own[0]%int64(o.Workers) != int64(o.Worker) {
			return nil, pipeline.ErrPosition(MergeName)
		}
		m.coming = own[0]
	}
	for worker %= step; worker < old; worker += step {
		f := former{worker: worker, state: s.Merged[worker]}
		if own != nil {
			if f.taken = own[1+len(m.in)]; f.taken < 0 || f.taken > pipeline.MaxSkip {
				return nil, pipeline.ErrPosition(MergeName)
			}
		}
		if f.state.Epoch != s.Epoch {
			return refuse("it has epochs %d and %d", s.Epoch, f.state.Epoch)
		}
		o.Worker, o.Workers = worker, old
		if f.state.Format != pipeline.StateFormat || f.state.Dataset != s.Dataset || f.state.Worker != worker || f.state.Workers != old {
			return refuse("entry %d of its merged States is of worker %d of %d, in format %q", worker, f.state.Worker, f.state.Workers, f.state.Format)
		}
		var err error
		if f.run, err = m.run.Input(r.Data, r.Opts, o, n); err != nil {
			return nil, err
		}
		if len(f.state.Merged) > 0 {
			var before *merge
			if before, err = openMerge(f.run, last, &f.state); err == nil {
				f.Stage, f.run = pipeline.NewChecked(before, MergeName), before.run
			}
		} else {
			f.Stage, err = last.Build(f.run)
		}
		if err != nil {
			return nil, err
		}
		m.in = append(m.in, f)
	}
	return m, nil
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// Start continues all pipelines where their States say. It has no position of its own to return to.
func (m *merge) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	for i := range m.in {
		f := &m.in[i]
		var at pipeline.Position
		if len(f.state.Merged) == 0 {
			var err error
			if at, err = f.run.Position(&f.state); err != nil {
				return err
			}
		}
		if err := f.begin(ctx, epoch, at, f.state.Skip); err != nil {
			return err
		}
	}
	m.live = len(m.in)
	return nil
}

func (m *merge) Next() (*pipeline.Block, error) {
	if m.err != nil {
		return nil, m.err
	}
	watch := m.stats.Watch()
	out := m.run.NewBlock()
	m.number++
	out.At = m.appendAt(out.At)
	old, workers := int64(len(m.from.Merged)), int64(m.run.Opts.Workers)
	for size := 0; len(out.Records) < pipeline.BlockRecords && size < pipeline.BlockBytes; m.coming += workers {
		if m.live == 0 {
			m.err = io.EOF
			break
		}
		f := m.former(int(m.coming % old))
		if f.ended {
			continue
		}
		watch.Busy()
		err := f.pass(m.coming / old)
		watch.Waited()
		if err == io.EOF {
			m.live--
			continue
		}
		if err != nil {
			m.err = err
			break
		}
		f.give(out, m.number)
		f.taken++
		size += len(out.Records[len(out.Records)-1].Data)
	}
	watch.Busy()
	if len(out.Records) == 0 {
		out.Release()
		return nil, m.err
	}
	m.stats.Gave(out)
	return out, nil
}

// former returns the pipeline of a former worker.
func (m *merge) former(worker int) *former {
	i, _ := slices.BinarySearchFunc(m.in, worker, func(f former, worker int) int { return f.worker - worker })
	return &m.in[i]
}

// pass moves to an element since the merge, dropping those before it; io.EOF if there are not as
// many.
func (f *former) pass(to int64) error {
	for {
		if err := f.fill(); err != nil {
			return err
		}
		if to < f.taken {
			return pipeline.ErrPosition(MergeName)
		}
		n := min(to-f.taken, int64(len(f.blk.Records)-f.i))
		if n == 0 {
			return nil
		}
		f.take(int(n))
		f.taken += n
	}
}

// appendAt appends the position, from which merged makes a State.
func (m *merge) appendAt(dst pipeline.Position) pipeline.Position {
	for i := range m.in {
		f := &m.in[i]
		dst = append(dst, f.at...)
		dst = append(dst, int64(len(f.at)))
	}
	begin := len(dst)
	dst = append(dst, m.coming)
	for i := range m.in {
		f := &m.in[i]
		place := int64(f.i)
		if f.at == nil && place == 0 {
			place = inputAtStart
		}
		dst = append(dst, f.taken, place)
	}
	return append(dst, int64(len(dst)-begin))
}

// state returns the State for a position and n elements after it.
func (m *merge) state(at pipeline.Position, n int64) pipeline.State {
	s := pipeline.CloneState(&m.from)
	o := m.run.Opts
	s.Worker, s.Workers, s.Skip, s.Skipped = o.Worker, o.Workers, n, nil
	if len(at) == 0 {
		if s.Stages[0].At == nil {
			s.Stages[0].At = append([]int64{int64(o.Worker)}, make([]int64, len(m.in))...)
		}
		return s
	}
	own, at := at.Pop()
	words := []int64{own[0]}
	for i := range m.in {
		words = append(words, own[1+2*i])
	}
	for i, f := range slices.Backward(m.in) {
		var its pipeline.Position
		its, at = at.Pop()
		if place := own[2+2*i]; place != inputAtStart {
			s.Merged[f.worker] = f.run.State(slices.Clone(its).Push(s.Epoch), place)
		}
	}
	s.Stages[0].At = words
	return s
}

func (m *merge) Stop() {
	for i := range m.in {
		m.in[i].end()
	}
}
