package reader

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// readRequest is a record to read.
type readRequest struct {
	step       int // of the batch read
	file       int32
	pad        bool
	number     int64
	begin, end int64 // where to look
	skip       int64 // after this many records
}

// batchRead reads a set of records, wherever they are.
type batchRead struct {
	global *global
	place  int64 // of the first, of all workers together
	wants  []readRequest
	done   chan struct{} // closed when the fields below are set
	block  *Block        // nil if nothing could be read
	err    error         // after the records of block

	got     []found // by step
	scratch []byte
	needed  atomic.Bool // the consumer is waiting for it
	slow    bool        // the last read took long
}

// slowRead is the duration from which a read yields its token to others.
const slowRead = 100 * time.Microsecond

// Records no further apart than nearBytes are read together with the bytes between them, which
// costs no more than another call; up to runBytes at once. For object stores, whose requests cost
// more, see batch_read_store.go.
const (
	nearBytes = 8 << 10
	runBytes  = 1 << 20
)

func (e *batchRead) run(ctx context.Context) {
	g := e.global
	defer close(e.done)
	defer g.stats.queue.Add(1)
	slices.SortFunc(e.wants, func(a, b readRequest) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.begin, b.begin))
	})
	watch := g.stats.watch()
	b := e.reserve(ctx)
	if b == nil {
		e.err = ctx.Err()
		return
	}
	e.got = slices.Grow(e.got[:0], len(e.wants))[:len(e.wants)]
	clear(e.got)
	if g.stored {
		e.readStored(ctx, b)
	} else {
		if !g.readers.enter(ctx) {
			b.Release()
			e.err = ctx.Err()
			return
		}
		defer g.readers.leave()
	}
	if !g.run.acquire(ctx) {
		b.Release()
		e.err = ctx.Err()
		return
	}
	defer g.run.release()
	watch.blocked()
	if !g.stored {
		e.readFiles(ctx, b, &watch)
	}
	if e.err = ctx.Err(); e.err == nil {
		e.err = e.collect(b)
	}
	clear(e.got)
	if n := int64(cap(e.scratch)); n > minRoom {
		g.run.budget.add(-n, 0)
		e.scratch = nil
	}
	e.block = b
	g.stats.gave(b)
	watch.busy()
}

// readFiles reads all requests, one stretch after another.
func (e *batchRead) readFiles(ctx context.Context, b *Block, watch *stopwatch) {
	for rest := e.wants; len(rest) > 0 && ctx.Err() == nil; {
		n, end := e.global.together(rest)
		e.read(ctx, b, rest[:n], end, watch)
		rest = rest[n:]
	}
}

// reserve waits for the memory that the batch read needs: a block for its records, and what is read
// around them. It returns nil when ctx has ended.
func (e *batchRead) reserve(ctx context.Context) *Block {
	records := minRoom + recordSize*int64(len(e.wants))
	var around int64
	for rest := e.wants; len(rest) > 0; {
		n, end := e.global.together(rest)
		around = max(around, end-rest[0].begin)
		for _, w := range rest[:n] {
			records += w.end - w.begin
		}
		rest = rest[n:]
	}
	run := e.global.run
	have := int64(cap(e.scratch))
	around = max(e.global.lanes(around)*around, minRoom, have)
	if !run.budget.read(ctx, records+around-have, e.needed.Load) {
		return nil
	}
	run.budget.add(0, have-around) // the batch read keeps this part
	if have < around {
		e.scratch = make([]byte, around)
	}
	b := run.buffer(true, records)
	b.buf = b.buf[:0]
	b.charge(max(records-b.charged, 0))
	return b
}

// together returns how many requests are read at once, and the end of their byte range.
func (g *global) together(wants []readRequest) (n int, end int64) {
	near, most := int64(nearBytes), int64(runBytes)
	if g.stored {
		near, most = nearStored, g.mostStored()
	}
	first := wants[0]
	end = first.end
	for n = 1; n < len(wants); n++ {
		w := wants[n]
		if w.file != first.file || w.begin > end+near || max(end, w.end)-first.begin > most {
			break
		}
		end = max(end, w.end)
	}
	return n, end
}

// found is the result of a batch read for one step.
type found struct {
	record Record
	err    error
	at     cursor
	bytes  int64
}

// read reads requests of one file, whose records are in the bytes up to end.
func (e *batchRead) read(ctx context.Context, b *Block, wants []readRequest, end int64, watch *stopwatch) {
	fail := func(err error) {
		for _, w := range wants {
			e.got[w.step] = found{err: err, record: Record{File: w.file}}
		}
	}
	file, done, err := e.global.file(ctx, wants[0].file)
	if err != nil {
		fail(err)
		return
	}
	defer done()
	begin := wants[0].begin
	watch.busy()
	slow := e.slow
	if slow {
		e.global.run.release()
	}
	n, err := file.ReadAt(e.scratch[:end-begin], begin)
	e.slow = watch.waited() > slowRead
	if slow {
		e.global.run.tokens <- struct{}{} // another goroutine will return it
		watch.blocked()
	}
	if err != nil && err != io.EOF {
		fail(&tfrecord.Error{Name: file.Name(), Record: wants[0].number, Offset: begin, Part: tfrecord.PartData, Err: err})
		return
	}
	for _, w := range wants {
		e.got[w.step] = e.pick(b, w, e.scratch[:n], begin, file)
	}
}

// pick copies record w out of p, which begins at offset base of its file.
func (e *batchRead) pick(b *Block, w readRequest, p []byte, base int64, file storage.File) found {
	set := e.global.run.set
	at := cursor{w.number, w.begin}
	if w.skip > 0 {
		var in io.ReaderAt = file
		if e.global.stored && !set.opts.SkipBad.asked() {
			in = inWindow{p, base} // it costs no request
		}
		scan := set.scan(in, file.Name(), w.end, cursor{w.number - w.skip, w.begin})
		for range w.skip {
			if err := scan.next(); err != nil {
				return found{err: err, at: at, record: Record{File: w.file}}
			}
		}
		at = scan.at
	}
	p = p[min(at.offset-base, int64(len(p))):]
	n, v := set.opts.framing().Check(p)
	if v != tfrecord.FrameWhole {
		return found{
			err: explain(file, set.opts.readerOptions(file.Name()), at), at: at,
			bytes: w.end - at.offset, record: Record{File: w.file},
		}
	}
	data := p[tfrecord.HeaderSize : n-tfrecord.FooterSize]
	if cap(b.buf)-len(b.buf) < len(data) {
		// Records so far alias the old buffer, which they keep alive.
		b.buf = make([]byte, 0, max(len(data), int(minRoom)))
	}
	from := len(b.buf)
	b.buf = append(b.buf, data...)
	return found{record: Record{
		Data: b.buf[from:len(b.buf):len(b.buf)], Offset: at.offset, Number: w.number,
		File: w.file, Epoch: e.global.epoch, Pad: w.pad,
	}}
}

// minRoom is the least memory allocated for records.
const minRoom int64 = 256 << 10

// collect puts the records found into b, in step order, up to the first error.
func (e *batchRead) collect(b *Block) error {
	tolerant := e.global.run.set.opts.SkipBad.asked()
	for i := range e.got {
		f := &e.got[i]
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
