package stages

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Skip adds a stage that drops the first n elements.
func Skip(before *pipeline.Link, n int64) *pipeline.Link {
	name := fmt.Sprintf("skip(%d)", n)
	return before.Then(name, func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		if n < 0 {
			return nil, fmt.Errorf("reader: Skip(%d): want 0 or more", n)
		}
		return &skipStage{counted{up: up, name: name, n: n}}, nil
	})
}

// counted is shared by stages that count the elements of the stage before. Its position is the
// count.
type counted struct {
	up   pipeline.Stage
	name string
	n    int64
	seen int64 // elements of up, including the dropped ones
}

func (x *counted) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	own, before := at.Pop()
	if at != nil && (len(own) != 1 || own[0] < 0 || own[0] > pipeline.MaxSkip) {
		return pipeline.ErrPosition(x.name)
	}
	x.seen = 0
	if at != nil {
		x.seen = own[0]
	}
	return x.up.Start(ctx, epoch, before)
}

func (x *counted) Stop() { x.up.Stop() }

type skipStage struct{ counted }

func (x *skipStage) Next() (*pipeline.Block, error) {
	for {
		b, err := x.up.Next()
		if err != nil {
			return nil, err
		}
		b.At = b.At.Push(x.seen)
		left := x.n - x.seen
		x.seen += int64(len(b.Records))
		switch {
		case left <= 0:
			return b, nil
		case left < int64(len(b.Records)):
			b.Records = b.Records[left:]
			return b, nil
		}
		b.Release()
	}
}

// Take adds a stage that ends after n elements.
func Take(before *pipeline.Link, n int64) *pipeline.Link {
	name := fmt.Sprintf("take(%d)", n)
	return before.Then(name, func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		if n < 0 {
			return nil, fmt.Errorf("reader: Take(%d): want 0 or more; all come without it", n)
		}
		return &takeStage{counted{up: up, name: name, n: n}}, nil
	})
}

type takeStage struct{ counted }

func (x *takeStage) Next() (*pipeline.Block, error) {
	if x.seen >= x.n {
		x.up.Stop() // nothing more is needed: stop reading ahead
		return nil, io.EOF
	}
	b, err := x.up.Next()
	if err != nil {
		return nil, err
	}
	b.At = b.At.Push(x.seen)
	if left := x.n - x.seen; left < int64(len(b.Records)) {
		b.Records = b.Records[:left]
	}
	x.seen += int64(len(b.Records))
	return b, nil
}
