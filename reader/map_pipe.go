package reader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// recordMap adds a stage that replaces the data of records.
func recordMap(before *link, name string, f func(dst []byte, r Record) ([]byte, error), o MapOptions) *link {
	name = fmt.Sprintf("map(%s)", name)
	return before.then(name, func(r *run, up stage) (stage, error) {
		if f == nil || o.Unordered || o.Size != nil {
			return nil, fmt.Errorf("reader: %s needs a function, keeps the order, and knows the size of records: no Unordered, no Size", name)
		}
		if err := checkWorkers(o.Workers); err != nil {
			return nil, err
		}
		x := &mapStage{run: r, up: up, name: name, f: f}
		x.pool = newPool(r, name, o, 2, x.remake)
		r.tally(&x.bad)
		return x, nil
	})
}

// mapStage maps the records of portions. Its own section is the number of elements of the stage
// before between its position and that of a block, and its skip count.
type mapStage struct {
	run     *run
	up      stage
	name    string
	f       func(dst []byte, r Record) ([]byte, error)
	pool    *pool[remade]
	bad     skipCount
	largest atomic.Int64 // largest portion so far, in bytes
	each    atomic.Int64 // time of a record of the latest portion, in nanoseconds; 0: none was made

	ctx    context.Context
	cancel context.CancelFunc // not nil once the goroutines were started
	feeder sync.WaitGroup
	err    error // final
}

// remade is a portion of a block of the stage before, and its result.
type remade struct {
	in     *recordBlock
	from   int // index of its first record
	to     int
	out    *recordBlock
	faults []workFault
}

func (m *remade) drop() {
	m.in.Release()
	if m.out != nil {
		m.out.Release()
	}
}

func (x *mapStage) start(ctx context.Context, epoch int64, at position) error {
	x.stop()
	lead, bad, before, err := at.popLead(x.name)
	if err != nil {
		return err
	}
	x.run.setTally(&x.bad, bad)
	x.err = nil
	ctx, cancel := context.WithCancel(ctx)
	upCtx, feeder := withCaller(ctx)
	if err := x.up.start(upCtx, epoch, before); err != nil {
		cancel()
		return err
	}
	x.ctx, x.cancel = ctx, cancel
	feeder.labels = withStage(ctx, x.name)
	x.pool.queue.end(nil)
	x.pool.start(ctx)
	x.feeder.Go(func() {
		labelGoroutine(ctx, x.name)
		err := x.feed(lead)
		x.pool.finish()
		x.pool.queue.end(err)
	})
	return nil
}

// portionBytes bounds the bytes of records that a worker gets at once.
const portionBytes = 256 << 10

// portion returns the number of records that a worker gets at once: no more than it makes before it
// should hand them on.
func (x *mapStage) portion() int {
	each := x.each.Load()
	if each == 0 {
		return 1
	}
	return int(min(max(int64(patienceTime)/each, 1), mapPortion))
}

// feed cuts blocks into portions until there is an error. It drops the first lead records.
func (x *mapStage) feed(lead int64) error {
	for {
		b, err := x.up.next()
		if err != nil {
			return err
		}
		from := int(min(lead, int64(len(b.Records))))
		lead -= int64(from)
		for from < len(b.Records) {
			if !x.pool.queue.room(x.ctx) {
				b.Release()
				return x.ctx.Err()
			}
			to, size, most := from, 0, x.portion()
			for to < len(b.Records) && to-from < most && size < portionBytes {
				size += len(b.Records[to].Data)
				to++
			}
			b.Retain()
			x.pool.put(&job[remade]{v: remade{in: b, from: from, to: to}})
			from = to
		}
		b.Release()
	}
}

var errShorter = errors.New("the function gave less than it was given to append to")

// remake maps the records of a portion.
func (x *mapStage) remake(m *remade) error {
	out := x.run.newBuffer(false)
	m.out = out
	if n := int(x.largest.Load()); cap(out.buf) < n {
		out.setBuf(make([]byte, n))
	}
	buf := out.buf[:0]
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
			m.faults = append(m.faults, workFault{record: i, err: err})
			if !x.run.passable(err) {
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
	if cap(buf) != cap(out.buf) {
		out.setBuf(buf)
	}
	x.each.Store(max(int64(time.Since(began))/int64(m.to-m.from), 1))
	raise(&x.largest, int64(total))
	return nil
}

func (x *mapStage) next() (*recordBlock, error) {
	for x.err == nil {
		j, err := x.pool.take()
		if err != nil {
			x.err = err
			break
		}
		b, err := x.settle(&j.v, j.err)
		if err != nil {
			x.err = err
			break
		}
		if b != nil {
			x.pool.queue.stats.gave(b)
			return b, nil
		}
	}
	return nil, x.err
}

// settle returns the result of a portion, whose work failed if err is not nil; nil if it is empty.
func (x *mapStage) settle(m *remade, err error) (*recordBlock, error) {
	defer m.drop()
	if err != nil {
		return nil, err
	}
	bad := x.bad.words()
	for _, f := range m.faults {
		record := m.in.Records[f.record]
		if !x.run.passable(f.err) {
			return nil, x.run.locate(record, f.err)
		}
		if err := x.run.skipRecord(&x.bad, record, f.err); err != nil {
			return nil, err
		}
	}
	if len(m.out.Records) == 0 {
		return nil, nil
	}
	b := m.out
	m.out = nil
	b.at = append(b.at[:0], m.in.at...).push(append([]int64{int64(m.from)}, bad[:]...)...)
	return b, nil
}

func (x *mapStage) stop() {
	if x.cancel != nil {
		x.cancel()
		x.feeder.Wait()
		x.pool.wait.Wait()
		x.pool.drain((*remade).drop)
		x.cancel = nil
	}
	x.up.stop()
}
