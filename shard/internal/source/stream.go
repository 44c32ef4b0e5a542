package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// blockSize is large enough to keep the overhead per block small, and small enough that all blocks
// in progress fit in a processor cache.
const blockSize = 512 << 10

// heldBlocks is the maximum total size of the blocks in progress; a larger record is processed
// alone.
const heldBlocks = 64 << 20

// Stream reads blocks in order.
type Stream struct {
	*Inputs
	budget *par.Budget
	free   chan *Block
	large  chan []byte // buffer of a large record, for reuse
	Checks bool        // verify payloads while reading
}

// Stream returns a stream of the inputs.
func (in *Inputs) Stream() *Stream {
	return &Stream{Inputs: in, budget: par.NewBudget(heldBlocks), free: make(chan *Block, 64), large: make(chan []byte, 1)}
}

// Get returns an empty block with a buffer of at least n bytes.
func (s *Stream) Get(ctx context.Context, n int) (*Block, error) {
	charge := int64(max(n, blockSize))
	if err := s.budget.Acquire(ctx, charge); err != nil {
		return nil, err
	}
	b := new(Block)
	select {
	case b = <-s.free:
	default:
	}
	if cap(b.buffer) < n {
		select {
		case b.buffer = <-s.large:
		default:
		}
	}
	if cap(b.buffer) < n {
		b.buffer = make([]byte, max(n, blockSize))
	}
	*b = Block{
		buffer: b.buffer[:cap(b.buffer)], Sizes: b.Sizes[:0], charge: charge,
		Targets: b.Targets[:0], Places: b.Places[:0], Marks: b.Marks[:0], Labels: b.Labels[:0],
	}
	return b, nil
}

// Put returns a block. The budget is released last, so that a goroutine waiting for it finds the
// buffer.
func (s *Stream) Put(b *Block) {
	charge := b.charge
	if cap(b.buffer) > 2*blockSize {
		select { // large buffers must not accumulate in ordinary blocks
		case s.large <- b.buffer:
		default:
		}
		b.buffer = nil
	}
	select {
	case s.free <- b:
	default:
	}
	s.budget.Release(charge)
}

// Lend returns a function that puts the block back. Until then it is not charged to the budget,
// since a goroutine that waits for the budget must not wait for a block that is hashed with its
// next one.
func (s *Stream) Lend(b *Block) (done func()) {
	s.budget.Release(b.charge)
	b.charge = 0
	return func() { s.Put(b) }
}

// Close frees the buffer of a large record, if there is one: the next stage will need as much
// memory again, before the garbage collector would have freed it.
func (s *Stream) Close() {
	select {
	case <-s.large:
		debug.FreeOSMemory()
	default:
	}
}

// Each gives the blocks of all files in order. Frames are found by their lengths, whose checksums
// are verified; payloads are verified by check. skip reports whether to skip a file; it may be nil.
func (s *Stream) Each(ctx context.Context, skip func(f *Input) bool, give func(*Block) error) error {
	for _, f := range s.Files {
		if skip != nil && skip(f) {
			continue
		}
		if err := s.file(ctx, f, give); err != nil {
			return shard.Damaged(err)
		}
	}
	return nil
}

func (s *Stream) file(ctx context.Context, f *Input, give func(*Block) error) error {
	file, err := recordscan.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	o := tfrecord.ReaderOptions{Name: f.Path, MaxRecord: s.MaxRecord, Compression: f.Compression}
	counted := func(b *Block) error {
		if b.First+int64(len(b.Sizes)) > f.Records {
			s.Put(b) // beyond the expected records; counted for the error below
			return context.Cause(ctx)
		}
		return give(b)
	}
	var records int64
	if f.Compression == tfrecord.CompressionNone {
		records, err = s.Plain(ctx, Stretch{File: f, To: f.Size}, file, counted)
	} else {
		records, err = s.Compressed(ctx, f, tfrecord.NewReader(file, o), counted)
	}
	if err != nil {
		return err
	}
	return f.CheckRead(records)
}

// Stretch is a range of records of one uncompressed file.
type Stretch struct {
	File     *Input
	First    int64 // number in the file of its first record
	From, To int64 // byte range of its frames
}

// Plain reads a range of an uncompressed file in blocks, and returns the number of records found,
// even if it is not the expected one. What follows the last whole frame of a block, half a frame on
// average, is copied to the next block: a store then sees a sequential reader, and gives parts of
// 4 MiB.
func (s *Stream) Plain(ctx context.Context, in Stretch, file storage.File, give func(*Block) error) (records int64, err error) {
	f := in.File
	framing := tfrecord.Framing{Checksum: tfrecord.ChecksumLength, MaxRecord: s.MaxRecord}
	if s.Checks {
		framing.Checksum = tfrecord.ChecksumFull
	}
	reader := osfile.NewReader(ctx, file)
	want := int64(blockSize)
	var rest []byte // read, and not given
	for pos := in.From; pos < in.To; {
		b, err := s.Get(ctx, int(min(want, in.To-pos)))
		if err != nil {
			return 0, err
		}
		want = blockSize
		part := b.buffer[:min(int64(len(b.buffer)), in.To-pos)]
		n := copy(part, rest)
		if n < len(part) {
			var more int
			more, err = reader.ReadAt(part[n:], pos+int64(n))
			n += more
		}
		if err == nil || err == io.EOF && n == len(part) {
			err = nil
		} else if err == io.EOF {
			err = fmt.Errorf("%s shrank while it was read", f.Path)
		}
		if err != nil {
			s.Put(b)
			return 0, err
		}
		at, frame, v := 0, 0, tfrecord.FrameWhole
		for at < n {
			if frame, v, err = recheck.Frame(framing, reader, b.buffer[at:n], pos+int64(at)); err != nil {
				s.Put(b)
				return 0, err
			}
			if v != tfrecord.FrameWhole {
				break
			}
			b.Sizes = append(b.Sizes, frame)
			at += frame
		}
		rest = append(rest[:0], b.buffer[at:n]...)
		if at == 0 {
			s.Put(b)
			if v != tfrecord.FrameShort || pos+int64(frame) > in.To || frame <= n {
				return 0, f.fault(file, in.First+records, pos, s.MaxRecord)
			}
			want = int64(frame)
			continue
		}
		b.File, b.First, b.Offset, b.Data, b.Checked = f, in.First+records, pos, b.buffer[:at], s.Checks
		records += int64(len(b.Sizes))
		pos += int64(at)
		if err := give(b); err != nil {
			return 0, err
		}
	}
	return records, nil
}

// fault returns the error for a frame of an uncompressed file that was found to be damaged, or to
// have changed since.
func (f *Input) fault(file storage.File, record, offset, maxRecord int64) error {
	o := tfrecord.ReaderOptions{Name: f.Path, MaxRecord: maxRecord, Compression: f.Compression}
	if err := tfrecord.NewSalvager(file, o).Fault(record, offset); err != nil {
		return shard.Damaged(err)
	}
	return fmt.Errorf("%s %w", f.Path, ErrChanged)
}

// ErrChanged is the error for an input that changed while it was read.
var ErrChanged = errors.New("changed while it was read")

// Compressed reads blocks of the uncompressed stream of a file.
func (s *Stream) Compressed(ctx context.Context, f *Input, r *tfrecord.Reader, give func(*Block) error) (records int64, err error) {
	defer r.Close()
	var b *Block
	flush := func() error {
		if b == nil {
			return nil
		}
		full := b
		b = nil
		return give(full)
	}
	for {
		record, err := r.Next()
		if err == io.EOF {
			return records, flush()
		}
		if err != nil {
			return 0, err
		}
		size := len(record) + tfrecord.Overhead
		if size > blockSize {
			if err := flush(); err != nil {
				return 0, err
			}
			if err := s.alone(ctx, &Block{File: f, First: records, Offset: r.Offset(), Data: r.Frame(), Sizes: []int{size}}, give); err != nil {
				return 0, err
			}
			records++
			continue
		}
		if b != nil && len(b.Data)+size > len(b.buffer) {
			if err := flush(); err != nil {
				return 0, err
			}
		}
		if b == nil {
			if b, err = s.Get(ctx, size); err != nil {
				return 0, err
			}
			b.File, b.First, b.Offset, b.Data, b.Checked = f, records, r.Offset(), b.buffer[:0], true
		}
		b.Data = tfrecord.AppendFrame(b.Data, record)
		b.Sizes = append(b.Sizes, size)
		records++
	}
}

// alone gives a block whose data belongs to the reader, and waits until all blocks are released.
func (s *Stream) alone(ctx context.Context, b *Block, give func(*Block) error) error {
	b.Checked, b.charge = true, int64(len(b.Data))
	if err := s.budget.Acquire(ctx, b.charge); err != nil {
		return err
	}
	if err := give(b); err != nil {
		return err
	}
	return s.budget.WaitIdle(ctx)
}
