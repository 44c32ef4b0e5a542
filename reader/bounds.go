package reader

import (
	"context"
	"fmt"
	"io"
)

// recordSkip adds a stage that drops the first n elements.
func recordSkip(before *link, n int64) *link {
	name := fmt.Sprintf("skip(%d)", n)
	return before.then(name, func(r *run, up stage) (stage, error) {
		if n < 0 {
			return nil, fmt.Errorf("reader: Skip(%d): want 0 or more", n)
		}
		return &skipStage{counted{up: up, name: name, n: n}}, nil
	})
}

// counted is shared by stages that count the elements of the stage before. Its position is the
// count.
type counted struct {
	up   stage
	name string
	n    int64
	seen int64 // elements of up, including the dropped ones
}

func (x *counted) start(ctx context.Context, epoch int64, at position) error {
	own, before := at.pop()
	if at != nil && (len(own) != 1 || own[0] < 0 || own[0] > maxSkip) {
		return errPosition(x.name)
	}
	x.seen = 0
	if at != nil {
		x.seen = own[0]
	}
	return x.up.start(ctx, epoch, before)
}

func (x *counted) stop() { x.up.stop() }

type skipStage struct{ counted }

func (x *skipStage) next() (*recordBlock, error) {
	for {
		b, err := x.up.next()
		if err != nil {
			return nil, err
		}
		b.at = b.at.push(x.seen)
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

// recordTake adds a stage that ends after n elements.
func recordTake(before *link, n int64) *link {
	name := fmt.Sprintf("take(%d)", n)
	return before.then(name, func(r *run, up stage) (stage, error) {
		if n < 0 {
			return nil, fmt.Errorf("reader: Take(%d): want 0 or more; all come without it", n)
		}
		return &takeStage{counted{up: up, name: name, n: n}}, nil
	})
}

type takeStage struct{ counted }

func (x *takeStage) next() (*recordBlock, error) {
	if x.seen >= x.n {
		x.up.stop() // nothing more is needed: stop reading ahead
		return nil, io.EOF
	}
	b, err := x.up.next()
	if err != nil {
		return nil, err
	}
	b.at = b.at.push(x.seen)
	if left := x.n - x.seen; left < int64(len(b.Records)) {
		b.Records = b.Records[:left]
	}
	x.seen += int64(len(b.Records))
	return b, nil
}
