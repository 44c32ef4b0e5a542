package reader

import (
	"context"
	"fmt"
	"io"
)

// recordRepeat adds a stage that returns the elements n times, or forever if n is -1.
func recordRepeat(before *link, n int) *link {
	name := fmt.Sprintf("repeat(%d)", max(n, -1))
	next := before.then(name, func(r *run, up stage) (stage, error) {
		if n < -1 {
			return nil, fmt.Errorf("reader: Repeat(%d): want 0 or more, or -1 for ever", n)
		}
		return &repeatStage{up: up, name: name, times: int64(n)}, nil
	})
	next.repeats = true
	if next.passes > 0 {
		next.passes *= int64(max(n, 1))
	}
	return next
}

type repeatStage struct {
	up    stage
	name  string
	times int64 // below 0: forever

	ctx   context.Context
	base  int64 // epoch of the first pass
	done  int64
	empty bool // no elements in this epoch so far
}

func (x *repeatStage) start(ctx context.Context, epoch int64, at position) error {
	x.ctx = ctx
	x.base, x.done, x.empty = epoch*max(x.times, 1), 0, at == nil
	own, before := at.pop()
	if at != nil {
		if len(own) != 1 || own[0] < 0 || own[0] > maxSkip || x.times >= 0 && own[0] >= x.times {
			return errPosition(x.name)
		}
		x.done = own[0]
	}
	if x.times == 0 {
		return nil
	}
	return x.up.start(ctx, x.base+x.done, before)
}

func (x *repeatStage) next() (*recordBlock, error) {
	for {
		if x.done == x.times {
			return nil, io.EOF
		}
		b, err := x.up.next()
		if err == nil {
			x.empty = false
			b.at = b.at.push(x.done)
			return b, nil
		}
		if err != io.EOF || x.empty {
			return nil, err
		}
		if x.done++; x.done == x.times {
			return nil, io.EOF
		}
		x.empty = true
		if err := x.up.start(x.ctx, x.base+x.done, nil); err != nil {
			return nil, err
		}
	}
}

func (x *repeatStage) stop() { x.up.stop() }
