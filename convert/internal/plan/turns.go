package plan

import (
	"context"
	"iter"
	"slices"
	"time"
)

// mostTurns is the maximum number of shards whose samples are made in turns. Their unfinished
// shards are lost if the process is killed.
const mostTurns = 8

// nextShard returns the next shard to make; more is false after the last one and, without wait, if
// none is known yet.
type nextShard func(wait bool) (shard int, more bool, err error)

// inTurns yields the tasks of shards, and an end of each. As many shards as turns returns at the moment
// are begun, and their tasks take turns.
func (r *run) inTurns(ctx context.Context, next nextShard, turns func() int64) iter.Seq2[numbered, error] {
	type begunJob struct {
		Shard int
		Fill  func() (Fill, error, bool)
		stop  func()
	}
	return func(yield func(numbered, error) bool) {
		var open []begunJob
		defer func() {
			for _, j := range open {
				j.stop()
			}
		}()
		for turn := 0; ; turn++ {
			if len(open) == 0 || int64(len(open)) < turns() {
				shard, more, err := next(len(open) == 0)
				switch {
				case err != nil:
					yield(numbered{shard: shard}, err)
					return
				case more:
					j := begunJob{Shard: shard}
					j.Fill, j.stop = iter.Pull2(r.source.Pieces(ctx, shard))
					open = append(open, j)
				case len(open) == 0:
					return
				}
			}
			turn %= len(open)
			j := open[turn]
			t, err, more := j.Fill()
			one := numbered{shard: j.Shard}
			if more {
				one.run = func(p *Piece) error { return ofShard(j.Shard, t(p)) }
			} else {
				open = slices.Delete(open, turn, turn+1)
				turn--
			}
			if !yield(one, ofShard(j.Shard, err)) {
				return
			}
		}
	}
}

// period is a time in which pieces arrived. It shows whether their shards are written more slowly
// than they are made.
type period struct {
	began        time.Time
	blocked      time.Duration // for which pieces waited for their shard
	pieces, held int           // how many arrived, and how many of them while others took much memory
}

// leastPeriod is long enough that a short delay does not matter.
const leastPeriod = 100 * time.Millisecond

func (p *period) add(held bool) {
	p.pieces++
	if held {
		p.held++
	}
}

// late ends a period that was long enough, and reports whether pieces waited for a quarter of it, or
// a quarter of them arrived while others took much memory.
func (p *period) late() bool {
	now := time.Now()
	took := now.Sub(p.began)
	if took < leastPeriod {
		return false
	}
	late := p.blocked > took/4 || p.held > p.pieces/4
	*p = period{began: now}
	return late
}
