package reshape

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

// stream reads blocks in order.
type stream struct {
	*inputs
	budget *par.Budget
	free   chan *block
	large  chan []byte // buffer of a large record, for reuse
	checks bool        // verify payloads while reading
}

func (in *inputs) stream() *stream {
	return &stream{inputs: in, budget: par.NewBudget(heldBlocks), free: make(chan *block, 64), large: make(chan []byte, 1)}
}

// get returns an empty block with a buffer of at least n bytes.
func (s *stream) get(ctx context.Context, n int) (*block, error) {
	charge := int64(max(n, blockSize))
	if err := s.budget.Acquire(ctx, charge); err != nil {
		return nil, err
	}
	b := new(block)
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
	*b = block{
		buffer: b.buffer[:cap(b.buffer)], sizes: b.sizes[:0], charge: charge,
		targets: b.targets[:0], places: b.places[:0], marks: b.marks[:0], labels: b.labels[:0],
	}
	return b, nil
}

// put returns a block. The budget is released last, so that a goroutine waiting for it finds the
// buffer.
func (s *stream) put(b *block) {
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

// lend returns a function that puts the block back. Until then it is not charged to the budget,
// since a goroutine that waits for the budget must not wait for a block that is hashed with its
// next one.
func (s *stream) lend(b *block) (done func()) {
	s.budget.Release(b.charge)
	b.charge = 0
	return func() { s.put(b) }
}

// close frees the buffer of a large record, if there is one: the next stage will need as much
// memory again, before the garbage collector would have freed it.
func (s *stream) close() {
	select {
	case <-s.large:
		debug.FreeOSMemory()
	default:
	}
}

// each gives the blocks of all files in order. Frames are found by their lengths, whose checksums
// are verified; payloads are verified by check. skip reports whether to skip a file; it may be nil.
func (s *stream) each(ctx context.Context, skip func(f *input) bool, give func(*block) error) error {
	for _, f := range s.files {
		if skip != nil && skip(f) {
			continue
		}
		if err := s.file(ctx, f, give); err != nil {
			return shard.Damaged(err)
		}
	}
	return nil
}

func (s *stream) file(ctx context.Context, f *input, give func(*block) error) error {
	file, err := recordscan.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	o := tfrecord.ReaderOptions{Name: f.Path, MaxRecord: s.MaxRecord, Compression: f.Compression}
	counted := func(b *block) error {
		if b.first+int64(len(b.sizes)) > f.Records {
			s.put(b) // beyond the expected records; counted for the error below
			return context.Cause(ctx)
		}
		return give(b)
	}
	var records int64
	if f.Compression == tfrecord.CompressionNone {
		records, err = s.plain(ctx, stretch{file: f, to: f.Size}, file, counted)
	} else {
		records, err = s.compressed(ctx, f, tfrecord.NewReader(file, o), counted)
	}
	if err != nil {
		return err
	}
	return f.checkRead(records)
}

// stretch is a range of records of one uncompressed file.
type stretch struct {
	file     *input
	first    int64 // number in the file of its first record
	from, to int64 // byte range of its frames
}

// plain reads a range of an uncompressed file in blocks, and returns the number of records found,
// even if it is not the expected one. What follows the last whole frame of a block, half a frame on
// average, is copied to the next block: a store then sees a sequential reader, and gives parts of
// 4 MiB.
func (s *stream) plain(ctx context.Context, in stretch, file storage.File, give func(*block) error) (records int64, err error) {
	f := in.file
	framing := tfrecord.Framing{Checksum: tfrecord.ChecksumLength, MaxRecord: s.MaxRecord}
	if s.checks {
		framing.Checksum = tfrecord.ChecksumFull
	}
	reader := osfile.NewReader(ctx, file)
	want := int64(blockSize)
	var rest []byte // read, and not given
	for pos := in.from; pos < in.to; {
		b, err := s.get(ctx, int(min(want, in.to-pos)))
		if err != nil {
			return 0, err
		}
		want = blockSize
		part := b.buffer[:min(int64(len(b.buffer)), in.to-pos)]
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
			s.put(b)
			return 0, err
		}
		at, frame, v := 0, 0, tfrecord.FrameWhole
		for at < n {
			if frame, v, err = recheck.Frame(framing, reader, b.buffer[at:n], pos+int64(at)); err != nil {
				s.put(b)
				return 0, err
			}
			if v != tfrecord.FrameWhole {
				break
			}
			b.sizes = append(b.sizes, frame)
			at += frame
		}
		rest = append(rest[:0], b.buffer[at:n]...)
		if at == 0 {
			s.put(b)
			if v != tfrecord.FrameShort || pos+int64(frame) > in.to || frame <= n {
				return 0, f.fault(file, in.first+records, pos, s.MaxRecord)
			}
			want = int64(frame)
			continue
		}
		b.file, b.first, b.offset, b.data, b.checked = f, in.first+records, pos, b.buffer[:at], s.checks
		records += int64(len(b.sizes))
		pos += int64(at)
		if err := give(b); err != nil {
			return 0, err
		}
	}
	return records, nil
}

// fault returns the error for a frame of an uncompressed file that was found to be damaged, or to
// have changed since.
func (f *input) fault(file storage.File, record, offset, maxRecord int64) error {
	o := tfrecord.ReaderOptions{Name: f.Path, MaxRecord: maxRecord, Compression: f.Compression}
	if err := tfrecord.NewSalvager(file, o).Fault(record, offset); err != nil {
		return shard.Damaged(err)
	}
	return fmt.Errorf("%s %w", f.Path, errChanged)
}

var errChanged = errors.New("changed while it was read")

// compressed reads blocks of the uncompressed stream of a file.
func (s *stream) compressed(ctx context.Context, f *input, r *tfrecord.Reader, give func(*block) error) (records int64, err error) {
	defer r.Close()
	var b *block
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
			if err := s.alone(ctx, &block{file: f, first: records, offset: r.Offset(), data: r.Frame(), sizes: []int{size}}, give); err != nil {
				return 0, err
			}
			records++
			continue
		}
		if b != nil && len(b.data)+size > len(b.buffer) {
			if err := flush(); err != nil {
				return 0, err
			}
		}
		if b == nil {
			if b, err = s.get(ctx, size); err != nil {
				return 0, err
			}
			b.file, b.first, b.offset, b.data, b.checked = f, records, r.Offset(), b.buffer[:0], true
		}
		b.data = tfrecord.AppendFrame(b.data, record)
		b.sizes = append(b.sizes, size)
		records++
	}
}

// alone gives a block whose data belongs to the reader, and waits until all blocks are released.
func (s *stream) alone(ctx context.Context, b *block, give func(*block) error) error {
	b.checked, b.charge = true, int64(len(b.data))
	if err := s.budget.Acquire(ctx, b.charge); err != nil {
		return err
	}
	if err := give(b); err != nil {
		return err
	}
	return s.budget.WaitIdle(ctx)
}
