package stages

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Concat returns the records of all pipes, one pipe after another.
func Concat(pipes []Pipe) Pipe {
	name := fmt.Sprintf("concat(pipes=%d)", len(pipes))
	return join("Concat", name, pipes, func(r *pipeline.Run, in []input) (pipeline.Stage, error) {
		return &concat{run: r, name: name, in: in, stats: r.Stats(name)}, nil
	})
}

// concat returns the blocks of its inputs. Its own section is the input that the position is in.
type concat struct {
	run   *pipeline.Run
	name  string
	in    []input
	stats *pipeline.Counters

	ctx   context.Context
	epoch int64
	now   int
	at    pipeline.Position // scratch
	err   error
}

func (x *concat) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	x.Stop()
	x.ctx, x.epoch, x.now, x.err = ctx, epoch, 0, nil
	if at == nil {
		return x.in[0].Start(ctx, epoch, nil)
	}
	own, at := at.Pop()
	if len(own) != 1 || own[0] < 0 || own[0] >= int64(len(x.in)) {
		return pipeline.ErrPosition(x.name)
	}
	x.now = int(own[0])
	for i := len(x.in) - 1; i > x.now; i-- {
		_, at = at.Split(x.in[i].sections)
	}
	its, _ := at.Split(x.in[x.now].sections)
	return x.in[x.now].Start(ctx, epoch, its)
}

func (x *concat) Next() (*pipeline.Block, error) {
	for x.err == nil {
		in := &x.in[x.now]
		b, err := in.Next()
		if err == nil {
			x.place(b, in)
			x.stats.Gave(b)
			return b, nil
		}
		if x.err = err; err == io.EOF && x.now+1 < len(x.in) {
			in.Stop() // nothing more is needed of it
			x.now++
			x.err = x.in[x.now].Start(x.ctx, x.epoch, nil)
		}
	}
	return nil, x.err
}

// place makes a block of an input one of the stage.
func (x *concat) place(b *pipeline.Block, in *input) {
	for i := range b.Records {
		b.Records[i].File += in.file
	}
	x.at = b.At.Fill(x.at[:0], in.sections)
	for _, later := range x.in[x.now+1:] {
		x.at = pipeline.Position(nil).Fill(x.at, later.sections)
	}
	b.At = append(b.At[:0], x.at...).Push(int64(x.now))
	b.Run = x.run
}

func (x *concat) Stop() {
	for i := range x.in {
		x.in[i].Stop()
	}
}
