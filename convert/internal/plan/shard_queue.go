package plan

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// shardQueue begins shards in the order of the requests. It pipelines them like a run that knows
// its shards in advance: while one is being written, the workers make the next. It runs while a
// request is pending and a little longer; after that it has no goroutines and, if it joins a job,
// has closed the directory.
type shardQueue struct {
	run     *run
	release func() // releases the source
	joins   string // path of the directory, if it is only open while the queue runs
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup // the goroutine that runs it

	mu     sync.Mutex
	orders map[int]*request // unanswered, by shard
	queue  []*request       // the orders that are not begun
	more   chan struct{}    // signals additions to the queue
	moves  bool             // a goroutine will look at the queue
}

// request is a requested shard.
type request struct {
	shard int
	tries int           // failed attempts
	ready chan struct{} // closed once one of these is set:
	done  *setdir.Done
	err   error
}

// idle is the time for which a queue waits for the next request before it stops.
const idle = time.Second

// ErrStopped is the answer to requests pending when a queue is stopped.
var ErrStopped = errors.New("the job was closed")

func newShardQueue(ctx context.Context, r *run, release func()) *shardQueue {
	b := &shardQueue{run: r, release: release, orders: map[int]*request{}, more: make(chan struct{}, 1)}
	// It also makes shards for later calls, until it is stopped.
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return b
}

// ask returns the pending request for a shard, or a new one.
func (b *shardQueue) ask(shard int) *request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o := b.orders[shard]; o != nil {
		return o
	}
	o := &request{shard: shard, done: b.run.done[shard], ready: make(chan struct{})}
	if o.done != nil { // made or kept
		close(o.ready)
		return o
	}
	if b.ctx.Err() != nil {
		o.err = ErrStopped
		close(o.ready)
		return o
	}
	b.orders[shard] = o
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

// take returns the next request; nil if there is none or, with wait, none for long enough.
func (b *shardQueue) take(wait bool) *request {
	o := b.pop()
	if o != nil || !wait {
		return o
	}
	for enough := time.After(idle); o == nil; o = b.pop() {
		select {
		case <-b.more:
		case <-enough:
			return nil
		case <-b.ctx.Done():
			return nil
		}
	}
	return o
}

// pop returns the first request of the queue; nil if it is empty.
func (b *shardQueue) pop() *request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return nil
	}
	o := b.queue[0]
	b.queue = b.queue[1:]
	return o
}

// answer completes a request.
func (b *shardQueue) answer(shard int, done *setdir.Done, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(b.orders[shard], done, err)
}

// settle is answer for a caller that holds the lock.
func (b *shardQueue) settle(o *request, done *setdir.Done, err error) {
	if b.joins == "" { // in between, joined processes close their directory
		b.run.done[o.shard] = done
	}
	delete(b.orders, o.shard)
	o.done, o.err = done, err
	close(o.ready)
}

// move makes shards until the queue has been empty for the time idle, or is stopped.
func (b *shardQueue) move() {
	for {
		err := b.pass()
		pause, goesOn := b.next(err)
		if !goesOn {
			return
		}
		_ = par.Sleep(b.ctx, pause) // the next pass notices that the queue was stopped
	}
}

// pass makes shards as they are requested, until one fails or the queue has been empty for the time
// idle.
func (b *shardQueue) pass() error {
	r := b.run
	if b.joins != "" {
		dir, err := setdir.Open(b.ctx, b.joins, setdir.Options{Join: true, Note: r.Note})
		if err != nil {
			return err
		}
		defer dir.Close()
		r.open(dir)
		if err := r.agreed().stillPlanned(); err != nil { // it can no longer change
			return err
		}
		r.source.Attach(dir)
	}
	var left []int
	b.mu.Lock()
	for i := range r.shards {
		if r.done[i] == nil {
			left = append(left, i)
		}
	}
	b.mu.Unlock()
	if err := r.source.Prepare(b.ctx, left, false); err != nil {
		return err
	}
	defer r.source.Rest()
	next := func(wait bool) (shard int, more bool, err error) {
		for {
			o := b.take(wait)
			if o == nil {
				return 0, false, nil
			}
			// Another process may have made it.
			done, err := r.made(b.ctx, o.shard)
			if done == nil {
				return o.shard, true, ofShard(o.shard, err)
			}
			b.answer(o.shard, done, nil)
		}
	}
	return r.makeShards(b.ctx, next, func(shard int, done *setdir.Done) { b.answer(shard, done, nil) })
}

// next decides, after a pass that ended with err or nil, what happens to the requests that were
// begun, and whether and when there is another pass.
func (b *shardQueue) next(err error) (pause time.Duration, goesOn bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		for _, o := range b.orders {
			b.settle(o, nil, ErrStopped)
		}
		b.queue = nil
	}
	if err != nil {
		pause = b.tryAgain(err)
	}
	b.moves = len(b.queue) > 0
	return pause, b.moves
}

// tryAgain puts the requests that a failed pass had begun back at the front of the queue, except
// those that have failed too often, and returns how long to wait.
func (b *shardQueue) tryAgain(err error) time.Duration {
	var begun []*request
	for _, o := range b.orders {
		if !slices.Contains(b.queue, o) {
			begun = append(begun, o)
		}
	}
	if len(begun) == 0 { // the pass failed at something that all of them need
		begun, b.queue = b.queue, nil
	}
	slices.SortFunc(begun, func(a, b *request) int { return cmp.Compare(a.shard, b.shard) })
	var its *shardError // the others are not to blame
	known := errors.As(err, &its) && slices.ContainsFunc(begun, func(o *request) bool { return o.shard == its.shard })
	tries := 0
	var again []*request
	for _, o := range begun {
		if !known || o.shard == its.shard {
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
	b.run.Notef("%v; trying again in %v (%d of %d)", err, pause, tries, b.run.Retries)
	return pause
}

// stop cancels work in progress. Unanswered requests fail, and so do all later ones.
func (b *shardQueue) stop() {
	b.mu.Lock()
	b.cancel()
	b.mu.Unlock()
	b.work.Wait()
}
