package records

import (
	"errors"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// plainFile reads a stretch of an uncompressed file, a buffer at a time: each block owns the buffer
// of its records.
type plainFile struct {
	run     *pipeline.Run
	in      *blockAllocator
	file    storage.File
	name    string
	framing tfrecord.Framing
	chunk   int             // bytes to read at once,
	most    int             // or up to this many for large records
	want    int             // bytes to read next
	frame   int             // bytes of the previous frame
	at      pipeline.Cursor // what was not returned yet begins here
	end     pipeline.Cursor
	next    *pipeline.Block // have bytes from at on are in its buf
	have    int

	lender storage.Lender // the file, if its bytes can be borrowed
	lent   bool           // the last ones were
}

// Read returns the next block, which may hold only faults; io.EOF after the last one.
func (p *plainFile) Read(watch *pipeline.Stopwatch) (*pipeline.Block, error) {
	b, want, err := p.borrow(watch)
	if b != nil || err != nil {
		return b, err
	}
	b, p.next = p.next, nil
	if b == nil {
		var err error
		if b, err = p.in.block(p.chunk); err != nil {
			return nil, err
		}
		p.have = 0
	}
	for {
		more, err := p.fill(b, want, watch)
		if err != nil {
			b.Release()
			return nil, err
		}
		if !p.run.Acquire(p.in.ctx) {
			b.Release()
			return nil, p.in.ctx.Err()
		}
		watch.Blocked()
		pos, need, err := p.parse(b, b.Buf[:p.have], !more)
		if err == nil && need == 0 {
			p.carry(b.Buf[min(pos, p.have):p.have])
		}
		p.run.Release()
		watch.Busy()
		if err != nil {
			// Return the records before it first: the error is found again.
			if len(b.Records)+len(b.Faults) > 0 {
				p.have = 0
				b.End = p.at
				return b, nil
			}
			b.Release()
			return nil, err
		}
		if len(b.Records)+len(b.Faults) > 0 {
			b.End = p.at
			return b, nil
		}
		if need == 0 {
			b.Release()
			return nil, io.EOF
		}
		want = need
	}
}

func (p *plainFile) stands() pipeline.Cursor { return p.at }

// Close closes the file.
func (p *plainFile) Close() error {
	if p.next != nil {
		p.next.Release()
		p.next = nil
	}
	return p.file.Close()
}

// Refetch fetches again what recheck found to be damaged.
func (p *plainFile) Refetch(b []byte, off int64, good func([]byte) bool) (bool, error) {
	changed, err := storage.Refetch(p.file, b, off, good)
	p.run.LogRefetched(p.file, off, len(b), changed, err)
	return changed, err
}

// fill makes want bytes of b's buffer valid, fewer at the end of the stretch or of the file: then
// more is false.
func (p *plainFile) fill(b *pipeline.Block, want int, watch *pipeline.Stopwatch) (more bool, err error) {
	want = int(min(int64(want), p.end.Offset-p.at.Offset))
	if want <= p.have {
		return p.at.Offset+int64(p.have) < p.end.Offset, nil
	}
	if err := p.in.grow(b, p.have, want); err != nil {
		return false, err
	}
	b.Buf = b.Buf[:cap(b.Buf)]
	if !p.in.readers.Enter(p.in.ctx) {
		return false, p.in.ctx.Err()
	}
	watch.Blocked()
	n, err := p.file.ReadAt(b.Buf[p.have:want], p.at.Offset+int64(p.have))
	p.in.readers.Leave()
	watch.Waited()
	p.have += n
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case err != nil:
		return false, &tfrecord.Error{Name: p.name, Record: p.at.Number, Offset: p.at.Offset, Part: tfrecord.PartData, Err: err}
	}
	return p.at.Offset+int64(p.have) < p.end.Offset, nil
}

// parse makes Records of the whole frames in data, and returns where the rest begins. If there are
// none it returns the number of bytes needed for one; 0 at the end. last means that nothing follows
// data.
func (p *plainFile) parse(b *pipeline.Block, data []byte, last bool) (pos, need int, err error) {
	size := 0
	for pos < len(data) {
		n, v, err := recheck.Frame(p.framing, p, data[pos:], p.at.Offset)
		if err != nil {
			return pos, 0, &tfrecord.Error{Name: p.name, Record: p.at.Number, Offset: p.at.Offset, Part: tfrecord.PartData, Err: err}
		}
		if v == tfrecord.FrameShort && !last {
			if pos == 0 {
				need, err = p.needed(n)
				return 0, need, err
			}
			break
		}
		if v != tfrecord.FrameWhole {
			if n, err = p.skip(b); err != nil {
				return pos, 0, err
			}
			pos += n
			continue
		}
		if len(b.Records) == cap(b.Records) {
			b.Records = slices.Grow(b.Records, 1+(len(data)-pos)/max(n, p.frame, p.chunk/pipeline.BlockRecords, 64))
		}
		payload := data[pos+tfrecord.HeaderSize : pos+n-tfrecord.FooterSize : pos+n-tfrecord.FooterSize]
		b.Records = append(b.Records, pipeline.Record{Data: payload, Offset: p.at.Offset, Number: p.at.Number})
		p.at.Number++
		p.at.Offset += int64(n)
		pos, size = pos+n, n
	}
	p.frame = size
	return pos, 0, nil
}

// carry moves an incomplete frame to the next block. Large frames are read several at once, so that
// not half of each is copied.
func (p *plainFile) carry(left []byte) {
	p.have, p.want = 0, min(8*p.frame, p.most)
	if len(left) == 0 {
		return
	}
	if p.next = p.in.tryBlock(max(len(left), p.want, p.chunk)); p.next == nil {
		p.want = 0 // it is read again when there is room for it
		return
	}
	p.have = copy(p.next.Buf[:cap(p.next.Buf)], left)
}

// needed checks that the file is large enough for a frame of n bytes before memory is allocated for
// it.
func (p *plainFile) needed(n int) (int, error) {
	if n <= p.chunk {
		return n, nil
	}
	st, err := p.file.Stat()
	if err != nil {
		return 0, err
	}
	// A little more, for the next header.
	there := max(st.Size()-p.at.Offset, int64(p.have)+1)
	if p.lent {
		return int(min(int64(n), there)), nil // what follows is borrowed
	}
	return int(min(min(int64(n), there)+int64(p.chunk), there)), nil
}

// skip skips damage at p.at, if allowed, and returns the number of bytes.
func (p *plainFile) skip(b *pipeline.Block) (int, error) {
	found := fileset.Explain(p.file, pipeline.ReaderOptions(&p.run.Opts, p.name), p.at)
	if !pipeline.MaySkip(p.run.Opts.SkipBad) || !fileset.InData(found) {
		return 0, found
	}
	next, err := p.framing.Behind(p.file, p.at.Offset)
	if err != nil {
		return 0, err
	}
	lost := next - p.at.Offset
	b.Faults = append(b.Faults, pipeline.Fault{
		Before: len(b.Records), Number: p.at.Number, Offset: p.at.Offset, Bytes: lost, Err: found,
	})
	p.at.Number++
	p.at.Offset = next
	return int(lost), nil
}
