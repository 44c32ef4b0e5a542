package pipeline

import (
	"context"
	"fmt"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/cpuload"
	"github.com/zeebo/xxh3"
)

// Run is the state shared by the stages of a running pipeline. A pipeline within another one, such
// as an input of Mix, has a run of its own.
type Run struct {
	*Engine
	Opts Options // with defaults
	Data dataset
	// Fingerprint of Data.
	Fingerprint string
	// Names of the stages, source first. The stages of a stage's inputs come before it.
	Names []string
	// Rereads means that a stage may read what comes before it again (see Link).
	Rereads bool
	// Calls means that the results of the stages so far depend on functions of the user.
	Calls  bool
	Passes int64 // epochs of the set in one of the pipe (see Link)
	Merged bool  // it continues a former worker (see MergeStates)
	bad    tallies
	Inputs []*Run
	// StateAt, if not nil, makes the States of positions in place of the stages' names.
	StateAt func(at Position, n int64) State
}

// dataset describes the records that a pipeline reads.
type dataset interface {
	// Path returns the file of a record.
	Path(Record) string
	// Len returns the number of records, for all workers.
	Len(context.Context) (int64, error)
	// Files returns the number of files.
	Files() int
	// Fingerprint returns the identity of the files.
	Fingerprint(context.Context) (string, error)
}

// Engine is the state shared by all runs of a pipeline.
type Engine struct {
	Ctx    context.Context
	Cancel context.CancelCauseFunc // ends Ctx
	task   *trace.Task             // of Ctx
	blocks blockPool
	Tokens chan struct{} // one for each goroutine that may work at the same time
	Budget *budget
	Tuner  tuner

	began time.Time
	load  *cpuload.Meter
	ended atomic.Pointer[Usage] // nil while running

	Mu       sync.Mutex // also for the tallies of the runs
	counters []*Counters
	making   []string   // see Made
	telling  sync.Mutex // held during calls of OnSkip
	logged   sampler    // of events for skipped damage; guarded by telling
	// refetched is the sampler of events for what was fetched again; guarded by telling.
	refetched sampler
	Epochs    atomic.Int64
}

// NewRun returns the run of a pipeline that reads data.
func NewRun(ctx context.Context, o Options, data dataset) (*Run, error) {
	fingerprint, err := data.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	e := &Engine{began: time.Now(), load: cpuload.Start(), Tokens: make(chan struct{}, o.Parallelism)}
	ctx, e.Cancel = context.WithCancelCause(ctx)
	e.Ctx, e.task = trace.NewTask(ctx, strings.TrimSpace(TracePrefix))
	e.Budget = NewBudget(o.Memory, e.blocks.trim)
	e.Budget.beside = !o.memoryGiven
	r := &Run{Engine: e, Opts: o, Data: data, Fingerprint: fingerprint}
	e.Tuner.clock, e.Tuner.settled = time.Now, r.logSettled
	return r, nil
}

// Input returns the run of one of n pipelines that feed a stage of r, with data and options of its
// own. What concerns all of them is as in the options all; each gets its part of their memory.
func (r *Run) Input(data dataset, o, all Options, n int) (*Run, error) {
	o.Worker, o.Workers = all.Worker, all.Workers
	o.Parallelism, o.PoisonRecycled, o.BatchWithinEpoch = all.Parallelism, all.PoisonRecycled, all.BatchWithinEpoch
	o.Memory, o.memoryGiven = all.Memory/int64(n), all.memoryGiven
	fingerprint, err := data.Fingerprint(r.Ctx)
	if err != nil {
		return nil, err
	}
	in := &Run{Engine: r.Engine, Rereads: r.Rereads, Merged: r.Merged, Opts: o, Data: data, Fingerprint: fingerprint}
	r.Inputs = append(r.Inputs, in)
	// Its limit counts before it starts, and after it has ended.
	records := int64(0)
	if o.SkipBad.Share > 0 {
		if records, err = data.Len(r.Ctx); err != nil {
			return nil, err
		}
	}
	in.Allow(records / int64(o.Workers))
	return in, nil
}

// Makes adds the description of a stage of the flow, or of a long one its beginning and a hash.
func (e *Engine) Makes(stage string) {
	const most = 4 << 10
	if len(stage) > most {
		stage = fmt.Sprintf("%s...(%016x)", stage[:most], xxh3.HashString(stage))
	}
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.making = append(e.making, stage)
}

// Made describes the stages of the flow that are open, first stage first, with what their elements
// depend on, as far as it is known: functions are not. None for a pipe.
func (r *Run) Made() []string {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	making := slices.Clone(r.making)
	if making != nil && r.Opts.BatchWithinEpoch {
		making = append(making, "batches within epochs")
	}
	return making
}

// FirstPass returns the number of the pass over the set with which an epoch of the pipe begins.
func (r *Run) FirstPass(epoch int64) int64 { return epoch * max(r.Passes, 1) }

// Rename gives the stage that is being opened its full name.
func (r *Run) Rename(name string) { r.Names[len(r.Names)-1] = name }

// Stats registers the counters of a stage.
func (e *Engine) Stats(name string) *Counters {
	s := &Counters{Name: name, traced: TracePrefix + stageWord(name)}
	s.Workers.Store(1)
	e.Mu.Lock()
	e.counters = append(e.counters, s)
	e.Mu.Unlock()
	return s
}

// Acquire waits for a token to work; false if ctx ends first.
func (e *Engine) Acquire(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false // select might take a token
	}
	select {
	case e.Tokens <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (e *Engine) Release() { <-e.Tokens }

// WithoutToken calls a function that waits, while another goroutine may have the token of this one.
func (e *Engine) WithoutToken(f func() error) error {
	e.Release()
	err := f()
	e.Tokens <- struct{}{} // another goroutine will return it
	return err
}

// mostWaiting is the maximum number of workers chosen for a function that waits.
const mostWaiting = 64

// MostWorkers is the limit of the automatic choice of the workers of a stage.
func (r *Run) MostWorkers(waits bool) int {
	if waits {
		return max(r.Opts.Parallelism, mostWaiting)
	}
	return r.Opts.Parallelism
}

// Admit waits for a token to work, unless the work waits itself; false if ctx ends first.
func (e *Engine) Admit(ctx context.Context, waits bool) bool {
	if waits {
		return ctx.Err() == nil
	}
	return e.Acquire(ctx)
}

// Dismiss is the end of what admit began.
func (e *Engine) Dismiss(waits bool) {
	if !waits {
		e.Release()
	}
}

// SpareTokens are unused tokens to work, with which one goroutine can help another.
type SpareTokens chan struct{}

// TryAcquire takes a token if there is one.
func (t SpareTokens) TryAcquire() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// Release gives a token back.
func (t SpareTokens) Release() { <-t }
