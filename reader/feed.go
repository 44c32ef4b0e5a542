package reader

import (
	"context"
	"errors"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// blockSource gives the blocks of a stretch of a file.
type blockSource interface {
	// read returns the next block, io.EOF behind the last one.
	read(*stopwatch) (*Block, error)
	// stands returns the place behind what was read.
	stands() cursor
	// Close closes the file.
	Close() error
}

// feedDepth is how many blocks of a file may wait; one more is being read.
const feedDepth = 1

// feed reads a piece ahead, in a goroutine of its own.
type feed struct {
	piece  piece
	blocks chan *Block // closed at the end
	err    error       // why it ended, for who sees blocks closed
	onTurn atomic.Bool // its blocks are taken as they come, and not only later

	// Of the blocks, by number: the one that is made, the one that is taken next,
	// and the one behind the last that somebody waits for or did. With numbers a
	// wait never lasts to the block behind the one that it was for.
	making, taking int64
	wanted         atomic.Int64
}

// feeder starts feeds and ends them together.
type feeder struct {
	run   *run
	stats *stageStats
	chunk int           // bytes to read at a time, of ordinary records
	most  int           // of large ones
	ready chan struct{} // not nil: gets a token when any feed has something

	readers *gate
	anyOne  atomic.Bool  // somebody waits for a block of any feed on turn
	largest atomic.Int64 // record of the compressed files so far, in bytes

	ctx    context.Context
	cancel context.CancelFunc
	live   map[*feed]chan struct{} // closed when the goroutine has ended
}

// begin makes the feeder ready for an epoch.
func (f *feeder) begin(ctx context.Context) {
	f.ctx, f.cancel = context.WithCancel(ctx)
	f.live = make(map[*feed]chan struct{})
}

// waitFor says that somebody is going to wait for the next block of d, or for one
// of any feed on turn when d is nil.
func (f *feeder) waitFor(d *feed) {
	if d == nil {
		f.anyOne.Store(true)
	} else {
		d.wanted.Store(d.taking + 1)
	}
	f.run.budget.wake()
}

// needed reports whether somebody waits for the block that d makes. One that
// waits for any feed's waits for that of the first feed to ask.
func (f *feeder) needed(d *feed) bool {
	if d.onTurn.Load() && f.anyOne.CompareAndSwap(true, false) {
		d.wanted.Store(d.making + 1)
	}
	return d.wanted.Load() > d.making
}

// start reads p from a place in it on.
func (f *feeder) start(p piece, from cursor, epoch int32) *feed {
	p.from = from
	d := &feed{piece: p, blocks: make(chan *Block, feedDepth)}
	done := make(chan struct{})
	f.live[d] = done
	go func() {
		defer close(done)
		d.err = f.read(d, epoch)
		if ended := f.ctx.Err(); ended != nil {
			d.err = ended // whatever was broken off for it, or looks like an end
		}
		close(d.blocks) // before the call to look: who finds it open sleeps again
		f.wake()
	}()
	return d
}

// ended forgets a feed whose blocks are closed.
func (f *feeder) ended(d *feed) { delete(f.live, d) }

// stop ends all feeds, and waits for them.
func (f *feeder) stop() {
	if f.cancel == nil {
		return
	}
	f.cancel()
	for d, done := range f.live {
		<-done
		for b := range d.blocks {
			f.stats.queue.Add(-1)
			b.Release()
		}
	}
	f.live, f.cancel = nil, nil
}

func (f *feeder) wake() {
	if f.ready != nil {
		select {
		case f.ready <- struct{}{}:
		default:
		}
	}
}

// read sends the blocks of d's piece.
func (f *feeder) read(d *feed, epoch int32) error {
	watch := f.stats.watch()
	if !f.readers.enter(f.ctx) {
		return f.ctx.Err()
	}
	watch.blocked()
	in := &blockAllocator{ctx: f.ctx, run: f.run, readers: f.readers, needed: func() bool { return f.needed(d) }}
	source, file, err := f.open(d.piece, in)
	f.readers.leave()
	watch.waited()
	if err != nil {
		return err
	}
	defer source.Close()
	ended := false
	for {
		b, err := source.read(&watch)
		if err == io.EOF {
			b, err = f.finish(d, source, &ended)
		}
		if err != nil {
			if changed := f.run.set.unchanged(int(d.piece.file), file); changed != nil {
				return changed // which explains whatever was found
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
		for i := range b.Records {
			r := &b.Records[i]
			r.File, r.Epoch, r.Pad = d.piece.file, epoch, d.piece.pad
		}
		for i := range b.faults {
			b.faults[i].file = d.piece.file
		}
		b.settle()
		f.stats.gave(b)
		d.making++
		watch.busy()
		select {
		case d.blocks <- b:
			f.stats.queue.Add(1)
			f.wake()
		case <-f.ctx.Done():
			b.Release()
			return f.ctx.Err()
		}
		watch.blocked()
	}
}

// finish looks whether all of d's piece came, whose source has ended. What is
// missing is an error or, where it may be passed over, a block that says so; else
// it is io.EOF.
func (f *feeder) finish(d *feed, source blockSource, ended *bool) (*Block, error) {
	_, plain := source.(*plainFile)
	at := source.stands()
	short := f.run.set.missingRecords(f.ctx, d.piece, at, plain)
	switch {
	case short == nil || *ended:
		return nil, io.EOF
	case !f.run.set.opts.SkipBad.asked():
		return nil, short.err
	}
	*ended = true
	b := f.run.newBlock()
	b.faults = append(b.faults, *short)
	b.end = cursor{short.number + short.records, at.offset}
	return b, nil
}

// open opens a piece's file at the piece's beginning.
func (fd *feeder) open(p piece, in *blockAllocator) (blockSource, storage.File, error) {
	r := fd.run
	path := r.set.sources[p.file].Path
	o := r.set.opts.readerOptions(path)
	f, err := r.set.openFile(fd.ctx, int(p.file))
	if err != nil {
		return nil, nil, err
	}
	plain, size, err := isPlain(f, o)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	if plain {
		chunk := int(min(int64(fd.chunk), max(size, minChunk)))
		source := &plainFile{
			run: r, in: in, file: f, name: path, framing: r.set.opts.framing(), chunk: chunk, most: fd.most, at: p.from, end: p.end,
		}
		return source, f, nil
	}
	pipe := !r.set.regular(int(p.file))
	from := &yieldingReader{Reader: f, run: r, pipe: pipe, slow: pipe}
	source := &streamFile{
		run: r, in: r.set.records(int(p.file), f, from, o), from: from, file: f, blocks: in, largest: &fd.largest, chunk: fd.chunk, piece: p, at: p.from,
	}
	// A pipe may keep a read waiting for ever.
	source.unwatch = context.AfterFunc(fd.ctx, func() { f.SetReadDeadline(time.Unix(1, 0)) })
	if err := source.skipTo(fd.ctx); err != nil {
		source.Close()
		return nil, nil, err
	}
	from.took = 0 // to open the file is a wait in any case
	return source, f, nil
}

// yieldingReader reads a file in the middle of work, as a decompressor does, and
// lets others work while a read takes long: any of a pipe, and one that follows
// a slow one.
type yieldingReader struct {
	io.Reader
	run     *run
	pipe    bool
	working bool          // whoever reads has a token
	slow    bool          // the next read may take long
	took    time.Duration // reads, in all
}

func (p *yieldingReader) Read(b []byte) (int, error) {
	began := time.Now()
	rests := p.slow && p.working
	if rests {
		p.run.release()
	}
	n, err := p.Reader.Read(b)
	read := time.Since(began)
	if rests {
		p.run.tokens <- struct{}{} // there are others to give it back
	}
	p.took += time.Since(began)
	p.slow = p.pipe || read > slowRead
	return n, err
}

// isPlain reports whether a file can be read from any place on: it is a regular
// file and not compressed. What is neither framed nor compressed counts as
// plain, as in package tfrecord.
func isPlain(f storage.File, o tfrecord.ReaderOptions) (plain bool, size int64, err error) {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return false, 0, err
	}
	if o.Compression != tfrecord.Auto {
		return o.Compression == tfrecord.None, st.Size(), nil
	}
	var header [tfrecord.HeaderSize]byte
	n, err := f.ReadAt(header[:], 0)
	if err != nil && err != io.EOF {
		return false, 0, err
	}
	anyLength := tfrecord.Framing{Checksum: tfrecord.ChecksumLength, MaxRecord: math.MaxInt64}
	if _, v := anyLength.Check(header[:n]); n == 0 || n == len(header) && v != tfrecord.FrameBroken {
		return true, st.Size(), nil
	}
	o.BufferSize = minChunk // for a look at the first record
	r := tfrecord.NewReader(io.NewSectionReader(f, 0, 1<<62), o)
	defer r.Close()
	_, err = r.Next()
	if located := new(tfrecord.Error); errors.As(err, &located) && !inData(err) {
		return false, 0, err
	}
	return r.Compression() == tfrecord.None, st.Size(), nil
}

// isDataCRC reports whether err is about the data of one record, behind which
// a tfrecord.Reader goes on.
func isDataCRC(err error) bool {
	var located *tfrecord.Error
	return errors.As(err, &located) && located.Part == tfrecord.PartDataCRC && errors.Is(err, tfrecord.ErrChecksum)
}

// minChunk is the least that is read at a time. maxChunk is the most for
// ordinary records, what stays in a core's cache from reading to checking, and
// largeChunk for large ones.
const (
	minChunk   = 16 << 10
	maxChunk   = 256 << 10
	largeChunk = 1 << 20
)
