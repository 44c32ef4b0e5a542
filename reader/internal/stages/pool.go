package stages

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Pool has goroutines work on what one goroutine puts into it, while another takes it out, in the
// same order unless it is unordered:
//
//	p.Begin()
//	for p.Queue.Room(ctx) {
//		j := &Job[T]{...}
//		p.Put(j)
//	}
//	p.End(ctx.Err())
//
// Every job that was put is finished: after the end of the context, with its error.
type Pool[T any] struct {
	run       *pipeline.Run
	newWork   func() func(*T) error // makes the function of a worker
	unordered bool
	underWay  sync.WaitGroup // jobs of an unordered pool that are not in the queue yet

	waits atomic.Bool              // the workers need no tokens
	Queue *pipeline.Queue[*Job[T]] // jobs that were put and not taken; if unordered, only finished ones
	gate  *pipeline.Gate           // workers now,
	most  int                      // and at most
	todo  chan *Job[T]             // for any worker
	Wait  sync.WaitGroup           // workers

	mu    sync.Mutex // also for most
	spawn func()     // starts another worker; nil: none are running
}

// Job is work for a pool, and its result.
type Job[T any] struct {
	V    T
	Err  error
	done chan struct{} // closed when finished
}

// NewPool returns a pool with the workers of the options, and room for spare jobs in addition to
// the ones in progress.
func NewPool[T any](r *pipeline.Run, name string, o pipeline.MapOptions, spare int, newWork func() func(*T) error) *Pool[T] {
	p := &Pool[T]{run: r, newWork: newWork, unordered: o.Unordered}
	waits := pipeline.MapWaits(o, r.Opts.Parallelism)
	p.waits.Store(waits)
	p.Queue = pipeline.NewQueue[*Job[T]](r, name, max(o.Workers, r.MostWorkers(waits && o.Workers == 0))+spare)
	p.gate, p.most = r.Workers(p.Queue.Stats, o.Workers, waits, func() { p.grow(r.MostWorkers(true), spare) })
	return p
}

// grow allows more workers, which wait.
func (p *Pool[T]) grow(most, spare int) {
	p.mu.Lock()
	for ; p.most < most; p.most++ {
		if p.spawn != nil {
			p.spawn()
		}
	}
	p.mu.Unlock()
	p.waits.Store(true)
	p.Queue.SetLimit(most + spare)
}

// Start starts the workers. They end after finish.
func (p *Pool[T]) Start(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	todo := make(chan *Job[T], p.most)
	p.todo = todo
	p.spawn = func() { p.Wait.Go(func() { p.runWorker(ctx, todo) }) }
	for range p.most {
		p.spawn()
	}
}

// Begin allows jobs to be put, again after End.
func (p *Pool[T]) Begin() { p.Queue.End(nil) }

// Put adds a job, after Queue.Room.
func (p *Pool[T]) Put(j *Job[T]) {
	j.done = make(chan struct{})
	if p.unordered {
		p.underWay.Add(1)
	} else {
		p.Queue.Put(j)
	}
	p.todo <- j // a worker takes it even during shutdown
}

// End records that no more jobs will be put, and why. Take returns the error after the last of them.
func (p *Pool[T]) End(err error) {
	p.underWay.Wait()
	p.Queue.End(err)
}

// Finish lets the workers end when they have done what was put.
func (p *Pool[T]) Finish() {
	p.mu.Lock()
	p.spawn = nil
	p.mu.Unlock()
	close(p.todo)
}

// runWorker is the loop of a worker.
func (p *Pool[T]) runWorker(ctx context.Context, todo <-chan *Job[T]) {
	pipeline.LabelGoroutine(ctx, p.Queue.Stats.Name)
	work := p.newWork()
	for {
		admitted := p.gate.Enter(ctx)
		j, more := <-todo
		if !more {
			if admitted {
				p.gate.Leave()
			}
			return
		}
		if waits := p.waits.Load(); p.run.Admit(ctx, waits) {
			watch := p.Queue.Stats.Watch()
			region := p.Queue.Stats.Region(ctx)
			j.Err = work(&j.V)
			region.End()
			watch.Busy()
			p.run.Dismiss(waits)
		} else {
			j.Err = ctx.Err()
		}
		close(j.done)
		if p.unordered {
			p.Queue.Put(j)
			p.underWay.Done()
		}
		if admitted {
			p.gate.Leave()
		}
	}
}

// Take returns the next job when it is finished, or after the last one the error of End.
func (p *Pool[T]) Take() (*Job[T], error) {
	j, err := p.Queue.Take()
	if err == nil {
		p.Queue.Stats.Await(j.done) // workers end with the context
	}
	return j, err
}

// Drain takes all jobs and drops them. The queue must have ended.
func (p *Pool[T]) Drain(drop func(*T)) {
	for {
		j, err := p.Queue.Take()
		if err != nil {
			return
		}
		<-j.done
		drop(&j.V)
	}
}
