package flows

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Cache keeps the elements of an epoch.
func Cache[T any](f Flow[T], o stages.CacheOptions) Flow[T] {
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
		if o.Partial {
			return nil, errors.New("reader: Cache of a Flow with Partial: it keeps all elements; cache records with Partial, before they become elements")
		}
		codec, err := newValueCodec(reflect.TypeFor[T]())
		if err != nil {
			return nil, fmt.Errorf("reader: Cache of %v: %w: give it MarshalBinary and UnmarshalBinary, or cache something else", reflect.TypeFor[T](), err)
		}
		in, err := f.Begin(ctx, pipeline.Origin{Epoch: from.Epoch, Idle: true})
		if err != nil {
			return nil, err
		}
		c, err := newCachedElements(in, codec, o)
		if err == nil {
			err = c.begin(from)
		}
		if err != nil {
			in.Close()
			return nil, err
		}
		return c, nil
	}
}

// cachedElements is a running Cache of elements. These are the records of a CacheStage, as bytes.
type cachedElements[T any] struct {
	in      Source[T]
	up      *elementWriter[T]
	records *stages.CacheStage
	codec   valueCodec
	section flowStage
	idle    idle[*cachedElement[T]]

	ctx    context.Context // of the epoch
	leave  context.CancelFunc
	start  *pipeline.State // of the stages before, in the epoch
	before pipeline.State  // of the epoch
	block  *pipeline.Block
	i      int   // elements of it that were returned
	given  int64 // elements of the epoch that were received
}

// cachedElement is an element with memory of its own.
type cachedElement[T any] struct {
	Element[T]
	size int64 // bytes charged to the budget
}

func newCachedElements[T any](in Source[T], codec valueCodec, o stages.CacheOptions) (*cachedElements[T], error) {
	r := in.Running()
	up := &elementWriter[T]{in: in, codec: codec}
	records, err := stages.NewCacheStage(r, up, o, r.Passes, stages.CacheOf{
		Stages: slices.Clone(r.Names), Making: r.Made(), Element: codec.machineName(),
	})
	if err != nil {
		return nil, err
	}
	r.Makes(stages.CacheName)
	start := in.State()
	return &cachedElements[T]{
		in: in, up: up, records: records, codec: codec, section: flowStage{name: stages.CacheName}, start: &start,
	}, nil
}

// begin starts the first epoch.
func (c *cachedElements[T]) begin(from pipeline.Origin) error {
	if from.State == nil {
		if from.Idle {
			c.enter(0, 0)
			c.leave()
			return nil
		}
		return c.startAt(from.Epoch, 0)
	}
	given, err := c.position(*from.State)
	if err != nil {
		return err
	}
	return c.startAt(from.State.Epoch, given)
}

// position returns the number of elements that a State counts. All else in it is the beginning of
// an epoch of the stages before.
func (c *cachedElements[T]) position(s pipeline.State) (given int64, err error) {
	r := c.in.Running()
	own, err := popFlow(&s, stages.CacheName)
	if err != nil {
		return 0, err
	}
	if err := sameWorker(r, &s, stages.CacheName); err != nil {
		return 0, err
	}
	for _, stage := range slices.Backward(c.start.Flow) {
		at, err := popFlow(&s, stage.Name)
		if err != nil {
			return 0, err
		}
		if !slices.Equal(at, stage.At) {
			return 0, pipeline.ErrPosition(stage.Name)
		}
	}
	at, err := r.Position(&s)
	if err != nil {
		return 0, err
	}
	if at != nil || s.Skip != 0 || len(own) != 1 || own[0] < 0 || own[0] > pipeline.MaxSkip {
		return 0, pipeline.ErrPosition(stages.CacheName)
	}
	return own[0], nil
}

// startAt starts an epoch after some of its elements.
func (c *cachedElements[T]) startAt(epoch, given int64) error {
	if err := pipeline.CheckEpoch(epoch); err != nil {
		return err
	}
	c.enter(epoch, given)
	var at pipeline.Position
	return c.records.Start(c.ctx, epoch, at.Push(given))
}

// enter makes an epoch the current one.
func (c *cachedElements[T]) enter(epoch, given int64) {
	c.forget()
	c.ctx, c.leave = context.WithCancel(c.in.Running().Ctx)
	start := *c.start // marks refer to the start of another epoch
	start.Epoch = epoch
	c.start, c.given = &start, given
	c.before = c.section.start(start, given)
}

func (c *cachedElements[T]) Next() (*Element[T], error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	for c.block == nil || c.i == len(c.block.Records) {
		c.drop()
		b, err := c.records.Next()
		if err != nil {
			return nil, err
		}
		c.block = b
	}
	c.i++
	c.given++
	m := c.section.after(Mark{block: c.block, n: c.i, saved: c.start}, c.given)
	e := c.element()
	r := valueReader{data: m.record().Data, epochs: c.records.Epochs, at: m}
	if c.codec.read(&r, reflect.ValueOf(&e.Value).Elem()); r.err == nil && len(r.data) > 0 {
		r.err = errors.New("it is longer than a value of its type")
	}
	if r.err != nil {
		return nil, fmt.Errorf("reader: element %d of the cache: %w", c.given-1, r.err)
	}
	e.marks = append(e.marks, m.retain())
	e.size = int64(len(m.record().Data))
	c.in.Running().Budget.Add(e.size, 0)
	return &e.Element, nil
}

// element returns one to fill.
func (c *cachedElements[T]) element() *cachedElement[T] {
	if e, ok := c.idle.take(); ok {
		return e
	}
	e := &cachedElement[T]{}
	e.free = func() {
		r := c.in.Running()
		r.Budget.Add(-e.size, 0)
		switch recycle := c.in.recycle(); {
		case recycle == nil:
			var none T
			e.Value = none
		case r.Opts.PoisonRecycled:
			recycle(e.Value)
		}
		c.idle.put(e)
	}
	return e
}

func (c *cachedElements[T]) Interrupt() {
	c.leave()
	c.up.Stop()
}

func (c *cachedElements[T]) StartEpoch(epoch int64) error { return c.startAt(epoch, 0) }

func (c *cachedElements[T]) State() pipeline.State  { return c.before }
func (c *cachedElements[T]) Running() *pipeline.Run { return c.in.Running() }

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

func (c *cachedElements[T]) Close() {
	c.forget()
	c.records.Stop()
	c.in.Close()
}

// elementWriter is the stage whose records are the elements of a flow as bytes, each with the
// position of its last record. It has no position of its own.
type elementWriter[T any] struct {
	in    Source[T]
	codec valueCodec
	mu    sync.Mutex // of start and stop, which another goroutine calls
}

func (w *elementWriter[T]) Start(ctx context.Context, epoch int64, _ pipeline.Position) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.in.StartEpoch(epoch)
}

func (w *elementWriter[T]) Next() (*pipeline.Block, error) {
	e, err := w.in.Next()
	if err != nil {
		return nil, err
	}
	defer e.Drop()
	r := w.in.Running()
	b := r.NewBuffer(false)
	data, err := w.codec.write(b.Buf[:0], reflect.ValueOf(&e.Value).Elem())
	b.SetBuf(data)
	if err != nil {
		b.Release()
		return nil, locateElement(r, e.Last(), fmt.Errorf("write it to the cache: %w", err))
	}
	record := pipeline.Record{Number: -1, Offset: -1}
	if m := e.Last(); m.block != nil {
		record = m.record()
	}
	record.Data, record.Epoch = data, max(e.Epoch(), 0)
	b.Records = append(b.Records, record)
	return b, nil
}

func (w *elementWriter[T]) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in.Interrupt()
}
