package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/pprof"
	"runtime/trace"
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
	// inputs are the pipes that feed the stage, if it is the first one of a pipe of several sets.
	inputs []Pipe
	// passes is the number of epochs of the set in one epoch of the stage; -1 if that differs from
	// set to set.
	passes int64
	// shuffles and repeats describe the effect of the stage on the order.
	shuffles, repeats bool
	// rereads means that the stage reads what comes before it again when it resumes.
	rereads bool
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
// records depends on; if these are of the run, open gives the stage its full name with rename.
func (p Pipe) then(name string, open func(r *run, up stage) (stage, error)) Pipe {
	next := &link{name: name, open: open, prev: p.last, passes: 1}
	if p.last != nil {
		next.passes = p.last.passes
	}
	return Pipe{p.set, next}
}

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
// A state is of one worker of a number of them. With a different number, all resume from what
// [MergeStates] makes of the states of all former workers. The state of a global order
// ([Set.ShuffleAll]) may be resumed so without the others if only Repeat follows it: all workers at
// the same step, from the state of any one of them. In both cases the rest of the epoch is divided
// among the new workers.
func (p Pipe) Resume(ctx context.Context, state State) (*RecordStream, error) {
	if len(state.Making) > 0 {
		return nil, fmt.Errorf("resume: %w: it is of a flow made with %s: resume that flow", ErrState, state.Making[0])
	}
	return p.start(ctx, origin{state: &state})
}

// origin is where a run starts.
type origin struct {
	epoch int64  // its beginning, unless there is a state
	state *State // a state to continue from
	// idle opens without starting an epoch, for a Cache: next returns errIdle until startEpoch, which
	// may start epoch 0 more than once. There is no state.
	idle bool
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
		return nil, errors.New("reader: BatchWithinEpoch, and a Shuffle or Mix after a Repeat, which mixes passes: repeat last")
	}
	if err := p.set.identify(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := newRun(ctx, p.set)
	r.passes, r.rereads = p.last.passes, from.idle
	top, err := p.last.build(r)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	s := &RecordStream{run: r, pipe: top, top: top, cancel: cancel}
	if err := s.begin(p.last, from); err != nil {
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
		for _, p := range l.inputs {
			if p.last.mixesPasses() {
				return true
			}
		}
	}
	return false
}

// build opens the stage and all before it.
func (l *link) build(r *run) (stage, error) {
	var up stage
	r.rereads = r.rereads || l.rereads
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
	return newChecked(s, r.names[len(r.names)-1]), nil
}

// checked wraps every stage. It ends a stage whose context has ended, whatever loop the caller is
// in, and returns an error if a stage returns an empty block: without it later stages would read
// past its end or never stop asking. It shows the stage in profiles and traces.
type checked struct {
	stage
	name   string
	traced string // name of its regions
	ctx    context.Context

	labels context.Context
	from   *caller // nil: the consumer
	own    *caller // for the stages before it
}

func newChecked(s stage, name string) *checked {
	return &checked{stage: s, name: name, traced: tracePrefix + stageWord(name)}
}

func (c *checked) start(ctx context.Context, epoch int64, at position) error {
	c.ctx, c.labels = ctx, withStage(ctx, c.name)
	if c.from, _ = ctx.Value(callerKey{}).(*caller); c.from != nil {
		ctx, c.own = withCaller(ctx)
	}
	return c.stage.start(ctx, epoch, at)
}

func (c *checked) next() (*Block, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if c.from != nil && c.from.labels != nil {
		c.own.labels = c.labels
		pprof.SetGoroutineLabels(c.labels)
		defer pprof.SetGoroutineLabels(c.from.labels)
	}
	defer trace.StartRegion(c.ctx, c.traced).End()
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
