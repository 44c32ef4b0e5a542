package convert

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/shard"
)

// shardQueue makes the shards that are asked for, in the order in which they are asked
// for, as one run makes those that it knows beforehand: while one is on its way to
// disk, the workers are at the next. It moves while somebody waits and a little
// longer, and then has neither goroutines nor, where it joins others, the directory.
type shardQueue struct {
	run     *run
	release func() // gives back what the source holds
	joins   string // the directory, where that is only joined while the queue moves
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup // of the goroutine that moves it

	mu     sync.Mutex
	orders map[int]*request // not answered yet, by job
	queue  []*request       // of them, those that are not begun
	more   chan struct{}    // something was put into the queue
	moves  bool             // there is a goroutine that will look into the queue
}

// request is a shard that was asked for.
type request struct {
	job   int
	tries int           // that failed
	ready chan struct{} // closed when it is answered with one of these:
	done  *setdir.Done
	err   error
}

// idle is how long a queue waits for the next request before it stops.
const idle = time.Second

// errStopped is the answer to requests that a queue was stopped before.
var errStopped = errors.New("the job was closed")

func newShardQueue(ctx context.Context, r *run, release func()) *shardQueue {
	b := &shardQueue{run: r, release: release, orders: map[int]*request{}, more: make(chan struct{}, 1)}
	// It makes shards for later calls, too, until it is stopped.
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return b
}

// ask returns the order of a job, which is a new one if nobody waits for it.
func (b *shardQueue) ask(job int) *request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o := b.orders[job]; o != nil {
		return o
	}
	o := &request{job: job, done: b.run.done[job], ready: make(chan struct{})}
	if o.done != nil { // made or kept
		close(o.ready)
		return o
	}
	if b.ctx.Err() != nil {
		o.err = errStopped
		close(o.ready)
		return o
	}
	b.orders[job] = o
	b.queue = append(b.queue, o)
	select {
	case b.more <- struct{}{}:
	default:
	}
	if !b.moves {
		b.moves = true
		b.work.Go(b.move)
	}
	return o
}

// take returns the next order, or nil when there is none for long enough.
func (b *shardQueue) take() *request {
	for wait := time.After(idle); ; {
		b.mu.Lock()
		if len(b.queue) > 0 {
			o := b.queue[0]
			b.queue = b.queue[1:]
			b.mu.Unlock()
			return o
		}
		b.mu.Unlock()
		select {
		case <-b.more:
		case <-wait:
			return nil
		case <-b.ctx.Done():
			return nil
		}
	}
}

// answer ends an order.
func (b *shardQueue) answer(job int, done *setdir.Done, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(b.orders[job], done, err)
}

// settle is answer for one who has locked the queue.
func (b *shardQueue) settle(o *request, done *setdir.Done, err error) {
	if b.joins == "" { // in between, others have a directory that is only joined
		b.run.done[o.job] = done
	}
	delete(b.orders, o.job)
	o.done, o.err = done, err
	close(o.ready)
}

// move makes shards until nobody asks for more.
func (b *shardQueue) move() {
	for {
		err := b.pass()
		pause, goesOn := b.next(err)
		if !goesOn {
			return
		}
		_ = par.Sleep(b.ctx, pause) // the next pass sees that the queue was stopped
	}
}

// pass makes shards as they are asked for, until one fails or nobody asks.
func (b *shardQueue) pass() error {
	r := b.run
	if b.joins != "" {
		dir, err := setdir.Open(b.ctx, b.joins, setdir.Options{Join: true, Note: r.Note, Names: shard.ManifestFiles})
		if err != nil {
			return err
		}
		defer dir.Close()
		r.open(dir)
		if err := r.stillPlanned(); err != nil { // nobody can change it now
			return err
		}
		r.source.attach(dir)
	}
	var left []int
	b.mu.Lock()
	for i := range r.jobs {
		if r.done[i] == nil {
			left = append(left, i)
		}
	}
	b.mu.Unlock()
	if err := r.source.prepare(b.ctx, left, false); err != nil {
		return err
	}
	defer r.source.rest()
	jobs := func(yield func(int, error) bool) {
		for {
			o := b.take()
			if o == nil {
				return
			}
			// Somebody else may have made it.
			done, err := r.made(b.ctx, o.job)
			if done != nil {
				b.answer(o.job, done, nil)
				continue
			}
			if !yield(o.job, ofJob(o.job, err)) {
				return
			}
		}
	}
	return r.makeShards(b.ctx, jobs, func(job int, done *setdir.Done) { b.answer(job, done, nil) })
}

// next decides, after a pass that ended with err or nil, what becomes of the
// orders that were begun, and whether and when there is to be another pass.
func (b *shardQueue) next(err error) (pause time.Duration, goesOn bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		for _, o := range b.orders {
			b.settle(o, nil, errStopped)
		}
		b.queue = nil
	}
	if err != nil {
		pause = b.tryAgain(err)
	}
	b.moves = len(b.queue) > 0
	return pause, b.moves
}

// tryAgain puts the orders that a pass which failed had begun back in front of the
// queue, but for those that have failed too often, and returns how long to wait.
func (b *shardQueue) tryAgain(err error) time.Duration {
	var begun []*request
	for _, o := range b.orders {
		if !slices.Contains(b.queue, o) {
			begun = append(begun, o)
		}
	}
	if len(begun) == 0 { // the pass failed at what all of them need
		begun, b.queue = b.queue, nil
	}
	slices.SortFunc(begun, func(a, b *request) int { return cmp.Compare(a.job, b.job) })
	var its *jobError // the others had bad luck
	known := errors.As(err, &its) && slices.ContainsFunc(begun, func(o *request) bool { return o.job == its.job })
	tries := 0
	var again []*request
	for _, o := range begun {
		if !known || o.job == its.job {
			o.tries++
			tries = max(tries, o.tries)
			if o.tries > b.run.Retries {
				b.settle(o, nil, err)
				continue
			}
		}
		again = append(again, o)
	}
	b.queue = append(again, b.queue...)
	if len(again) == 0 || tries > b.run.Retries {
		return 0
	}
	pause := retryPause << min(tries-1, 5)
	b.run.note("%v; trying again in %v (%d of %d)", err, pause, tries, b.run.Retries)
	return pause
}

// stop ends what is under way. Orders that are not answered by then fail, and so
// do all that follow.
func (b *shardQueue) stop() {
	b.mu.Lock()
	b.cancel()
	b.mu.Unlock()
	b.work.Wait()
}
