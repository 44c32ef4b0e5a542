package stages

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
)

// Map adds a stage that replaces the data of records.
func Map(before *pipeline.Link, f func(dst []byte, r pipeline.Record) ([]byte, error), o pipeline.MapDataOptions) *pipeline.Link {
	next := KnownMap(before, "", f, o)
	next.Calls = true
	return next
}

// KnownMap is Map for a function of tfrec: the name has all that its results depend on.
func KnownMap(before *pipeline.Link, name string, f func(dst []byte, r pipeline.Record) ([]byte, error), o pipeline.MapDataOptions) *pipeline.Link {
	if name = "map(" + name + ")"; name == "map()" {
		name = "map"
	}
	return before.Then(name, func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		if f == nil {
			return nil, errors.New("reader: MapData without a function")
		}
		if err := pipeline.CheckWorkers(o.Workers); err != nil {
			return nil, err
		}
		x := &mapStage{run: r, up: up, name: name, f: f}
		x.pool = NewPool(r, name, pipeline.MapOptions{Workers: o.Workers, Waits: o.Waits}, 2, func() func(*remade) error { return x.remake })
		r.Tally(&x.bad)
		return x, nil
	})
}

// mapStage maps the records of portions. Its own section is the number of elements between the
// position of the stage before and a block, and its skip count.
type mapStage struct {
	run     *pipeline.Run
	up      pipeline.Stage
	name    string
	f       func(dst []byte, r pipeline.Record) ([]byte, error)
	pool    *Pool[remade]
	bad     pipeline.SkipCount
	largest atomic.Int64 // largest portion so far, in bytes
	each    atomic.Int64 // time of a record of the latest portion, in nanoseconds; 0: none was made

	ctx    context.Context
	cancel context.CancelFunc // not nil once the goroutines were started
	feeder sync.WaitGroup
	err    error // final
}

// remade is a portion of a block of the stage before, and its result.
type remade struct {
	in     *pipeline.Block
	from   int // index of its first record
	to     int
	out    *pipeline.Block
	faults []pipeline.WorkFault
}

func (m *remade) drop() {
	m.in.Release()
	if m.out != nil {
		m.out.Release()
	}
}

func (x *mapStage) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	x.Stop()
	lead, bad, before, err := at.PopLead(x.name)
	if err != nil {
		return err
	}
	x.run.SetTally(&x.bad, bad)
	x.err = nil
	ctx, cancel := context.WithCancel(ctx)
	upCtx, feeder := pipeline.WithCaller(ctx)
	if err := x.up.Start(upCtx, epoch, before); err != nil {
		cancel()
		return err
	}
	x.ctx, x.cancel = ctx, cancel
	feeder.Labels = pipeline.WithStage(ctx, x.name)
	x.pool.Begin()
	x.pool.Start(ctx)
	x.feeder.Go(func() {
		pipeline.LabelGoroutine(ctx, x.name)
		err := x.feed(lead)
		x.pool.Finish()
		x.pool.End(err)
	})
	return nil
}

// PortionBytes bounds the bytes of records that a worker gets at once.
const PortionBytes = 256 << 10

// portion returns the number of records that a worker gets at once: no more than it makes before it
// should hand them on.
func (x *mapStage) portion() int {
	each := x.each.Load()
	if each == 0 {
		return 1
	}
	return int(min(max(int64(pipeline.PatienceTime)/each, 1), pipeline.MapPortion))
}

// feed cuts blocks into portions until there is an error. It drops the first lead records.
func (x *mapStage) feed(lead int64) error {
	for {
		b, err := x.up.Next()
		if err != nil {
			return err
		}
		from := int(min(lead, int64(len(b.Records))))
		lead -= int64(from)
		for from < len(b.Records) {
			if !x.pool.Queue.Room(x.ctx) {
				b.Release()
				return x.ctx.Err()
			}
			to, size, most := from, 0, x.portion()
			for to < len(b.Records) && to-from < most && size < PortionBytes {
				size += len(b.Records[to].Data)
				to++
			}
			b.Retain()
			x.pool.Put(&Job[remade]{V: remade{in: b, from: from, to: to}})
			from = to
		}
		b.Release()
	}
}

var errShorter = errors.New("the function gave less than it was given to append to")

// remake maps the records of a portion.
func (x *mapStage) remake(m *remade) error {
	out := x.run.NewBuffer(false)
	m.out = out
	if n := int(x.largest.Load()); cap(out.Buf) < n {
		out.SetBuf(make([]byte, n))
	}
	buf := out.Buf[:0]
	total := 0
	began := time.Now()
	for i := m.from; i < m.to; i++ {
		r := m.in.Records[i]
		begin := len(buf)
		all, err := x.f(buf, r)
		if err == nil && len(all) < begin {
			err = errShorter
		}
		if err != nil {
			m.faults = append(m.faults, pipeline.WorkFault{Record: i, Err: err})
			if !x.run.Passable(err) {
				break
			}
			continue
		}
		// If append reallocated, the records so far alias the old buffer.
		buf = all
		r.Data = all[begin:len(all):len(all)]
		total += len(r.Data)
		out.Records = append(out.Records, r)
	}
	if cap(buf) != cap(out.Buf) {
		out.SetBuf(buf)
	}
	x.each.Store(max(int64(time.Since(began))/int64(m.to-m.from), 1))
	records.Raise(&x.largest, int64(total))
	return nil
}

func (x *mapStage) Next() (*pipeline.Block, error) {
	for x.err == nil {
		j, err := x.pool.Take()
		if err != nil {
			x.err = err
			break
		}
		b, err := x.settle(&j.V, j.Err)
		if err != nil {
			x.err = err
			break
		}
		if b != nil {
			x.pool.Queue.Stats.Gave(b)
			return b, nil
		}
	}
	return nil, x.err
}

// settle returns the result of a portion, whose work failed if err is not nil; nil if it is empty.
func (x *mapStage) settle(m *remade, err error) (*pipeline.Block, error) {
	defer m.drop()
	if err != nil {
		return nil, err
	}
	bad := x.bad.Words()
	for _, f := range m.faults {
		record := m.in.Records[f.Record]
		if !x.run.Passable(f.Err) {
			return nil, x.run.Locate(record, f.Err)
		}
		if err := x.run.SkipRecord(&x.bad, record, f.Err); err != nil {
			return nil, err
		}
	}
	if len(m.out.Records) == 0 {
		return nil, nil
	}
	b := m.out
	m.out = nil
	b.At = append(b.At[:0], m.in.At...).Push(append([]int64{int64(m.from)}, bad[:]...)...)
	return b, nil
}

func (x *mapStage) Stop() {
	if x.cancel != nil {
		x.cancel()
		x.feeder.Wait()
		x.pool.Wait.Wait()
		x.pool.Drain((*remade).drop)
		x.cancel = nil
	}
	x.up.Stop()
}
