package reader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/tfrecord"
)

// flowMap returns the elements that into makes of those of f.
func flowMap[T, U any](f flow[T], into func(T) (U, error), o MapOptions) flow[U] {
	return func(ctx context.Context, from origin) (source[U], error) {
		if into == nil || o.Unordered {
			return nil, errors.New("reader: MapFlow needs a function, and keeps the order")
		}
		if err := checkWorkers(o.Workers); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		upCtx, feeder := withCaller(ctx)
		in, err := f.begin(upCtx, from)
		if err != nil {
			cancel()
			return nil, err
		}
		m := &elementMapper[T, U]{in: in, caller: feeder, into: into, size: o.Size, ctx: ctx, cancel: cancel}
		in.running().makes("map")
		m.pool = newPool(in.running(), "map", o, 1, m.work)
		m.pool.start(ctx)
		m.beginEpoch()
		return m, nil
	}
}

// elementMapper is a running MapFlow.
type elementMapper[T, U any] struct {
	in     source[T]
	caller *caller // of in
	into   func(T) (U, error)
	size   func(any) int64 // nil: unknown
	ctx    context.Context
	cancel context.CancelFunc
	pool   *pool[made[T, U]]
	err    error // final

	start   State // of the epoch
	epoch   context.Context
	leave   context.CancelFunc // ends it
	feeding sync.WaitGroup     // the goroutine that hands out its elements

	largest atomic.Int64 // largest element so far, in bytes
}

// made is an element being mapped.
type made[T, U any] struct {
	element[U]
	of      *element[T]
	charged int64 // bytes charged to the budget
}

// beginEpoch starts handing out the elements of an epoch.
func (m *elementMapper[T, U]) beginEpoch() {
	m.start = m.in.state()
	m.epoch, m.leave = context.WithCancel(m.ctx)
	m.pool.queue.end(nil)
	m.caller.labels = withStage(m.ctx, m.pool.queue.stats.name)
	m.feeding.Go(func() {
		labelGoroutine(m.ctx, m.pool.queue.stats.name)
		m.pool.queue.end(m.feed())
	})
}

func (m *elementMapper[T, U]) interrupt() {
	m.in.interrupt()
	m.leave()
}

func (m *elementMapper[T, U]) startEpoch(epoch int64) error {
	m.interrupt()
	m.feeding.Wait()
	m.drain()
	if err := m.in.startEpoch(epoch); err != nil {
		return err
	}
	m.beginEpoch()
	return nil
}

// drain drops what was handed out.
func (m *elementMapper[T, U]) drain() { m.pool.drain(func(e *made[T, U]) { e.drop() }) }

// feed hands out elements until there is an error.
func (m *elementMapper[T, U]) feed() error {
	budget := m.in.running().budget
	for m.pool.queue.room(m.epoch) {
		room := m.largest.Load()
		if room > 0 && !budget.make(m.epoch, room, 0, m.pool.queue.empty) {
			break
		}
		of, err := m.in.next()
		if err != nil {
			budget.add(-room, 0)
			return err
		}
		j := &job[made[T, U]]{v: made[T, U]{of: of, charged: room}}
		e := &j.v
		for _, mark := range of.marks {
			e.marks = append(e.marks, mark.retain())
		}
		e.free = func() {
			budget.add(-e.charged, 0)
			of.drop()
		}
		m.pool.put(j)
	}
	return m.epoch.Err()
}

// work maps an element, and charges the budget for the size of its result.
func (m *elementMapper[T, U]) work(e *made[T, U]) (err error) {
	e.value, err = m.into(e.of.value)
	if m.size == nil || err != nil {
		return err
	}
	n := max(m.size(e.value), 0)
	m.in.running().budget.add(n-e.charged, 0)
	e.charged = n
	raise(&m.largest, n)
	return nil
}

func (m *elementMapper[T, U]) next() (*element[U], error) {
	if m.err != nil {
		return nil, m.err
	}
	j, err := m.pool.take()
	if err != nil {
		return nil, err
	}
	e := &j.v
	if j.err != nil {
		if m.err = m.ctx.Err(); m.err == nil {
			m.err = locateElement(m.in.running(), e.last(), j.err)
		}
		e.drop()
		return nil, m.err
	}
	m.pool.queue.stats.elements.Add(1)
	return &e.element, nil
}

// locateElement adds the location of the last record of an element to an error about it.
func locateElement(r *run, after mark, err error) error {
	if after.block == nil {
		return err
	}
	record := after.record()
	if record.Number < 0 {
		return err // not known
	}
	return &tfrecord.Error{
		Name: r.data.Path(record), Record: record.Number, Offset: record.Offset, Part: tfrecord.PartParse,
		Err: fmt.Errorf("the element that ends with it: %w", err),
	}
}

func (m *elementMapper[T, U]) state() State  { return m.start }
func (m *elementMapper[T, U]) running() *run { return m.in.running() }

func (m *elementMapper[T, U]) recycle() func(U) { return nil }

func (m *elementMapper[T, U]) close() {
	m.cancel()
	m.feeding.Wait()
	m.pool.finish()
	m.pool.wait.Wait()
	m.drain()
	m.in.close()
}

// flowFilter returns the elements for which keep returns true.
func flowFilter[T any](f flow[T], keep func(T) (bool, error)) flow[T] {
	return func(ctx context.Context, from origin) (source[T], error) {
		if keep == nil {
			return nil, errors.New("reader: Filter needs a function")
		}
		in, err := f.begin(ctx, from)
		if err != nil {
			return nil, err
		}
		in.running().makes("filter")
		return &elementFilter[T]{source: in, keep: keep, stats: in.running().stats("filter")}, nil
	}
}

// elementFilter is a running Filter.
type elementFilter[T any] struct {
	source[T]
	keep  func(T) (bool, error)
	stats *stageStats
}

func (f *elementFilter[T]) next() (*element[T], error) {
	for {
		watch := f.stats.watch()
		e, err := f.source.next()
		watch.waited()
		if err != nil {
			return nil, err
		}
		keep, err := f.keep(e.value)
		watch.busy()
		if err != nil {
			err = locateElement(f.running(), e.last(), err)
		}
		if keep && err == nil {
			f.stats.elements.Add(1)
			return e, nil
		}
		e.drop()
		if err != nil {
			return nil, err
		}
	}
}
