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

// nextJob returns the next job to make; more is false after the last one and, without wait, if
// none is known yet.
type nextJob func(wait bool) (job int, more bool, err error)

// inTurns yields the tasks of jobs, and an end of each. As many jobs as turns returns at the moment
// are begun, and their tasks take turns.
func (r *run) inTurns(ctx context.Context, next nextJob, turns func() int64) iter.Seq2[numbered, error] {
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
				job, more, err := next(len(open) == 0)
				switch {
				case err != nil:
					yield(numbered{job: job}, err)
					return
				case more:
					j := begunJob{Shard: job}
					j.Fill, j.stop = iter.Pull2(r.source.Pieces(ctx, job))
					open = append(open, j)
				case len(open) == 0:
					return
				}
			}
			turn %= len(open)
			j := open[turn]
			t, err, more := j.Fill()
			one := numbered{job: j.Shard}
			if more {
				one.run = func(p *Piece) error { return ofJob(j.Shard, t(p)) }
			} else {
				open = slices.Delete(open, turn, turn+1)
				turn--
			}
			if !yield(one, ofJob(j.Shard, err)) {
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
