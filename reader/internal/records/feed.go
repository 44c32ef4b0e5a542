package records

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// blockSource reads the blocks of a stretch of a file.
type blockSource interface {
	// Read returns the next block, io.EOF after the last one.
	Read(*pipeline.Stopwatch) (*pipeline.Block, error)
	// stands returns the position after the last record or damage read.
	stands() pipeline.Cursor
	// Close closes the file.
	Close() error
}

// feedDepth is the number of blocks of a file that may be queued; one more is being read.
const feedDepth = 1

// feed reads a piece ahead, in its own goroutine.
type feed struct {
	piece  fileset.Piece
	blocks chan *pipeline.Block // closed at the end
	err    error                // why it ended; read after blocks is closed
	onTurn atomic.Bool          // its blocks are consumed now, not only later

	// Block numbers: the one being made, the next one to take, and the end of those that the
	// consumer waits for or waited for. With numbers a wait never extends to the block after the
	// one it was for.
	making, taking int64
	wanted         atomic.Int64
}

// feeder starts feeds and stops them together.
type feeder struct {
	run   *pipeline.Run
	set   *fileset.Set // with the options of the run
	stats *pipeline.Counters
	chunk int           // bytes to read at a time, of ordinary records
	most  int           // of large ones
	ready chan struct{} // if not nil, gets a token when any feed has a block

	readers *pipeline.Gate
	anyOne  atomic.Bool  // the consumer waits for a block of any feed on turn
	largest atomic.Int64 // largest record of the compressed files so far, in bytes

	ctx    context.Context
	cancel context.CancelFunc
	live   map[*feed]chan struct{} // closed when the goroutine has ended
}

// begin prepares the feeder for an epoch.
func (f *feeder) begin(ctx context.Context) {
	f.ctx, f.cancel = context.WithCancel(ctx)
	f.live = make(map[*feed]chan struct{})
}

// waitFor records that the consumer is about to wait for the next block of d, or of any feed on
// turn if d is nil.
func (f *feeder) waitFor(d *feed) {
	if d == nil {
		f.anyOne.Store(true)
	} else {
		d.wanted.Store(d.taking + 1)
	}
	f.run.Budget.Wake()
}

// needed reports whether the consumer waits for the block that d makes. The first feed that calls
// it takes a wait for any feed.
func (f *feeder) needed(d *feed) bool {
	if d.onTurn.Load() && f.anyOne.CompareAndSwap(true, false) {
		d.wanted.Store(d.making + 1)
	}
	return d.wanted.Load() > d.making
}

// start reads p from a position in it.
func (f *feeder) start(p fileset.Piece, from pipeline.Cursor, epoch int32) *feed {
	p.From = from
	d := &feed{piece: p, blocks: make(chan *pipeline.Block, feedDepth)}
	done := make(chan struct{})
	f.live[d] = done
	go func() {
		defer close(done)
		pipeline.LabelGoroutine(f.ctx, f.stats.Name)
		d.err = f.read(d, epoch)
		if ended := f.ctx.Err(); ended != nil {
			d.err = ended // overrides any error caused by it
		}
		close(d.blocks) // before the call to look, so that the consumer does not go back to sleep
		f.wake()
	}()
	return d
}

// ended forgets a feed whose blocks are closed.
func (f *feeder) ended(d *feed) { delete(f.live, d) }

// stop ends all feeds and waits for them.
func (f *feeder) stop() {
	if f.cancel == nil {
		return
	}
	f.cancel()
	for d, done := range f.live {
		<-done
		for b := range d.blocks {
			f.stats.Queue.Add(-1)
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
	watch := f.stats.Watch()
	if !f.readers.Enter(f.ctx) {
		return f.ctx.Err()
	}
	watch.Blocked()
	in := &blockAllocator{ctx: f.ctx, run: f.run, readers: f.readers, needed: func() bool { return f.needed(d) }}
	source, file, err := f.open(d.piece, in)
	f.readers.Leave()
	watch.Waited()
	if err != nil {
		return err
	}
	defer source.Close()
	ended := false
	for {
		region := f.stats.Region(f.ctx)
		b, err := source.Read(&watch)
		region.End()
		if err == io.EOF {
			b, err = f.finish(d, source, &ended)
		}
		if err != nil {
			if changed := f.set.Unchanged(int(d.piece.File), file); changed != nil {
				return changed // which explains any other error
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
		for i := range b.Records {
			r := &b.Records[i]
			r.File, r.Epoch, r.Pad = d.piece.File, epoch, d.piece.Pad
		}
		for i := range b.Faults {
			b.Faults[i].File = d.piece.File
		}
		b.Settle()
		f.stats.Gave(b)
		d.making++
		watch.Busy()
		select {
		case d.blocks <- b:
			f.stats.Queue.Add(1)
			f.wake()
		case <-f.ctx.Done():
			b.Release()
			return f.ctx.Err()
		}
		watch.Blocked()
	}
}

// finish checks that all of d's piece was read when its source ends. Missing records are an error
// or, if they may be skipped, a block that reports them; otherwise it returns io.EOF.
func (f *feeder) finish(d *feed, source blockSource, ended *bool) (*pipeline.Block, error) {
	_, plain := source.(*plainFile)
	at := source.stands()
	short := f.set.MissingRecords(f.ctx, d.piece, at, plain)
	switch {
	case short == nil || *ended:
		return nil, io.EOF
	case !pipeline.MaySkip(f.run.Opts.SkipBad):
		return nil, short.Err
	}
	*ended = true
	b := f.run.NewBlock()
	b.Faults = append(b.Faults, *short)
	b.End = pipeline.Cursor{Number: short.Number + short.Records, Offset: at.Offset}
	return b, nil
}

// open opens a piece's file at the start of the piece.
func (fd *feeder) open(p fileset.Piece, in *blockAllocator) (blockSource, storage.File, error) {
	r := fd.run
	path := fd.set.Sources()[p.File].Path
	o := pipeline.ReaderOptions(&r.Opts, path)
	f, err := fd.set.OpenFile(fd.ctx, int(p.File))
	if err != nil {
		return nil, nil, err
	}
	plain, size, err := fileset.IsPlain(f, o)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	if plain {
		chunk := int(min(int64(fd.chunk), max(size, minChunk)))
		source := &plainFile{
			run: r, in: in, file: f, name: path, framing: pipeline.Framing(&r.Opts), chunk: chunk, most: fd.most, at: p.From, end: p.End,
		}
		source.lender, _ = f.(storage.Lender)
		return source, f, nil
	}
	pipe := !fd.set.Regular(int(p.File))
	from := &yieldingReader{Reader: f, run: r, pipe: pipe, slow: pipe}
	source := &streamFile{
		run: r, set: fd.set, in: fd.set.Records(int(p.File), f, from, o), from: from, file: f, blocks: in, largest: &fd.largest, chunk: fd.chunk, piece: p, at: p.From,
	}
	// A read from a pipe may block forever.
	source.unwatch = context.AfterFunc(fd.ctx, func() { f.SetReadDeadline(time.Unix(1, 0)) })
	if err := source.skipTo(fd.ctx); err != nil {
		source.Close()
		return nil, nil, err
	}
	from.took = 0 // opening the file is a wait in any case
	return source, f, nil
}

// yieldingReader reads a file on behalf of a decompressor, and yields its token while a read takes
// long: always for a pipe, and otherwise after a slow read.
type yieldingReader struct {
	io.Reader
	run     *pipeline.Run
	pipe    bool
	working bool          // the reading goroutine holds a token
	slow    bool          // the next read may take long
	took    time.Duration // total time of reads
}

// Refetch fetches again what tfrecord found to be damaged.
func (p *yieldingReader) Refetch(b []byte, off int64, good func([]byte) bool) (bool, error) {
	changed, err := storage.Refetch(p.Reader, b, off, good)
	p.run.LogRefetched(p.Reader, off, len(b), changed, err)
	return changed, err
}

// Reread reads a compressed file again that tfrecord found to be damaged.
func (p *yieldingReader) Reread(failed error, read func() error) error {
	err := storage.RereadFile(p.Reader, failed, read)
	p.run.LogRefetched(p.Reader, 0, 0, err != failed, err)
	return err
}

func (p *yieldingReader) Read(b []byte) (int, error) {
	began := time.Now()
	rests := p.slow && p.working
	if rests {
		p.run.Release()
	}
	n, err := p.Reader.Read(b)
	read := time.Since(began)
	if rests {
		p.run.Tokens <- struct{}{} // another goroutine will return it
	}
	p.took += time.Since(began)
	p.slow = p.pipe || read > slowRead
	return n, err
}

// minChunk is the minimum read size. maxChunk is the maximum for ordinary records, so that the data
// stay in a core's cache between reading and checking, and largeChunk that for large ones.
const (
	minChunk   = 16 << 10
	maxChunk   = 256 << 10
	largeChunk = 1 << 20
)
