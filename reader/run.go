package reader

import (
	"context"
	"fmt"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
)

// run is what the stages of a running pipeline share. A pipeline within another one, such as an
// input of [Mix], has a run of its own.
type run struct {
	*engine
	opts Options
	data dataset
	// fingerprint of data.
	fingerprint string
	// names of the stages, source first. Those of the inputs of a stage come before it.
	names []string
	// rereads means that a stage may read what comes before it again (see link).
	rereads bool
	passes  int64 // epochs of the set in one of the pipe (see link)
	merged  bool  // it continues a former worker (see MergeStates)
	bad     tallies
	inputs  []*run
	// stateAt, if not nil, makes the States of positions in place of the stages' names.
	stateAt func(at position, n int64) State
}

// dataset is what a pipeline needs to know of the records that it reads.
type dataset interface {
	// Path returns the file of a record.
	Path(Record) string
	// Len returns the number of records, those of other workers included.
	Len(context.Context) (int64, error)
	// Files returns the number of files.
	Files() int
	// Fingerprint returns the identity of the files.
	Fingerprint(context.Context) (string, error)
}

// engine is what all runs of a pipeline share.
type engine struct {
	ctx    context.Context
	task   *trace.Task // of ctx
	blocks blockPool
	tokens chan struct{} // one for each goroutine that may work at the same time
	budget *budget
	tuner  tuner

	began time.Time
	ended atomic.Pointer[time.Time] // nil while running

	mu       sync.Mutex // also for the tallies of the runs
	counters []*stageStats
	making   []string   // see made
	telling  sync.Mutex // held during calls of OnSkip
	logged   sampler    // of events for skipped damage; guarded by telling
	// refetched is the sampler of events for what was fetched again; guarded by telling.
	refetched sampler
	epochs    atomic.Int64
}

func newRun(ctx context.Context, o Options, data dataset) (*run, error) {
	fingerprint, err := data.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	e := &engine{began: time.Now(), tokens: make(chan struct{}, o.Parallelism)}
	e.ctx, e.task = trace.NewTask(ctx, strings.TrimSpace(tracePrefix))
	e.budget = newBudget(o.Memory, e.blocks.trim)
	e.budget.beside = !o.memoryGiven
	r := &run{engine: e, opts: o, data: data, fingerprint: fingerprint}
	e.tuner.clock, e.tuner.settled = time.Now, r.logSettled
	return r, nil
}

// input returns the run of one of n pipelines that feed a stage of r, with data and options of its
// own. What concerns all of them is as in the options all; each gets its part of their memory.
func (r *run) input(data dataset, o, all Options, n int) (*run, error) {
	o.Worker, o.Workers = all.Worker, all.Workers
	o.Parallelism, o.PoisonRecycled, o.BatchWithinEpoch = all.Parallelism, all.PoisonRecycled, all.BatchWithinEpoch
	o.Memory, o.memoryGiven = all.Memory/int64(n), all.memoryGiven
	fingerprint, err := data.Fingerprint(r.ctx)
	if err != nil {
		return nil, err
	}
	in := &run{engine: r.engine, rereads: r.rereads, merged: r.merged, opts: o, data: data, fingerprint: fingerprint}
	r.inputs = append(r.inputs, in)
	// Its limit counts before it starts, and after it has ended.
	records := int64(0)
	if o.SkipBad.Share > 0 {
		if records, err = data.Len(r.ctx); err != nil {
			return nil, err
		}
	}
	in.allow(records / int64(o.Workers))
	return in, nil
}

// makes adds the description of a stage of the flow, or of a long one its beginning and a hash.
func (r *run) makes(stage string) {
	const most = 4 << 10
	if len(stage) > most {
		stage = fmt.Sprintf("%s...(%016x)", stage[:most], xxh3.HashString(stage))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.making = append(r.making, stage)
}

// made describes the stages of the flow that are open, first stage first, with what their elements
// depend on, as far as it is known: functions are not. None for a pipe.
func (r *run) made() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	making := slices.Clone(r.making)
	if making != nil && r.opts.BatchWithinEpoch {
		making = append(making, "batches within epochs")
	}
	return making
}

// rename gives the stage that is being opened its full name.
func (r *run) rename(name string) { r.names[len(r.names)-1] = name }

// stats registers the counters of a stage.
func (r *run) stats(name string) *stageStats {
	s := &stageStats{name: name, traced: tracePrefix + stageWord(name)}
	s.workers.Store(1)
	r.mu.Lock()
	r.counters = append(r.counters, s)
	r.mu.Unlock()
	return s
}

// acquire waits for a token to work; false if ctx ends first.
func (r *run) acquire(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false // select might take a token
	}
	select {
	case r.tokens <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *run) release() { <-r.tokens }

// mostWaiting is the maximum number of workers chosen for a function that waits.
const mostWaiting = 64

// mostWorkers is the limit of the automatic choice of the workers of a stage.
func (r *run) mostWorkers(waits bool) int {
	if waits {
		return max(r.opts.Parallelism, mostWaiting)
	}
	return r.opts.Parallelism
}

// admit waits for a token to work, unless the work waits itself; false if ctx ends first.
func (r *run) admit(ctx context.Context, waits bool) bool {
	if waits {
		return ctx.Err() == nil
	}
	return r.acquire(ctx)
}

// dismiss is the end of what admit began.
func (r *run) dismiss(waits bool) {
	if !waits {
		r.release()
	}
}

// spareTokens are tokens to work that nobody has: they let a goroutine help another one.
type spareTokens chan struct{}

// TryAcquire takes a token if there is one.
func (t spareTokens) TryAcquire() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// Release gives a token back.
func (t spareTokens) Release() { <-t }
