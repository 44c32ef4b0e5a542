package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// Pipe describes a pipeline: a [Set] in some order, and stages on top. Pipes are values: each
// method returns a new one, and nothing is read before Start, Resume or All. An invalid setting is
// an error there.
type Pipe struct {
	set  *Set
	last *link
}

// link is a stage of a Pipe.
type link struct {
	name string // with its settings: must match that of a State
	open func(r *run, up stage) (stage, error)
	prev *link
	// passes is the number of epochs of the set in one epoch of the stage.
	passes int64
	// shuffles and repeats describe the effect of the stage on the order.
	shuffles, repeats bool
}

// stage is a running stage. One goroutine at a time calls it.
type stage interface {
	// start begins an epoch: at its start if at is nil, else where a block with that position
	// begins. It may be called again at any time, and keeps its memory. When ctx ends, next returns
	// an error soon.
	start(ctx context.Context, epoch int64, at position) error
	// next returns the next block, which has at least one record and which the caller releases;
	// io.EOF at the end of the epoch. Other errors are final.
	next() (*Block, error)
	// stop ends all goroutines of this stage and of those before it, and closes their files. start
	// may be called again.
	stop()
}

// then returns a pipe with one more stage. Its name includes the settings that the order of the
// records depends on.
func (p Pipe) then(name string, open func(r *run, up stage) (stage, error)) Pipe {
	next := &link{name: name, open: open, prev: p.last, passes: 1}
	if p.last != nil {
		next.passes = p.last.passes
	}
	return Pipe{p.set, next}
}

// run is what the stages of a running pipeline share.
type run struct {
	ctx    context.Context
	set    *Set
	names  []string // of the stages, source first
	blocks blockPool
	tokens chan struct{} // one for each goroutine that may work at the same time
	budget *budget
	tuner  tuner

	began time.Time
	ended atomic.Pointer[time.Time] // nil while running

	mu       sync.Mutex
	counters []*stageStats
	bad      tallies
	telling  sync.Mutex // held during calls of OnSkip
}

func newRun(ctx context.Context, set *Set) *run {
	r := &run{ctx: ctx, set: set, began: time.Now(), tokens: make(chan struct{}, set.opts.Parallelism)}
	r.budget = newBudget(set.opts.Memory, r.blocks.trim)
	r.budget.beside = !set.opts.memoryGiven
	r.tuner.clock = time.Now
	return r
}

// stats registers the counters of a stage.
func (r *run) stats(name string) *stageStats {
	s := &stageStats{name: name}
	s.workers.Store(1)
	r.mu.Lock()
	r.counters = append(r.counters, s)
	r.mu.Unlock()
	return s
}

// acquire waits for a token to work; false if ctx ends first.
func (r *run) acquire(ctx context.Context) bool {
	select {
	case r.tokens <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *run) release() { <-r.tokens }

// Start starts the pipeline at the beginning of epoch 0. The caller must Close the result; when ctx
// ends, Next returns its error.
func (p Pipe) Start(ctx context.Context) (*RecordStream, error) { return p.StartEpoch(ctx, 0) }

// StartEpoch starts the pipeline at the beginning of an epoch, counted from 0. An epoch is what the
// pipeline returns up to io.EOF; each one has its own order, and its own draws of
// [ImageSpec.Policy]. A job that starts a process per epoch passes the number of the epoch here:
// Start would repeat epoch 0. [RecordStream.NextEpoch] continues with the next epoch in the same
// run.
//
// With a [Pipe.Repeat] of n in the pipeline, epoch e begins with pass e*n over the set (pass e if n
// is -1), and [Record.Epoch] is the number of the pass.
func (p Pipe) StartEpoch(ctx context.Context, epoch int64) (*RecordStream, error) {
	return p.start(ctx, origin{epoch: epoch})
}

// Resume starts the pipeline after what state records as received. A state of another dataset or of
// other stages is refused with [ErrState].
//
// The state of a global order ([Set.ShuffleAll]) may be resumed with a different number of workers
// if only Repeat follows it: all of them at the same step, from the state of any one of them. The
// rest of the epoch is divided among the new workers.
func (p Pipe) Resume(ctx context.Context, state State) (*RecordStream, error) {
	return p.start(ctx, origin{state: &state})
}

// origin is where a run starts.
type origin struct {
	epoch int64  // its beginning, unless there is a state
	state *State // a state to continue from
}

// errNoContext is returned for a nil context.
var errNoContext = errors.New("reader: a nil Context: want context.Background() at least")

func (p Pipe) start(ctx context.Context, from origin) (*RecordStream, error) {
	if p.set == nil {
		return nil, fmt.Errorf("reader: a Pipe without a Set: begin with Open")
	}
	if ctx == nil {
		return nil, errNoContext
	}
	if err := checkEpoch(from.epoch); err != nil {
		return nil, err
	}
	if p.set.opts.BatchWithinEpoch && p.last.mixesPasses() {
		return nil, errors.New("reader: BatchWithinEpoch, and a Shuffle after a Repeat, which mixes passes: shuffle before repeating")
	}
	if err := p.set.identify(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := newRun(ctx, p.set)
	top, err := p.last.build(r)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	s := &RecordStream{run: r, top: top, cancel: cancel}
	if err := s.begin(from); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// mixesPasses reports whether a Shuffle comes after a Repeat.
func (l *link) mixesPasses() bool {
	for shuffled := false; l != nil; l = l.prev {
		shuffled = shuffled || l.shuffles
		if shuffled && l.repeats {
			return true
		}
	}
	return false
}

// build opens the stage and all before it.
func (l *link) build(r *run) (stage, error) {
	var up stage
	if l.prev != nil {
		var err error
		if up, err = l.prev.build(r); err != nil {
			return nil, err
		}
	}
	r.names = append(r.names, l.name)
	s, err := l.open(r, up)
	if err != nil {
		return nil, err
	}
	return &checked{stage: s, name: l.name}, nil
}

// checked wraps every stage. It ends a stage whose context has ended, whatever loop the caller is
// in, and returns an error if a stage returns an empty block: without it later stages would read
// past its end or never stop asking.
type checked struct {
	stage
	name string
	ctx  context.Context
}

func (c *checked) start(ctx context.Context, epoch int64, at position) error {
	c.ctx = ctx
	return c.stage.start(ctx, epoch, at)
}

func (c *checked) next() (*Block, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	b, err := c.stage.next()
	if err == nil && len(b.Records) == 0 {
		b.Release()
		return nil, fmt.Errorf("reader: %s returned a block without records: this is a bug in tfrec", c.name)
	}
	return b, err
}

// All returns the records of the pipeline, each valid until the next iteration. An error comes with
// an empty Record and ends the loop. Breaking out of the loop stops everything.
func (p Pipe) All(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s, err := p.Start(ctx)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer s.Close()
		for {
			record, err := s.Next()
			if err == io.EOF || !yield(record, err) || err != nil {
				return
			}
		}
	}
}
