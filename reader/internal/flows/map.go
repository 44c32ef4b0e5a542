package flows

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// Map returns the results of newWorker's functions for the elements of f.
func Map[T, U any](f Flow[T], newWorker func() func(T) (U, error), o pipeline.MapOptions) Flow[U] {
	return func(ctx context.Context, from pipeline.Origin) (Source[U], error) {
		if newWorker == nil {
			return nil, pipeline.ErrNoFunction
		}
		if err := pipeline.CheckWorkers(o.Workers); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		upCtx, feeder := pipeline.WithCaller(ctx)
		in, err := f.Begin(upCtx, from)
		if err != nil {
			cancel()
			return nil, err
		}
		m := &elementMapper[T, U]{in: in, caller: feeder, size: o.Size, ctx: ctx, cancel: cancel}
		in.Running().Makes("map")
		in.Running().Calls = true
		m.pool = stages.NewPool(in.Running(), "map", o, 1, func() func(*made[T, U]) error {
			into := newWorker()
			if into == nil {
				into = func(T) (v U, err error) { return v, pipeline.ErrNoFunction }
			}
			return func(e *made[T, U]) error { return m.work(e, into) }
		})
		m.pool.Start(ctx)
		m.beginEpoch()
		return m, nil
	}
}

// elementMapper is a running Map of elements.
type elementMapper[T, U any] struct {
	in     Source[T]
	caller *pipeline.Caller // of in
	size   func(any) int64  // nil: unknown
	ctx    context.Context
	cancel context.CancelFunc
	pool   *stages.Pool[made[T, U]]
	err    error // final

	start   pipeline.State // of the epoch
	epoch   context.Context
	leave   context.CancelFunc // ends it
	feeding sync.WaitGroup     // the goroutine that hands out its elements

	largest atomic.Int64 // largest element so far, in bytes
}

// made is an element being mapped.
type made[T, U any] struct {
	Element[U]
	of      *Element[T]
	charged int64 // bytes charged to the budget
}

// beginEpoch starts handing out the elements of an epoch.
func (m *elementMapper[T, U]) beginEpoch() {
	m.start = m.in.State()
	m.epoch, m.leave = context.WithCancel(m.ctx)
	m.pool.Begin()
	m.caller.Labels = pipeline.WithStage(m.ctx, m.pool.Queue.Stats.Name)
	m.feeding.Go(func() {
		pipeline.LabelGoroutine(m.ctx, m.pool.Queue.Stats.Name)
		m.pool.End(m.feed())
	})
}

func (m *elementMapper[T, U]) Interrupt() {
	m.in.Interrupt()
	m.leave()
}

func (m *elementMapper[T, U]) StartEpoch(epoch int64) error {
	m.Interrupt()
	m.feeding.Wait()
	m.drain()
	if err := m.in.StartEpoch(epoch); err != nil {
		return err
	}
	m.beginEpoch()
	return nil
}

// drain drops what was handed out.
func (m *elementMapper[T, U]) drain() { m.pool.Drain(func(e *made[T, U]) { e.Drop() }) }

// feed hands out elements until there is an error.
func (m *elementMapper[T, U]) feed() error {
	budget := m.in.Running().Budget
	for m.pool.Queue.Room(m.epoch) {
		room := m.largest.Load()
		if room > 0 && !budget.Make(m.epoch, room, 0, m.pool.Queue.Empty) {
			break
		}
		of, err := m.in.Next()
		if err != nil {
			budget.Add(-room, 0)
			return err
		}
		j := &stages.Job[made[T, U]]{V: made[T, U]{of: of, charged: room}}
		e := &j.V
		for _, mark := range of.marks {
			e.marks = append(e.marks, mark.retain())
		}
		e.free = func() {
			budget.Add(-e.charged, 0)
			of.Drop()
		}
		m.pool.Put(j)
	}
	return m.epoch.Err()
}

// work maps an element, and charges the budget for the size of its result.
func (m *elementMapper[T, U]) work(e *made[T, U], into func(T) (U, error)) (err error) {
	e.Value, err = into(e.of.Value)
	if m.size == nil || err != nil {
		return err
	}
	n := max(m.size(e.Value), 0)
	m.in.Running().Budget.Add(n-e.charged, 0)
	e.charged = n
	records.Raise(&m.largest, n)
	return nil
}

func (m *elementMapper[T, U]) Next() (*Element[U], error) {
	if m.err != nil {
		return nil, m.err
	}
	j, err := m.pool.Take()
	if err != nil {
		return nil, err
	}
	e := &j.V
	if j.Err != nil {
		if m.err = m.ctx.Err(); m.err == nil {
			m.err = locateElement(m.in.Running(), e.Last(), j.Err)
		}
		e.Drop()
		return nil, m.err
	}
	m.pool.Queue.Stats.Elements.Add(1)
	return &e.Element, nil
}

// locateElement adds the location of the last record of an element to an error about it.
func locateElement(r *pipeline.Run, after Mark, err error) error {
	if after.block == nil {
		return err
	}
	record := after.record()
	if record.Number < 0 {
		return err // not known
	}
	return &tfrecord.Error{
		Name: r.Data.Path(record), Record: record.Number, Offset: record.Offset, Part: tfrecord.PartParse,
		Err: fmt.Errorf("the element that ends with it: %w", err),
	}
}

func (m *elementMapper[T, U]) State() pipeline.State  { return m.start }
func (m *elementMapper[T, U]) Running() *pipeline.Run { return m.in.Running() }

func (m *elementMapper[T, U]) recycle() func(U) { return nil }

func (m *elementMapper[T, U]) Close() {
	m.cancel()
	m.feeding.Wait()
	m.pool.Finish()
	m.pool.Wait.Wait()
	m.drain()
	m.in.Close()
}

// Filter returns the elements for which keep returns true.
func Filter[T any](f Flow[T], keep func(T) (bool, error)) Flow[T] {
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
		if keep == nil {
			return nil, errors.New("reader: Filter needs a function")
		}
		in, err := f.Begin(ctx, from)
		if err != nil {
			return nil, err
		}
		in.Running().Makes("filter")
		in.Running().Calls = true
		return &elementFilter[T]{Source: in, keep: keep, stats: in.Running().Stats("filter")}, nil
	}
}

// elementFilter is a running Filter.
type elementFilter[T any] struct {
	Source[T]
	keep  func(T) (bool, error)
	stats *pipeline.Counters
}

func (f *elementFilter[T]) Next() (*Element[T], error) {
	for {
		watch := f.stats.Watch()
		e, err := f.Source.Next()
		watch.Waited()
		if err != nil {
			return nil, err
		}
		keep, err := f.keep(e.Value)
		watch.Busy()
		if err != nil {
			err = locateElement(f.Running(), e.Last(), err)
		}
		if keep && err == nil {
			f.stats.Elements.Add(1)
			return e, nil
		}
		e.Drop()
		if err != nil {
			return nil, err
		}
	}
}
