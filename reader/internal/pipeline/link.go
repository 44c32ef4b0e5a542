package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
)

// Link is a stage of a pipeline that is described, and those before it.
type Link struct {
	// Name of the stage, with its settings: it must match the name in a State.
	Name string
	// Open opens the stage after up, which is nil for a source.
	Open func(r *Run, up Stage) (Stage, error)
	prev *Link
	// Inputs are the pipelines that feed the stage, if it is the first one of several sets.
	Inputs []*Link
	// Passes is the number of epochs of the set in one epoch of the stage; -1 if that differs from
	// set to set.
	Passes int64
	// Shuffles and Repeats describe the effect of the stage on the order.
	Shuffles, Repeats bool
	// Calls means that the stage calls a function of the user, of which its name says nothing.
	Calls bool
	// Rereads means that the stage reads what comes before it again when it resumes.
	Rereads bool
}

// Stage is a running stage. One goroutine at a time calls it.
type Stage interface {
	// Start begins an epoch: at its start if at is nil, else where a block with that position
	// begins. It may be called again at any time, and keeps its memory. When ctx ends, Next returns
	// an error soon.
	Start(ctx context.Context, epoch int64, at Position) error
	// Next returns the next block, which has at least one record and which the caller releases;
	// io.EOF at the end of the epoch. Other errors are final.
	Next() (*Block, error)
	// Stop ends all goroutines of this stage and of those before it, and closes their files. Start
	// may be called again.
	Stop()
}

// Then returns a link with one more stage; l may be nil. Its name includes the settings that the order
// of the records depends on; if these are of the run, open gives the stage its full name with Run.Rename.
func (l *Link) Then(name string, open func(r *Run, up Stage) (Stage, error)) *Link {
	next := &Link{Name: name, Open: open, prev: l, Passes: 1}
	if l != nil {
		next.Passes = l.Passes
	}
	return next
}

// AnyRepeats reports whether there is a Repeat in the stage or before it.
func (l *Link) AnyRepeats() bool {
	for ; l != nil; l = l.prev {
		if l.Repeats {
			return true
		}
	}
	return false
}

// MixesPasses reports whether a Shuffle comes after a Repeat.
func (l *Link) MixesPasses() bool {
	for shuffled := false; l != nil; l = l.prev {
		shuffled = shuffled || l.Shuffles
		if shuffled && l.Repeats {
			return true
		}
		for _, in := range l.Inputs {
			if in.MixesPasses() {
				return true
			}
		}
	}
	return false
}

// Build opens the stage and all before it.
func (l *Link) Build(r *Run) (Stage, error) {
	var up Stage
	r.Rereads = r.Rereads || l.Rereads
	if l.prev != nil {
		var err error
		if up, err = l.prev.Build(r); err != nil {
			return nil, err
		}
	}
	r.Names = append(r.Names, l.Name)
	s, err := l.Open(r, up)
	if err != nil {
		return nil, err
	}
	r.Calls = r.Calls || l.Calls
	return NewChecked(s, r.Names[len(r.Names)-1]), nil
}

// Checked wraps every stage. It ends a stage whose context has ended, whatever loop the caller is
// in. It returns an error if a stage returns an empty block, on which later stages would read past
// the end or loop forever. It shows the stage in profiles and traces.
type Checked struct {
	Stage
	name   string
	traced string // name of its regions
	ctx    context.Context

	labels context.Context
	from   *Caller // nil: the consumer
	own    *Caller // for the stages before it
}

// NewChecked wraps a stage of a full name.
func NewChecked(s Stage, name string) *Checked {
	return &Checked{Stage: s, name: name, traced: TracePrefix + stageWord(name)}
}

func (c *Checked) Start(ctx context.Context, epoch int64, at Position) error {
	c.ctx, c.labels = ctx, WithStage(ctx, c.name)
	if c.from, _ = ctx.Value(callerKey{}).(*Caller); c.from != nil {
		ctx, c.own = WithCaller(ctx)
	}
	return c.Stage.Start(ctx, epoch, at)
}

func (c *Checked) Next() (*Block, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if c.from != nil && c.from.Labels != nil {
		c.own.Labels = c.labels
		pprof.SetGoroutineLabels(c.labels)
		defer pprof.SetGoroutineLabels(c.from.Labels)
	}
	defer trace.StartRegion(c.ctx, c.traced).End()
	b, err := c.Stage.Next()
	if err == nil && len(b.Records) == 0 {
		b.Release()
		return nil, fmt.Errorf("reader: %s returned a block without records: this is a bug in tfrec", c.name)
	}
	return b, err
}

// Origin is where a run starts.
type Origin struct {
	Epoch int64  // its beginning, unless there is a state
	State *State // a state to continue from
	// Idle opens without starting an epoch, for a Cache: next returns errIdle until StartEpoch,
	// which may start epoch 0 more than once. State must be nil.
	Idle bool
}

// ErrNoContext is returned for a nil context.
var ErrNoContext = errors.New("reader: a nil Context: want context.Background() at least")
