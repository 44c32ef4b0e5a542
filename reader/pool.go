package reader

import (
	"context"
	"sync"
)

// pool has goroutines work on what one goroutine puts into it, while another takes it out in the
// same order:
//
//	for p.queue.room(ctx) {
//		j := &job[T]{...}
//		p.put(j)
//	}
//	p.end(ctx.Err())
//
// Every job that was put is finished: after the end of the context, with its error.
type pool[T any] struct {
	run   *run
	work  func(*T) error
	waits bool            // the workers need no tokens
	queue *queue[*job[T]] // jobs that were put and not taken, finished or not
	gate  *gate           // workers now,
	most  int             // and at most
	todo  chan *job[T]    // for any worker
	wait  sync.WaitGroup  // workers
}

// job is work for a pool, and its result.
type job[T any] struct {
	v    T
	err  error
	done chan struct{} // closed when finished
}

// newPool returns a pool with the workers of the options, and room for spare jobs besides those that
// are worked on.
func newPool[T any](r *run, name string, o MapOptions, spare int, work func(*T) error) *pool[T] {
	p := &pool[T]{run: r, work: work, waits: mapWaits(o, r.opts.Parallelism)}
	most := r.mostWorkers(p.waits && o.Workers == 0)
	p.queue = newQueue[*job[T]](r, name, max(o.Workers, most)+spare)
	p.gate, p.most = r.workers(p.queue.stats, o.Workers, most)
	return p
}

// start starts the workers. They end after finish.
func (p *pool[T]) start(ctx context.Context) {
	todo := make(chan *job[T], p.most)
	p.todo = todo
	for range p.most {
		p.wait.Go(func() { p.runWorker(ctx, todo) })
	}
}

// put adds a job, after queue.room.
func (p *pool[T]) put(j *job[T]) {
	j.done = make(chan struct{})
	p.queue.put(j)
	p.todo <- j // a worker takes it even during shutdown
}

// finish lets the workers end when they have done what was put.
func (p *pool[T]) finish() { close(p.todo) }

// runWorker is the loop of a worker.
func (p *pool[T]) runWorker(ctx context.Context, todo <-chan *job[T]) {
	labelGoroutine(ctx, p.queue.stats.name)
	for {
		admitted := p.gate.enter(ctx)
		j, more := <-todo
		if !more {
			if admitted {
				p.gate.leave()
			}
			return
		}
		if p.run.admit(ctx, p.waits) {
			watch := p.queue.stats.watch()
			region := p.queue.stats.region(ctx)
			j.err = p.work(&j.v)
			region.End()
			watch.busy()
			p.run.dismiss(p.waits)
		} else {
			j.err = ctx.Err()
		}
		close(j.done)
		if admitted {
			p.gate.leave()
		}
	}
}

// take returns the next job when it is finished, or after the last one the error of queue.end.
func (p *pool[T]) take() (*job[T], error) {
	j, err := p.queue.take()
	if err == nil {
		p.queue.stats.await(j.done) // workers end with the context
	}
	return j, err
}

// drain takes all jobs and drops them. The queue must have ended.
func (p *pool[T]) drain(drop func(*T)) {
	for {
		j, err := p.queue.take()
		if err != nil {
			return
		}
		<-j.done
		drop(&j.v)
	}
}
