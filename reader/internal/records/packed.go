package records

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// streamFile reads records from the beginning of a sequential file: a compressed one, or a pipe.
// Records are copied into blocks, which costs little compared with decompression.
type streamFile struct {
	run     *pipeline.Run
	set     *fileset.Set
	in      *fileset.CompressedRecords
	from    *yieldingReader // what in reads,
	file    storage.File    // from here
	unwatch func() bool
	blocks  *blockAllocator
	largest *atomic.Int64 // largest record of all files so far
	held    int64         // accounted bytes of in's own buffer
	chunk   int
	piece   fileset.Piece
	at      pipeline.Cursor
	pending []byte // of in: the record at `at`, for which the last block had no room
	loaded  bool
	failed  error
}

// skipTo skips the records before p.at.number.
func (p *streamFile) skipTo(ctx context.Context) error {
	for n := 0; p.in.Number < p.at.Number; n++ {
		if n%pipeline.BlockRecords == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		_, _, err := p.in.Next()
		if err == nil {
			continue
		}
		var damage *tfrecord.Damage
		switch {
		case errors.As(err, &damage):
		case err == io.EOF:
			return nil
		case p.lost(err):
			if p.at.Number == p.in.Number || p.at.Number >= p.set.Wanted(ctx, p.piece, p.at, false).Records {
				p.failed = io.EOF // as reported when it was read up to here
			}
			return nil // or will be reported when it is read from here
		default:
			return err
		}
	}
	return nil
}

// Raise sets v to at least n.
func Raise(v *atomic.Int64, n int64) {
	for {
		if old := v.Load(); n <= old || v.CompareAndSwap(old, n) {
			return
		}
	}
}

// lost reports whether the rest of the file is lost and may be skipped.
func (p *streamFile) lost(err error) bool {
	return err != io.EOF && pipeline.MaySkip(p.run.Opts.SkipBad) && fileset.InData(err)
}

// Close closes the file.
func (p *streamFile) Close() error {
	p.unwatch()
	p.forget()
	return errors.Join(p.in.Close(), p.file.Close())
}

func (p *streamFile) stands() pipeline.Cursor { return p.at }

func (p *streamFile) Read(watch *pipeline.Stopwatch) (*pipeline.Block, error) {
	b, err := p.blocks.block(p.chunk)
	if err != nil {
		return nil, err
	}
	b.Buf = b.Buf[:0]
	for more := true; more; {
		if err := p.makeRoom(b); err != nil {
			b.Release()
			return nil, err
		}
		if !p.run.Acquire(p.blocks.ctx) {
			b.Release()
			return nil, p.blocks.ctx.Err()
		}
		watch.Blocked()
		p.from.working = true
		more = p.fill(b)
		p.from.working = false
		p.run.Release()
		watch.Parted(p.from.took)
		p.from.took = 0
	}
	b.End = p.at
	if len(b.Records)+len(b.Faults) > 0 {
		return b, nil
	}
	b.Release()
	return nil, p.failed
}

// makeRoom waits for the memory of a large record: for in, enough for the largest record so far,
// and for the block, enough for the pending one.
func (p *streamFile) makeRoom(b *pipeline.Block) error {
	if n := p.largest.Load(); n > max(p.held, int64(p.chunk)) {
		if !p.run.Budget.Read(p.blocks.ctx, n-p.held, p.blocks.needed) {
			return p.blocks.ctx.Err()
		}
		p.held = n
	}
	if !p.loaded {
		return nil
	}
	err := p.blocks.grow(b, 0, len(p.pending))
	b.Buf = b.Buf[:0]
	return err
}

// forget releases the memory accounted for in's buffer.
func (p *streamFile) forget() {
	p.run.Budget.Add(-p.held, -p.held)
	p.held = 0
}

// fill puts records into b. It returns true if there is a record for which b has no room, and b has
// no other.
func (p *streamFile) fill(b *pipeline.Block) bool {
	for p.loaded || p.load(b) {
		if !p.take(b) {
			return len(b.Records) == 0
		}
	}
	return false
}

// load gets the next record, or records its damage; false at the end.
func (p *streamFile) load(b *pipeline.Block) bool {
	for p.failed == nil {
		if p.at.Number >= p.piece.End.Number {
			p.failed = io.EOF
			break
		}
		record, at, err := p.in.Next()
		if err == nil {
			p.at, p.pending, p.loaded = at, record, true
			Raise(p.largest, int64(len(record)))
			return true
		}
		var damage *tfrecord.Damage
		switch {
		case errors.As(err, &damage):
			p.fault(b, pipeline.Cursor{Number: damage.Record, Offset: damage.Offset}, damage.Bytes, damage.Err)
		case p.lost(err):
			at := p.at
			if located := new(tfrecord.Error); errors.As(err, &located) {
				at = pipeline.Cursor{Number: max(located.Record, at.Number), Offset: located.Offset}
			}
			p.fault(b, at, -1, err)
			p.at.Number = p.in.Number
			p.failed = io.EOF
		default:
			p.failed = err
		}
	}
	return false
}

// fault records damage.
func (p *streamFile) fault(b *pipeline.Block, at pipeline.Cursor, bytes int64, err error) {
	b.Faults = append(b.Faults, pipeline.Fault{Before: len(b.Records), Number: at.Number, Offset: at.Offset, Bytes: bytes, Err: err})
	p.at = pipeline.Cursor{Number: at.Number + 1, Offset: at.Offset + max(bytes, 0)}
}

// take copies the pending record into b; false if b is full.
func (p *streamFile) take(b *pipeline.Block) bool {
	n := len(p.pending)
	have := len(b.Buf)
	if have+n > cap(b.Buf) {
		return false
	}
	b.Buf = append(b.Buf, p.pending...)
	b.Records = append(b.Records, pipeline.Record{Data: b.Buf[have : have+n : have+n], Offset: p.at.Offset, Number: p.at.Number})
	p.at = pipeline.Cursor{Number: p.at.Number + 1, Offset: p.at.Offset + int64(n) + tfrecord.Overhead}
	p.pending, p.loaded = nil, false
	return true
}
