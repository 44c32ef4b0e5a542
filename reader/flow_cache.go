package reader

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// flowCache keeps the elements of an epoch.
func flowCache[T any](f flow[T], o CacheOptions) flow[T] {
	return func(ctx context.Context, from origin) (source[T], error) {
		if o.Partial {
			return nil, errors.New("reader: Cache of a Flow with Partial: it keeps all elements; cache records with Partial, before they become elements")
		}
		codec, err := newValueCodec(reflect.TypeFor[T]())
		if err != nil {
			return nil, fmt.Errorf("reader: Cache of %v: %w: give it MarshalBinary and UnmarshalBinary, or cache something else", reflect.TypeFor[T](), err)
		}
		in, err := f.begin(ctx, origin{epoch: from.epoch, idle: true})
		if err != nil {
			return nil, err
		}
		c, err := newCachedElements(in, codec, o)
		if err == nil {
			err = c.begin(from)
		}
		if err != nil {
			in.close()
			return nil, err
		}
		return c, nil
	}
}

// cachedElements is a running Cache of elements. These are the records of a cacheStage, as bytes.
type cachedElements[T any] struct {
	in      source[T]
	up      *elementWriter[T]
	records *cacheStage
	codec   valueCodec
	section flowStage
	idle    idle[*cachedElement[T]]

	ctx    context.Context // of the epoch
	leave  context.CancelFunc
	start  *State // of the stages before, in the epoch
	before State  // of the epoch
	block  *recordBlock
	i      int   // elements of it that were returned
	given  int64 // elements of the epoch that were received
}

// cachedElement is an element with memory of its own.
type cachedElement[T any] struct {
	element[T]
	size int64 // bytes charged to the budget
}

func newCachedElements[T any](in source[T], codec valueCodec, o CacheOptions) (*cachedElements[T], error) {
	r := in.running()
	up := &elementWriter[T]{in: in, codec: codec}
	records, err := newCacheStage(r, up, o, r.passes, cacheOf{
		Stages: slices.Clone(r.names), Making: r.made(), Element: codec.machineName(),
	})
	if err != nil {
		return nil, err
	}
	r.makes(cacheName)
	start := in.state()
	return &cachedElements[T]{
		in: in, up: up, records: records, codec: codec, section: flowStage{name: cacheName}, start: &start,
	}, nil
}

// begin starts the first epoch.
func (c *cachedElements[T]) begin(from origin) error {
	if from.state == nil {
		if from.idle {
			c.enter(0, 0)
			c.leave()
			return nil
		}
		return c.startAt(from.epoch, 0)
	}
	given, err := c.position(*from.state)
	if err != nil {
		return err
	}
	return c.startAt(from.state.Epoch, given)
}

// position returns the number of elements that a State counts. All else in it is the beginning of
// an epoch of the stages before.
func (c *cachedElements[T]) position(s State) (given int64, err error) {
	r := c.in.running()
	own, err := popFlow(&s, cacheName)
	if err != nil {
		return 0, err
	}
	if err := sameWorker(r, &s, cacheName); err != nil {
		return 0, err
	}
	for _, stage := range slices.Backward(c.start.Flow) {
		at, err := popFlow(&s, stage.Name)
		if err != nil {
			return 0, err
		}
		if !slices.Equal(at, stage.At) {
			return 0, errPosition(stage.Name)
		}
	}
	at, err := r.position(&s)
	if err != nil {
		return 0, err
	}
	if at != nil || s.Skip != 0 || len(own) != 1 || own[0] < 0 || own[0] > maxSkip {
		return 0, errPosition(cacheName)
	}
	return own[0], nil
}

// startAt starts an epoch after some of its elements.
func (c *cachedElements[T]) startAt(epoch, given int64) error {
	if err := checkEpoch(epoch); err != nil {
		return err
	}
	c.enter(epoch, given)
	var at position
	return c.records.start(c.ctx, epoch, at.push(given))
}

// enter makes an epoch the current one.
func (c *cachedElements[T]) enter(epoch, given int64) {
	c.forget()
	c.ctx, c.leave = context.WithCancel(c.in.running().ctx)
	start := *c.start // marks refer to that of another epoch
	start.Epoch = epoch
	c.start, c.given = &start, given
	c.before = c.section.start(start, given)
}

func (c *cachedElements[T]) next() (*element[T], error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	for c.block == nil || c.i == len(c.block.Records) {
		c.drop()
		b, err := c.records.next()
		if err != nil {
			return nil, err
		}
		c.block = b
	}
	c.i++
	c.given++
	m := c.section.after(mark{block: c.block, n: c.i, saved: c.start}, c.given)
	e := c.element()
	r := valueReader{data: m.record().Data, epochs: c.records.epochs, at: m}
	if c.codec.read(&r, reflect.ValueOf(&e.value).Elem()); r.err == nil && len(r.data) > 0 {
		r.err = errors.New("it is longer than a value of its type")
	}
	if r.err != nil {
		return nil, fmt.Errorf("reader: element %d of the cache: %w", c.given-1, r.err)
	}
	e.marks = append(e.marks, m.retain())
	e.size = int64(len(m.record().Data))
	c.in.running().budget.add(e.size, 0)
	return &e.element, nil
}

// element returns one to fill.
func (c *cachedElements[T]) element() *cachedElement[T] {
	if e, ok := c.idle.take(); ok {
		return e
	}
	e := &cachedElement[T]{}
	e.free = func() {
		r := c.in.running()
		r.budget.add(-e.size, 0)
		switch recycle := c.in.recycle(); {
		case recycle == nil:
			var none T
			e.value = none
		case r.opts.PoisonRecycled:
			recycle(e.value)
		}
		c.idle.put(e)
	}
	return e
}

func (c *cachedElements[T]) interrupt() {
	c.leave()
	c.up.stop()
}

func (c *cachedElements[T]) startEpoch(epoch int64) error { return c.startAt(epoch, 0) }

func (c *cachedElements[T]) state() State  { return c.before }
func (c *cachedElements[T]) running() *run { return c.in.running() }

func (c *cachedElements[T]) recycle() func(T) { return c.in.recycle() }

// drop releases the block.
func (c *cachedElements[T]) drop() {
	if c.block != nil {
		c.block.Release()
	}
	c.block, c.i = nil, 0
}

// forget ends the epoch.
func (c *cachedElements[T]) forget() {
	if c.leave != nil {
		c.leave()
	}
	c.drop()
}

func (c *cachedElements[T]) close() {
	c.forget()
	c.records.stop()
	c.in.close()
}

// elementWriter is the stage whose records are the elements of a flow as bytes, each with the
// position of the last record that it was made of. It has no position of its own.
type elementWriter[T any] struct {
	in    source[T]
	codec valueCodec
	mu    sync.Mutex // of start and stop, which another goroutine calls
}

func (w *elementWriter[T]) start(ctx context.Context, epoch int64, _ position) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.in.startEpoch(epoch)
}

func (w *elementWriter[T]) next() (*recordBlock, error) {
	e, err := w.in.next()
	if err != nil {
		return nil, err
	}
	defer e.drop()
	r := w.in.running()
	b := r.newBuffer(false)
	data, err := w.codec.write(b.buf[:0], reflect.ValueOf(&e.value).Elem())
	b.setBuf(data)
	if err != nil {
		b.Release()
		return nil, locateElement(r, e.last(), fmt.Errorf("write it to the cache: %w", err))
	}
	record := Record{Number: -1, Offset: -1}
	if m := e.last(); m.block != nil {
		record = m.record()
	}
	record.Data, record.Epoch = data, max(e.epoch(), 0)
	b.Records = append(b.Records, record)
	return b, nil
}

func (w *elementWriter[T]) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in.interrupt()
}
