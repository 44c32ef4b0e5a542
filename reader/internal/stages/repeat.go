package stages

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Repeat adds a stage that returns the elements n times, or forever if n is -1.
func Repeat(before *pipeline.Link, n int) *pipeline.Link {
	name := fmt.Sprintf("repeat(%d)", max(n, -1))
	next := before.Then(name, func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		if n < -1 {
			return nil, fmt.Errorf("reader: Repeat(%d): want 0 or more, or -1 for ever", n)
		}
		return &RepeatStage{Up: up, name: name, times: int64(n)}, nil
	})
	next.Repeats = true
	if next.Passes > 0 {
		next.Passes *= int64(max(n, 1))
	}
	return next
}

type RepeatStage struct {
	Up    pipeline.Stage
	name  string
	times int64 // below 0: forever

	ctx   context.Context
	base  int64 // epoch of the first pass
	done  int64
	empty bool // no elements in this epoch so far
}

func (x *RepeatStage) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	x.ctx = ctx
	x.base, x.done, x.empty = epoch*max(x.times, 1), 0, at == nil
	own, before := at.Pop()
	if at != nil {
		if len(own) != 1 || own[0] < 0 || own[0] > pipeline.MaxSkip || x.times >= 0 && own[0] >= x.times {
			return pipeline.ErrPosition(x.name)
		}
		x.done = own[0]
	}
	if x.times == 0 {
		return nil
	}
	return x.Up.Start(ctx, x.base+x.done, before)
}

func (x *RepeatStage) Next() (*pipeline.Block, error) {
	for {
		if x.done == x.times {
			return nil, io.EOF
		}
		b, err := x.Up.Next()
		if err == nil {
			x.empty = false
			b.At = b.At.Push(x.done)
			return b, nil
		}
		if err != io.EOF || x.empty {
			return nil, err
		}
		if x.done++; x.done == x.times {
			return nil, io.EOF
		}
		x.empty = true
		if err := x.Up.Start(x.ctx, x.base+x.done, nil); err != nil {
			return nil, err
		}
	}
}

func (x *RepeatStage) Stop() { x.Up.Stop() }
