package reader

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"sync"

	"github.com/tfrec/tfrec/tfrecord"
)

// ShuffleAllOptions are those of [Set.ShuffleAll].
type ShuffleAllOptions struct {
	// SameEachEpoch keeps the order from epoch to epoch.
	SameEachEpoch bool
	// Block keeps runs of that many records near each other, so that a disk
	// reads them together; Window runs are mixed with each other. The default 1
	// is a true shuffle.
	Block int
	// Window is how many runs are mixed. Default: 64. It means nothing for a
	// Block of 1.
	Window int
}

const defaultWindow = 64

// globalWords is how long the section of a position is: a place in the order,
// and the damage that the epoch had so far.
const globalWords = 2

// ShuffleAll returns the records of all files in one random order, another one
// in each epoch: a permutation that is computed, not listed. Worker i of n has
// places i, i + n, i + 2n … of it. The files must be uncompressed; those without
// an index file are gone over once, header by header, before the first record.
//
// Records are read some thousand at a time, in the order in which they lie.
func (s *Set) ShuffleAll(o ShuffleAllOptions) Pipe {
	if o.Block == 0 {
		o.Block = 1
	}
	if o.Window == 0 {
		o.Window = defaultWindow
	}
	name := fmt.Sprintf("shuffle_all(seed=%d", s.opts.Seed)
	if o.Block > 1 {
		name += fmt.Sprintf(",block=%d,window=%d", o.Block, o.Window)
	}
	if o.SameEachEpoch {
		name += ",same"
	}
	name += fmt.Sprintf(",ends=%d", s.opts.Ends)
	if s.opts.SkipBad.asked() {
		name += ",skip_bad"
	}
	name += ")"
	return Pipe{set: s}.then(name, func(r *run, _ stage) (stage, error) {
		if o.Block < 1 || o.Window < 1 {
			return nil, fmt.Errorf("reader: ShuffleAll with Block %d, Window %d: want 1 or more of each", o.Block, o.Window)
		}
		g := &global{run: r, name: name, opts: o, stats: r.stats(name)}
		g.stats.workers.Store(int32(s.opts.Parallelism))
		g.stats.queueSpace.Store(int32(s.opts.Parallelism + 1))
		return g, nil
	})
}

// global gives the records of a set in a computed order.
type global struct {
	run   *run
	stats *stageStats
	name  string
	opts  ShuffleAllOptions
	finder
	steps int // of an errand

	ctx    context.Context
	cancel context.CancelFunc
	epoch  int32
	order  *order
	coming int64     // place, of all workers together, where the next errand begins
	sent   []*errand // under way, in order
	bad    tolerance

	now    *errand
	i      int // records of now that were given
	faults int // faults of now that were reported
	err    error
}

func (g *global) start(epoch int64, at position) error {
	g.stop()
	g.ctx, g.cancel = context.WithCancel(g.run.ctx)
	if err := g.find(g.ctx, g.run.set); err != nil {
		return err
	}
	o := g.run.set.opts
	g.epoch, g.coming, g.i, g.faults, g.err = int32(epoch), 0, 0, 0, nil
	total := g.total()
	g.bad = newTolerance(g.run.set, epoch, total/int64(o.Workers))
	if own, _ := at.pop(); at != nil {
		if len(own) != globalWords || own[0] < 0 {
			return errPosition(g.name)
		}
		g.coming, g.bad.seen = own[0], own[1]
	}
	if total == 0 {
		return nil
	}
	if g.opts.SameEachEpoch {
		epoch = 0
	}
	g.order = newOrder(total, int64(g.opts.Block), int64(g.opts.Window), key(o.Seed, forOrder, uint64(epoch)))
	// Half of the memory is for errands under way, half for what they read around
	// their records.
	share := o.Memory / 2 / int64(o.Parallelism+2)
	g.steps = int(min(max(share/max(g.bytes()/total, 1), 16), 4096))
	g.send()
	return nil
}

// send starts errands, as many as may be under way.
func (g *global) send() {
	o, total := g.run.set.opts, g.total()
	for len(g.sent) <= o.Parallelism {
		e := &errand{global: g, place: g.coming, done: make(chan struct{})}
		for len(e.wants) < g.steps {
			place, pad := g.coming+int64(o.Worker), false
			if place >= total {
				if o.Ends != PadEnds || g.coming >= total {
					break
				}
				place, pad = place%total, true
			}
			if o.Ends == DropEnds && g.coming+int64(o.Workers) > total {
				break
			}
			w := g.locate(g.order.at(place))
			w.step, w.pad = len(e.wants), pad
			e.wants = append(e.wants, w)
			g.coming += int64(o.Workers)
		}
		if len(e.wants) == 0 {
			return
		}
		g.sent = append(g.sent, e)
		go e.run(g.ctx)
	}
}

func (g *global) stop() {
	if g.cancel == nil {
		return
	}
	g.cancel()
	g.cancel = nil
	for _, e := range g.sent {
		<-e.done
		if e.block != nil {
			e.block.Release()
		}
	}
	if g.now != nil {
		g.now.block.Release()
		g.now = nil
	}
	g.sent = g.sent[:0]
	g.close()
}

func (g *global) next() (*Block, error) {
	for g.err == nil {
		if g.now == nil {
			if g.err = g.receive(); g.err != nil {
				break
			}
		}
		e := g.now
		if g.faults < len(e.block.faults) && e.block.faults[g.faults].before <= g.i {
			f := &e.block.faults[g.faults]
			g.faults++
			if g.err = g.bad.skip(f); g.err != nil {
				break
			}
			continue
		}
		if g.i == len(e.block.Records) {
			g.err = e.err
			e.block.Release()
			g.now, g.i, g.faults = nil, 0, 0
			continue
		}
		// A block never goes across damage, so that its elements and the steps
		// of the order go together.
		end := min(g.i+blockRecords, len(e.block.Records))
		if g.faults < len(e.block.faults) {
			end = min(end, e.block.faults[g.faults].before)
		}
		out := g.run.newBlock()
		out.adopt(e.block)
		out.Records = append(out.Records, e.block.Records[g.i:end]...)
		place := e.place + int64(g.i+g.faults)*int64(g.run.set.opts.Workers)
		out.at = out.at.push(place, g.bad.seen)
		g.i = end
		return out, nil
	}
	return nil, g.err
}

// receive waits for the next errand.
func (g *global) receive() error {
	if len(g.sent) == 0 {
		return io.EOF
	}
	e := g.sent[0]
	watch := g.stats.watch()
	<-e.done
	watch.lap()
	g.stats.queue.Add(-1)
	g.sent = append(g.sent[:0], g.sent[1:]...)
	if e.block == nil {
		return e.err
	}
	g.now = e
	g.send()
	return nil
}

// finder knows where the records of a set are.
type finder struct {
	set     *Set
	indexes []*fileIndex
	starts  []int64 // number, in the set, of the first record of each file; the total last
	mu      sync.Mutex
	open    []*os.File
}

// keptOpen is up to how many files are kept open; of larger sets, each is
// opened when it is read from.
const keptOpen = 256

// find makes the finder ready.
func (f *finder) find(ctx context.Context, set *Set) error {
	if f.set != nil {
		return nil
	}
	indexes, err := set.allIndexes(ctx)
	if err != nil {
		return err
	}
	starts := make([]int64, 1, len(indexes)+1)
	for i, x := range indexes {
		if !x.plain {
			return fmt.Errorf("%s: it can only be read from its beginning, and records in the order of numbers need any place at any time: write it uncompressed, or shuffle with a buffer", set.sources[i].Path)
		}
		starts = append(starts, starts[i]+x.records)
	}
	f.set, f.indexes, f.starts = set, indexes, starts
	f.open = make([]*os.File, len(indexes))
	return nil
}

func (f *finder) total() int64 { return f.starts[len(f.starts)-1] }

// bytes returns the size of all records, with framing.
func (f *finder) bytes() (n int64) {
	for _, x := range f.indexes {
		n += x.size
	}
	return n
}

// locate returns where record n of the set is.
func (f *finder) locate(n int64) want {
	i := sort.Search(len(f.starts), func(i int) bool { return f.starts[i] > n }) - 1
	w := want{file: int32(i), number: n - f.starts[i]}
	w.begin, w.end, w.skip = f.indexes[i].span(w.number)
	return w
}

// file opens file i. done is to be called when it is not needed any more.
func (f *finder) file(i int32) (file *os.File, done func() error, err error) {
	path := f.set.sources[i].Path
	if len(f.open) > keptOpen {
		file, err = os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		return file, file.Close, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[i] == nil {
		if f.open[i], err = os.Open(path); err != nil {
			f.open[i] = nil
			return nil, nil, err
		}
	}
	return f.open[i], func() error { return nil }, nil
}

func (f *finder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, file := range f.open {
		if file != nil {
			file.Close()
			f.open[i] = nil
		}
	}
}

// want is a record to read.
type want struct {
	step       int // of the errand
	file       int32
	pad        bool
	number     int64
	begin, end int64 // where to look
	skip       int64 // behind so many others
}

// errand reads some records, wherever they are.
type errand struct {
	global *global
	place  int64 // of the first, of all workers together
	wants  []want
	done   chan struct{} // closed when the rest is there
	block  *Block        // nil when nothing could be read
	err    error         // that comes behind the records of block
}

// Records that are no further apart than nearBytes are read together, with what
// is between them; that costs no more than another call. Up to runBytes are.
const (
	nearBytes = 8 << 10
	runBytes  = 1 << 20
)

func (e *errand) run(ctx context.Context) {
	g := e.global
	defer close(e.done)
	if !g.run.acquire(ctx) {
		e.err = ctx.Err()
		return
	}
	defer g.run.release()
	defer g.stats.queue.Add(1)
	watch := g.stats.watch()
	b := g.run.newBlock()
	b.buf = b.buf[:0]
	got := make([]found, len(e.wants))
	slices.SortFunc(e.wants, func(a, b want) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.begin, b.begin))
	})
	var scratch []byte
	for rest := e.wants; len(rest) > 0 && ctx.Err() == nil; {
		n, end := together(rest)
		scratch = e.read(b, rest[:n], end, scratch, got, &watch)
		rest = rest[n:]
	}
	if e.err = ctx.Err(); e.err == nil {
		e.err = e.collect(b, got)
	}
	e.block = b
	g.stats.gave(b)
	watch.busy()
}

// together returns how many wants are read at once, and up to where.
func together(wants []want) (n int, end int64) {
	first := wants[0]
	end = first.end
	for n = 1; n < len(wants); n++ {
		w := wants[n]
		if w.file != first.file || w.begin > end+nearBytes || max(end, w.end)-first.begin > runBytes {
			break
		}
		end = max(end, w.end)
	}
	return n, end
}

// found is what an errand has of a step.
type found struct {
	record Record
	err    error
	at     cursor
	bytes  int64
}

// read reads wants of one file, which lie in the bytes up to end.
func (e *errand) read(b *Block, wants []want, end int64, scratch []byte, got []found, watch *stopwatch) []byte {
	g := e.global
	fail := func(err error) []byte {
		for _, w := range wants {
			got[w.step] = found{err: err, record: Record{File: w.file}}
		}
		return scratch
	}
	file, done, err := g.file(wants[0].file)
	if err != nil {
		return fail(err)
	}
	defer done()
	begin := wants[0].begin
	if cap(scratch) < int(end-begin) {
		scratch = make([]byte, end-begin)
	}
	watch.busy()
	n, err := file.ReadAt(scratch[:end-begin], begin)
	watch.waited()
	if err != nil && err != io.EOF {
		return fail(&tfrecord.Error{Name: file.Name(), Record: wants[0].number, Offset: begin, Part: tfrecord.PartData, Err: err})
	}
	p := scratch[:n]
	for _, w := range wants {
		got[w.step] = e.pick(b, w, p, begin, file)
	}
	return scratch
}

// pick copies the record w out of p, which begins at offset base of its file.
func (e *errand) pick(b *Block, w want, p []byte, base int64, file *os.File) found {
	set := e.global.run.set
	limit := set.opts.limits()
	at := cursor{w.number, w.begin}
	if w.skip > 0 {
		scan := set.scan(file, file.Name(), w.end, cursor{w.number - w.skip, w.begin})
		for range w.skip {
			if err := scan.next(); err != nil {
				return found{err: err, at: at, record: Record{File: w.file}}
			}
		}
		at = scan.at
	}
	p = p[min(at.offset-base, int64(len(p))):]
	n, v := limit.frame(p)
	if v != frameGood {
		return found{
			err: explain(file, set.opts.readerOptions(file.Name()), at), at: at,
			bytes: w.end - at.offset, record: Record{File: w.file},
		}
	}
	data := p[frameHeader : n-frameFooter]
	if cap(b.buf)-len(b.buf) < len(data) {
		// Records before alias the old buffer, which lives on through them.
		b.buf = make([]byte, 0, max(len(data), minRoom))
	}
	from := len(b.buf)
	b.buf = append(b.buf, data...)
	return found{record: Record{
		Data: b.buf[from:len(b.buf):len(b.buf)], Offset: at.offset, Number: w.number,
		File: w.file, Epoch: e.global.epoch, Pad: w.pad,
	}}
}

// minRoom is the least memory that is taken for records.
const minRoom = 256 << 10

// collect puts what was found into b, in the order of the steps, up to the
// first error.
func (e *errand) collect(b *Block, got []found) error {
	tolerant := e.global.run.set.opts.SkipBad.asked()
	for i := range got {
		f := &got[i]
		if f.err == nil {
			b.Records = append(b.Records, f.record)
			continue
		}
		if !tolerant || !inData(f.err) {
			return f.err
		}
		b.faults = append(b.faults, fault{
			file: f.record.File, before: len(b.Records), number: f.at.number, offset: f.at.offset, bytes: f.bytes, err: f.err,
		})
	}
	return nil
}
