package records

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// batchRead reads a set of records, wherever they are.
type batchRead struct {
	global *Global
	place  int64                 // of the first, of all workers together
	steps  []fileset.OrderStep   // in the order of the records
	whole  int                   // steps from this one on are repeats, to make the parts even
	wants  []fileset.ReadRequest // of the steps, in file order
	done   chan struct{}         // closed when the fields below are set
	block  *pipeline.Block       // nil if nothing could be read
	err    error                 // after the records of block

	failed  []stepFault
	scratch []byte
	file    storage.File // that pick reads; nil if nothing is fetched again
	needed  atomic.Bool  // the consumer is waiting for it
	slow    bool         // the last read took long
}

// slowRead is the duration from which a read yields its token to others.
const slowRead = 100 * time.Microsecond

// Records no further apart than nearBytes are read together with the bytes between them, which
// costs no more than another call; up to runBytes at once. For object stores, whose requests cost
// more, see batch_read_store.go.
const (
	nearBytes = 8 << 10
	runBytes  = 256 << 10
)

func (e *batchRead) run(ctx context.Context) {
	g := e.global
	defer close(e.done)
	pipeline.LabelGoroutine(ctx, g.stats.Name)
	defer g.stats.Region(ctx).End()
	defer g.stats.Queue.Add(1)
	slices.Sort(e.steps)
	e.wants = g.LocateAll(e.wants[:0], e.steps)
	watch := g.stats.Watch()
	b := e.reserve(ctx)
	if b == nil {
		e.err = ctx.Err()
		return
	}
	b.Records = slices.Grow(b.Records, len(e.wants))[:len(e.wants)]
	var failed []blockRun
	switch {
	case g.Kept != nil:
		failed = g.Kept.fill(ctx, e)
	case g.stored:
		e.readStored(ctx, b)
	default:
		if !g.readers.Enter(ctx) {
			b.Release()
			e.err = ctx.Err()
			return
		}
		defer g.readers.Leave()
	}
	if !g.run.Acquire(ctx) {
		b.Release()
		e.err = ctx.Err()
		return
	}
	defer g.run.Release()
	watch.Blocked()
	switch {
	case ctx.Err() != nil:
	case g.Kept != nil:
		e.readResident(ctx, b, failed)
	case !g.stored:
		e.readFiles(ctx, b, &watch)
	}
	if e.err = ctx.Err(); e.err != nil {
		b.Records = b.Records[:0] // some were not read
	} else {
		e.err = e.collect(b)
	}
	clear(e.failed)
	e.failed = e.failed[:0]
	if n := int64(cap(e.scratch)); n > minRoom {
		g.run.Budget.Add(-n, 0)
		e.scratch = nil
	}
	e.block = b
	g.stats.Gave(b)
	watch.Busy()
}

// readFiles reads all requests, one stretch after another.
func (e *batchRead) readFiles(ctx context.Context, b *pipeline.Block, watch *pipeline.Stopwatch) {
	for rest := e.wants; len(rest) > 0 && ctx.Err() == nil; {
		n, end := e.global.together(rest)
		e.read(ctx, b, rest[:n], end, watch)
		rest = rest[n:]
	}
}

// reserve waits for the memory that the batch read needs: a block for its records, and the bytes
// read around them. It returns nil when ctx has ended.
func (e *batchRead) reserve(ctx context.Context) *pipeline.Block {
	var data, around int64
	for rest := e.wants; len(rest) > 0; {
		n, end := e.global.together(rest)
		around = max(around, end-rest[0].Begin)
		for _, w := range rest[:n] {
			data += w.End - w.Begin
		}
		rest = rest[n:]
	}
	run := e.global.run
	records := minRoom + e.global.overhead()*int64(len(e.wants)) + data
	have := int64(cap(e.scratch))
	if e.global.Kept != nil {
		around = have // there is nothing between them to read
	} else {
		around = max(e.global.lanes(around)*around, minRoom, have)
	}
	if !run.Budget.Read(ctx, records+around-have, e.needed.Load) {
		return nil
	}
	run.Budget.Add(0, have-around) // the batch read keeps this part
	if have < around {
		e.scratch = make([]byte, around)
	}
	b := run.Buffer(true, records)
	// Of a large set the index tells only where to look, in up to several times as many bytes.
	if room := min(data, max(maxErrand, e.global.share())); int64(cap(b.Buf)) < room {
		b.Buf = make([]byte, room)
	}
	b.Buf = b.Buf[:0]
	b.Charge(max(records-b.Charged, 0))
	return b
}

// overhead is the memory that a record takes in a batch read, without its data.
func (g *Global) overhead() int64 {
	if g.dense {
		return pipeline.RecordSize + RequestSize
	}
	return pipeline.RecordSize
}

// RequestSize is the size of a ReadRequest and its OrderStep: in small batch reads, nothing.
const RequestSize = 56

// together returns how many requests are read at once, and the end of their byte range.
func (g *Global) together(wants []fileset.ReadRequest) (n int, end int64) {
	near, most := int64(nearBytes), int64(runBytes)
	if g.stored {
		near, most = nearStored, g.mostStored()
	}
	first := wants[0]
	end = first.End
	for n = 1; n < len(wants); n++ {
		w := wants[n]
		if w.File != first.File || w.Begin > end+near || max(end, w.End)-first.Begin > most {
			break
		}
		end = max(end, w.End)
	}
	return n, end
}

// stepFault is a step whose record could not be read.
type stepFault struct {
	step int
	pipeline.Fault
}

func (e *batchRead) fail(step int, f pipeline.Fault) { e.failed = append(e.failed, stepFault{step, f}) }

// failAll records that none of the requests could be read.
func (e *batchRead) failAll(wants []fileset.ReadRequest, err error) {
	for _, w := range wants {
		e.fail(w.Step, pipeline.Fault{File: w.File, Err: err})
	}
}

// read reads requests of one file, whose records are in the bytes up to end.
func (e *batchRead) read(ctx context.Context, b *pipeline.Block, wants []fileset.ReadRequest, end int64, watch *pipeline.Stopwatch) {
	file, done, err := e.global.File(ctx, wants[0].File)
	if err != nil {
		e.failAll(wants, err)
		return
	}
	defer done()
	begin := wants[0].Begin
	watch.Busy()
	slow := e.slow
	if slow {
		e.global.run.Release()
	}
	n, err := file.ReadAt(e.scratch[:end-begin], begin)
	e.slow = watch.Waited() > slowRead
	if slow {
		e.global.run.Tokens <- struct{}{} // another goroutine will return it
		watch.Blocked()
	}
	if err != nil && err != io.EOF {
		e.failAll(wants, &tfrecord.Error{Name: file.Name(), Record: wants[0].Number, Offset: begin, Part: tfrecord.PartData, Err: err})
		return
	}
	for i := range wants {
		e.pick(b, &wants[i], e.scratch[:n], begin, file)
	}
}

// Refetch fetches again what recheck found to be damaged.
func (e *batchRead) Refetch(p []byte, off int64, good func([]byte) bool) (bool, error) {
	changed, err := storage.Refetch(e.file, p, off, good)
	e.global.run.LogRefetched(e.file, off, len(p), changed, err)
	return changed, err
}

// pick copies record w out of p, which begins at offset base of its file.
func (e *batchRead) pick(b *pipeline.Block, w *fileset.ReadRequest, p []byte, base int64, file storage.File) {
	set := e.global.set
	from := file // nil: p is not to be changed
	if e.global.Kept != nil {
		from = nil
	}
	at := pipeline.Cursor{Number: w.Number, Offset: w.Begin}
	if w.Skip > 0 {
		var in io.ReaderAt = file
		if e.global.stored && !pipeline.MaySkip(set.Opts.SkipBad) {
			in = inWindow{p, base, from, e.global.run} // it costs no request
		}
		scan := set.Scan(in, file.Name(), w.End, pipeline.Cursor{Number: w.Number - w.Skip, Offset: w.Begin})
		for range w.Skip {
			if err := scan.Next(); err != nil {
				e.fail(w.Step, pipeline.Fault{File: w.File, Number: at.Number, Offset: at.Offset, Err: err})
				return
			}
		}
		at = scan.At
	}
	p = p[min(at.Offset-base, int64(len(p))):]
	e.file = from
	n, v, err := recheck.Frame(pipeline.Framing(&set.Opts), e, p, at.Offset)
	if err != nil {
		e.fail(w.Step, pipeline.Fault{File: w.File, Err: e.global.unreadable(w, err)})
		return
	}
	if v != tfrecord.FrameWhole {
		e.fail(w.Step, pipeline.Fault{
			File: w.File, Number: at.Number, Offset: at.Offset, Bytes: w.End - at.Offset,
			Err: fileset.Explain(file, pipeline.ReaderOptions(&set.Opts, file.Name()), at),
		})
		return
	}
	data := p[tfrecord.HeaderSize : n-tfrecord.FooterSize]
	if cap(b.Buf)-len(b.Buf) < len(data) {
		// Records so far alias the old buffer, which they keep alive.
		b.Buf = make([]byte, 0, max(len(data), int(minRoom)))
	}
	begin := len(b.Buf)
	b.Buf = append(b.Buf, data...)
	b.Records[w.Step] = pipeline.Record{
		Data: b.Buf[begin:len(b.Buf):len(b.Buf)], Offset: at.Offset, Number: w.Number,
		File: w.File, Epoch: e.global.epoch, Pad: w.Step >= e.whole,
	}
}

// minRoom is the least memory allocated for records.
const minRoom int64 = 256 << 10

// collect removes the steps that failed from the records of b, which end before the first error.
func (e *batchRead) collect(b *pipeline.Block) error {
	if len(e.failed) == 0 {
		return nil
	}
	slices.SortFunc(e.failed, func(x, y stepFault) int { return cmp.Compare(x.step, y.step) })
	tolerant := pipeline.MaySkip(e.global.run.Opts.SkipBad)
	all, from := b.Records, 0
	b.Records = all[:0]
	for _, f := range e.failed {
		b.Records = append(b.Records, all[from:f.step]...)
		if !tolerant || !fileset.InData(f.Err) {
			return f.Err
		}
		f.Before = len(b.Records)
		b.Faults = append(b.Faults, f.Fault)
		from = f.step + 1
	}
	b.Records = append(b.Records, all[from:]...)
	return nil
}
