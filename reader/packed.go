package reader

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// streamFile reads records from the beginning of a sequential file: a compressed one, or a pipe.
// Records are copied into blocks, which costs little compared with decompression.
type streamFile struct {
	run     *run
	set     *fileSet
	in      *compressedRecords
	from    *yieldingReader // what in reads,
	file    storage.File    // from here
	unwatch func() bool
	blocks  *blockAllocator
	largest *atomic.Int64 // largest record of all files so far
	held    int64         // accounted bytes of in's own buffer
	chunk   int
	piece   piece
	at      cursor
	pending []byte // of in: the record at `at`, for which the last block had no room
	loaded  bool
	failed  error
}

// skipTo skips the records before p.at.number.
func (p *streamFile) skipTo(ctx context.Context) error {
	for n := 0; p.in.number < p.at.number; n++ {
		if n%blockRecords == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		_, _, err := p.in.next()
		if err == nil {
			continue
		}
		var damage *tfrecord.Damage
		switch {
		case errors.As(err, &damage):
		case err == io.EOF:
			return nil
		case p.lost(err):
			if p.at.number == p.in.number || p.at.number >= p.set.wanted(ctx, p.piece, p.at, false).records {
				p.failed = io.EOF // as reported when it was read up to here
			}
			return nil // or will be reported when it is read from here
		default:
			return err
		}
	}
	return nil
}

// raise sets v to at least n.
func raise(v *atomic.Int64, n int64) {
	for {
		if old := v.Load(); n <= old || v.CompareAndSwap(old, n) {
			return
		}
	}
}

// lost reports whether the rest of the file is lost and may be skipped.
func (p *streamFile) lost(err error) bool {
	return err != io.EOF && maySkip(p.run.opts.SkipBad) && inData(err)
}

// Close closes the file.
func (p *streamFile) Close() error {
	p.unwatch()
	p.forget()
	return errors.Join(p.in.close(), p.file.Close())
}

func (p *streamFile) stands() cursor { return p.at }

func (p *streamFile) read(watch *stopwatch) (*recordBlock, error) {
	b, err := p.blocks.block(p.chunk)
	if err != nil {
		return nil, err
	}
	b.buf = b.buf[:0]
	for more := true; more; {
		if err := p.makeRoom(b); err != nil {
			b.Release()
			return nil, err
		}
		if !p.run.acquire(p.blocks.ctx) {
			b.Release()
			return nil, p.blocks.ctx.Err()
		}
		watch.blocked()
		p.from.working = true
		more = p.fill(b)
		p.from.working = false
		p.run.release()
		watch.parted(p.from.took)
		p.from.took = 0
	}
	b.end = p.at
	if len(b.Records)+len(b.faults) > 0 {
		return b, nil
	}
	b.Release()
	return nil, p.failed
}

// makeRoom waits for the memory of a large record: for in, enough for the largest record so far,
// and for the block, enough for the pending one.
func (p *streamFile) makeRoom(b *recordBlock) error {
	if n := p.largest.Load(); n > max(p.held, int64(p.chunk)) {
		if !p.run.budget.read(p.blocks.ctx, n-p.held, p.blocks.needed) {
			return p.blocks.ctx.Err()
		}
		p.held = n
	}
	if !p.loaded {
		return nil
	}
	err := p.blocks.grow(b, 0, len(p.pending))
	b.buf = b.buf[:0]
	return err
}

// forget releases the memory accounted for in's buffer.
func (p *streamFile) forget() {
	p.run.budget.add(-p.held, -p.held)
	p.held = 0
}

// fill puts records into b. It returns true if there is a record for which b has no room, and b has
// no other.
func (p *streamFile) fill(b *recordBlock) bool {
	for p.loaded || p.load(b) {
		if !p.take(b) {
			return len(b.Records) == 0
		}
	}
	return false
}

// load gets the next record, or records its damage; false at the end.
func (p *streamFile) load(b *recordBlock) bool {
	for p.failed == nil {
		if p.at.number >= p.piece.end.number {
			p.failed = io.EOF
			break
		}
		record, at, err := p.in.next()
		if err == nil {
			p.at, p.pending, p.loaded = at, record, true
			raise(p.largest, int64(len(record)))
			return true
		}
		var damage *tfrecord.Damage
		switch {
		case errors.As(err, &damage):
			p.fault(b, cursor{damage.Record, damage.Offset}, damage.Bytes, damage.Err)
		case p.lost(err):
			at := p.at
			if located := new(tfrecord.Error); errors.As(err, &located) {
				at = cursor{max(located.Record, at.number), located.Offset}
			}
			p.fault(b, at, -1, err)
			p.at.number = p.in.number
			p.failed = io.EOF
		default:
			p.failed = err
		}
	}
	return false
}

// fault records damage.
func (p *streamFile) fault(b *recordBlock, at cursor, bytes int64, err error) {
	b.faults = append(b.faults, fault{before: len(b.Records), number: at.number, offset: at.offset, bytes: bytes, err: err})
	p.at = cursor{at.number + 1, at.offset + max(bytes, 0)}
}

// take copies the pending record into b; false if b is full.
func (p *streamFile) take(b *recordBlock) bool {
	n := len(p.pending)
	have := len(b.buf)
	if have+n > cap(b.buf) {
		return false
	}
	b.buf = append(b.buf, p.pending...)
	b.Records = append(b.Records, Record{Data: b.buf[have : have+n : have+n], Offset: p.at.offset, Number: p.at.number})
	p.at = cursor{p.at.number + 1, p.at.offset + int64(n) + tfrecord.Overhead}
	p.pending, p.loaded = nil, false
	return true
}
