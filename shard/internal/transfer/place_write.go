package transfer

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// placedWriter writes shards whose records are in buckets.
type placedWriter struct {
	*arrangement
	budget  *par.Budget
	free    chan *placed
	commits *commits
	workers int
	ahead   bool // there are idle processors: a lot loads its next bucket while it writes one

	mu         sync.Mutex
	inUse      map[int]*usedBucket // by number
	background sync.WaitGroup      // loads ahead
}

// usedBucket is a bucket that lots are writing, or have still to write.
type usedBucket struct {
	*placed
	charge int64 // bytes acquired from the budget
	users  int   // lots that are not done with it
	ready  chan struct{}
	err    error // valid once ready is closed, as placed
}

// placed is a bucket being written.
type placed struct {
	data    []byte
	rows    []int       // offset in data of the row for each position
	sorting []sortedRow // memory for sorting; nil for an order by record number
	sorted  bool        // each row begins with its key
}

// rowMemory and sortMemory are the bytes of memory that a row takes in addition to its data.
const (
	rowMemory  = 8
	sortMemory = 2 * 24
)

// newPlacedWriter returns a writer for the lots of a, up to workers of them in parallel, as memory
// allows.
func (a *arrangement) newPlacedWriter(workers int) *placedWriter {
	room := a.In.Memory / 2
	w := &placedWriter{arrangement: a, commits: newCommits(), budget: par.NewBudget(room), inUse: map[int]*usedBucket{}}
	lots := min(workers, len(a.places.lots))
	if a.places.shared != nil {
		// Of the lots being written, each has one bucket in use, and one more may wait for the lot
		// before it. With room for so many, none ever waits for a lot that waits for room.
		most := int64(1)
		for i := range a.number {
			most = max(most, w.chargeOf(i))
		}
		lots = int(min(max(room/(2*most), 1), int64(lots)))
	}
	w.workers, w.ahead = lots, lots < workers
	w.free = make(chan *placed, workers+1)
	return w
}

// chargeOf returns the budget that an unused bucket needs.
func (w *placedWriter) chargeOf(number int) int64 {
	each := int64(rowMemory)
	if w.cuts != nil {
		each += sortMemory
	}
	return int64(w.spill.Size(number)) + each*int64(w.spill.Rows(number))
}

// writePlaced writes the lots.
func (a *arrangement) writePlaced(ctx context.Context) error {
	w := a.newPlacedWriter(a.In.Workers)
	err := par.Map(ctx, w.workers, w.workers,
		func(_ context.Context, give func(*shardLot) error) error {
			for i := range a.places.lots {
				if err := give(&a.places.lots[i]); err != nil {
					return err
				}
			}
			return nil
		},
		w.lot,
		func(*shardLot) error { return nil })
	return w.wait(err)
}

// wait waits for the background work after the lots have ended with err. It returns err or else the
// first error.
func (w *placedWriter) wait(err error) error {
	w.background.Wait()
	return w.commits.wait(err)
}

// lot writes the shards of a lot.
func (w *placedWriter) lot(ctx context.Context, l *shardLot) (err error) {
	var open *openShard
	defer func() {
		if open != nil {
			open.Abort()
		}
	}()
	out := gathers.Get().(*source.Block)
	defer gathers.Put(out)
	out.Data, out.Sizes, out.Labels = out.Data[:0], out.Sizes[:0], out.Labels[:0]
	shards := l.shards
	at, end := shards[0].start, shards[len(shards)-1].behind
	for i := range l.buckets {
		number := l.bucket + i
		b, err := w.take(ctx, number)
		if err != nil {
			return err
		}
		last := i == l.buckets-1
		if w.ahead && !last {
			w.takeAhead(number + 1)
		}
		start, behind := w.places.starts[number], min(w.places.starts[number+1], end)
		for at < behind || last && len(shards) > 0 {
			if open == nil {
				if open, err = w.openShard(shards[0].target, shards[0].shard); err != nil {
					return err
				}
				open.Data.Aside = w.ahead
			}
			next := min(behind, shards[0].behind)
			if err := b.write(open, b.rows[at-start:next-start], out); err != nil {
				return err
			}
			if at = next; at == shards[0].behind {
				full := open
				open, shards = nil, shards[1:]
				if err := w.commits.add(ctx, full); err != nil {
					return err
				}
			}
		}
		w.drop(number, b)
	}
	return nil
}

// take returns a bucket for one of its lots, which drops it later. The first one loads it.
func (w *placedWriter) take(ctx context.Context, number int) (*usedBucket, error) {
	w.mu.Lock()
	b, loads := w.inUse[number]
	if !loads {
		b = w.use(number)
	}
	w.mu.Unlock()
	if !loads {
		if b.err = w.budget.Acquire(ctx, b.charge); b.err == nil {
			b.err = w.load(b, number)
		}
		close(b.ready)
	}
	<-b.ready
	return b, b.err
}

// takeAhead begins to load a bucket, unless it is in use already or the budget is too small.
func (w *placedWriter) takeAhead(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inUse[number] != nil || !w.budget.TryAcquire(w.chargeOf(number)) {
		return
	}
	b := w.use(number)
	w.background.Go(func() {
		b.err = w.load(b, number)
		close(b.ready)
	})
}

// use notes that a bucket is in use. The caller holds the lock.
func (w *placedWriter) use(number int) *usedBucket {
	b := &usedBucket{charge: w.chargeOf(number), users: 1, ready: make(chan struct{})}
	if w.places.shared != nil {
		b.users = w.places.shared[number]
	}
	w.inUse[number] = b
	return b
}

// drop ends the use of a bucket by one lot.
func (w *placedWriter) drop(number int, b *usedBucket) {
	w.mu.Lock()
	b.users--
	done := b.users == 0
	if done {
		delete(w.inUse, number)
	}
	w.mu.Unlock()
	if !done {
		return
	}
	// Keep the memory for the next bucket, unless it is much larger than needed.
	if int64(cap(b.data)) <= w.In.Memory/8 {
		select {
		case w.free <- b.placed:
		default:
		}
	}
	w.budget.Release(b.charge)
}

// load reads a bucket and puts its rows in order.
func (w *placedWriter) load(b *usedBucket, number int) error {
	select {
	case b.placed = <-w.free:
	default:
		b.placed = new(placed)
	}
	p := b.placed
	size, n := w.spill.Size(number), w.spill.Rows(number)
	if cap(p.data) < size {
		p.data = make([]byte, 0, size+min(size/8, leastAlone)) // the next one may be a little larger
	}
	data, err := w.spill.Take(number, p.data[:0])
	if err != nil {
		return err
	}
	p.data, p.sorted = data, w.cuts != nil
	if cap(p.rows) < n {
		p.rows = make([]int, n)
	}
	p.rows = p.rows[:n]
	if p.sorted {
		p.sort()
		return nil
	}
	at := w.places.starts[number]
	for from := 0; from < len(data); {
		row, next := spill.Parse(data, from)
		p.rows[int64(row.Key)-at] = from
		from = next
	}
	return nil
}

// gathered is the number of bytes of records that are collected before they are written: more than
// the buffer of a shard, so that it does not copy them again. A record of at least leastDirect
// bytes is written by itself.
const (
	gathered    = 384 << 10
	leastDirect = 64 << 10
)

// gathers is memory for collecting records.
var gathers = sync.Pool{New: func() any { return new(source.Block) }}

// write writes rows to a shard, and uses b to collect them.
func (p *placed) write(to *openShard, rows []int, b *source.Block) error {
	flush := func() error {
		if len(b.Sizes) == 0 {
			return nil
		}
		err := to.add(b, 0, len(b.Sizes), b.Data)
		b.Data, b.Sizes, b.Labels = b.Data[:0], b.Sizes[:0], b.Labels[:0]
		return err
	}
	for i, at := range rows {
		if i%touched == 0 {
			for _, at := range rows[i:min(i+touched, len(rows))] {
				touch(p.data, at)
			}
		}
		row, _ := spill.Parse(p.data, at)
		frame := p.data[row.From:row.To]
		if p.sorted {
			_, frame = cutKey(frame)
		}
		alone := len(frame) >= leastDirect
		if alone || len(b.Data)+len(frame) > gathered {
			if err := flush(); err != nil {
				return err
			}
		}
		b.Sizes, b.Labels = append(b.Sizes, len(frame)), append(b.Labels, labelOf(&row))
		if !alone {
			b.Data = append(b.Data, frame...)
			continue
		}
		if err := to.add(b, 0, 1, frame); err != nil {
			return err
		}
		b.Sizes, b.Labels = b.Sizes[:0], b.Labels[:0]
	}
	return flush()
}

// touched is the number of rows that are touched before they are written.
const touched = 16

// touch brings the beginning of a row into the processor's cache. Rows are in no order in memory:
// touching several waits for all of them at once, and reading one after another for each. Inlined,
// it would have no effect to keep.
//
//go:noinline
func touch(data []byte, at int) (sum byte) {
	row := data[at:min(at+256, len(data))]
	for i := 0; i < len(row); i += 64 {
		sum += row[i]
	}
	return sum
}
