package reader

import (
	"context"
	"fmt"
	"io"
)

// recordConcat returns the records of all pipes, one pipe after another.
func recordConcat(pipes []chain) chain {
	name := fmt.Sprintf("concat(pipes=%d)", len(pipes))
	return join("Concat", name, pipes, func(r *run, in []input) (stage, error) {
		return &concat{run: r, name: name, in: in, stats: r.stats(name)}, nil
	})
}

// concat returns the blocks of its inputs. Its own section is the input that the position is in.
type concat struct {
	run   *run
	name  string
	in    []input
	stats *stageStats

	ctx   context.Context
	epoch int64
	now   int
	at    position // scratch
	err   error
}

func (x *concat) start(ctx context.Context, epoch int64, at position) error {
	x.stop()
	x.ctx, x.epoch, x.now, x.err = ctx, epoch, 0, nil
	if at == nil {
		return x.in[0].start(ctx, epoch, nil)
	}
	own, at := at.pop()
	if len(own) != 1 || own[0] < 0 || own[0] >= int64(len(x.in)) {
		return errPosition(x.name)
	}
	x.now = int(own[0])
	for i := len(x.in) - 1; i > x.now; i-- {
		_, at = at.split(x.in[i].sections)
	}
	its, _ := at.split(x.in[x.now].sections)
	return x.in[x.now].start(ctx, epoch, its)
}

func (x *concat) next() (*recordBlock, error) {
	for x.err == nil {
		in := &x.in[x.now]
		b, err := in.next()
		if err == nil {
			x.place(b, in)
			x.stats.gave(b)
			return b, nil
		}
		if x.err = err; err == io.EOF && x.now+1 < len(x.in) {
			in.stop() // nothing more is needed of it
			x.now++
			x.err = x.in[x.now].start(x.ctx, x.epoch, nil)
		}
	}
	return nil, x.err
}

// place makes a block of an input one of the stage.
func (x *concat) place(b *recordBlock, in *input) {
	for i := range b.Records {
		b.Records[i].File += in.file
	}
	x.at = b.at.fill(x.at[:0], in.sections)
	for _, later := range x.in[x.now+1:] {
		x.at = position(nil).fill(x.at, later.sections)
	}
	b.at = append(b.at[:0], x.at...).push(int64(x.now))
	b.run = x.run
}

func (x *concat) stop() {
	for i := range x.in {
		x.in[i].stop()
	}
}
