package reader

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
)

// link is a stage of a pipeline that is described, and those before it.
type link struct {
	name string // with its settings: must match that of a State
	open func(r *run, up stage) (stage, error)
	prev *link
	// inputs are the pipelines that feed the stage, if it is the first one of several sets.
	inputs []*link
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
	next() (*recordBlock, error)
	// stop ends all goroutines of this stage and of those before it, and closes their files. start
	// may be called again.
	stop()
}

// then returns a link with one more stage; l may be nil. Its name includes the settings that the order
// of the records depends on; if these are of the run, open gives the stage its full name with rename.
func (l *link) then(name string, open func(r *run, up stage) (stage, error)) *link {
	next := &link{name: name, open: open, prev: l, passes: 1}
	if l != nil {
		next.passes = l.passes
	}
	return next
}

// anyRepeats reports whether there is a Repeat in the stage or before it.
func (l *link) anyRepeats() bool {
	for ; l != nil; l = l.prev {
		if l.repeats {
			return true
		}
	}
	return false
}

// mixesPasses reports whether a Shuffle comes after a Repeat.
func (l *link) mixesPasses() bool {
	for shuffled := false; l != nil; l = l.prev {
		shuffled = shuffled || l.shuffles
		if shuffled && l.repeats {
			return true
		}
		for _, in := range l.inputs {
			if in.mixesPasses() {
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

func (c *checked) next() (*recordBlock, error) {
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
