package tfrecord

import (
	"errors"
	"fmt"
	"io"
)

// Damage is a stretch of a file without an intact record. It is an error, which unwraps to the
// [*Error] that describes the damage.
type Damage struct {
	// Record is the number of the stretch, which counts as one record of the file, from 0. Offset
	// is where it begins.
	Record, Offset int64
	// Bytes is the number of bytes lost, with framing.
	Bytes int64
	// Err describes the damage, with the damaged part.
	Err error
}

// Error returns the number of bytes and the cause in one line.
func (d *Damage) Error() string { return fmt.Sprintf("%d bytes lost: %v", d.Bytes, d.Err) }

// Unwrap returns Err.
func (d *Damage) Unwrap() error { return d.Err }

// Salvager reads all intact records of an uncompressed file, and reports the damage between them.
// It is not safe for concurrent use.
//
//	s := tfrecord.NewSalvager(f, tfrecord.ReaderOptions{Name: "a.tfrecord"})
//	for {
//		record, err := s.Next()
//		var damage *tfrecord.Damage
//		switch {
//		case errors.As(err, &damage):
//			lost = append(lost, damage) // and continue
//		case err == io.EOF:
//			return nil
//		case err != nil:
//			return err // the file cannot be read
//		default:
//			err = w.WriteRecord(record)
//		}
//	}
//
// Records and stretches of damage cover the file without gaps. After a corrupt payload the next
// frame is accepted if its header is valid, after any other damage only if it is intact (see
// [Framing.Behind]).
type Salvager struct {
	in   io.ReaderAt
	name string
	r    *Reader
}

// NewSalvager returns a Salvager of a file. The Compression option is ignored. If in has a method
// Size() int64, buffers for large records are allocated at once.
func NewSalvager(in io.ReaderAt, opts ReaderOptions) *Salvager {
	opts.Compression = CompressionNone
	s := &Salvager{in: in, name: opts.Name, r: NewReader(nil, opts)}
	s.MoveTo(0, 0)
	return s
}

// MoveTo continues at an offset in the file, whose record gets the given number.
func (s *Salvager) MoveTo(record, offset int64) {
	// Anything past the maximum file size reads as its end.
	s.r.Reset(&tail{io.NewSectionReader(s.in, offset, maxOffset-offset), s.in, offset}, s.name)
	s.r.record, s.r.base = record-1, offset
}

// tail is a file from an offset on.
type tail struct {
	*io.SectionReader
	in     io.ReaderAt
	offset int64
}

// Left returns the number of remaining bytes, if the size of the file is known.
func (t *tail) Left() int64 {
	sized, ok := t.in.(interface{ Size() int64 })
	if !ok {
		return 0
	}
	at, err := t.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return sized.Size() - t.offset - at
}

// maxOffset is larger than any file, in bytes.
const maxOffset = 1<<63 - 1

// Next returns the next record. It is valid until the next call, and must not be modified. For each
// stretch of damage the error is a [*Damage], after which Next may be called again. It is io.EOF at
// the end. All other errors come from reading the file and are final.
func (s *Salvager) Next() ([]byte, error) {
	record, err := s.r.Next()
	if err == nil || err == io.EOF {
		return record, err
	}
	var found *Error
	if s.r.src.err != nil || !errors.As(err, &found) {
		return nil, err
	}
	next, err := s.r.opts.Framing().Behind(s.in, found.Offset)
	if err != nil {
		return nil, fmt.Errorf("%w; looking for what follows: %w", found, err)
	}
	if next != s.r.base+int64(s.r.pos) || s.r.err != nil {
		s.MoveTo(found.Record+1, next)
	}
	return nil, &Damage{found.Record, found.Offset, next - found.Offset, found}
}

// Fault returns the error of the frame at offset, as a Reader would report it for that record
// number: an [*Error]; nil if the frame is intact, and io.EOF at the end of the file. Call MoveTo
// before calling Next again.
func (s *Salvager) Fault(record, offset int64) error {
	s.MoveTo(record, offset)
	_, err := s.r.Next()
	return err
}

// Record returns the number of the last record returned; stretches of damage count as one each.
func (s *Salvager) Record() int64 { return s.r.Record() }

// Offset returns where the frame of the last record returned begins.
func (s *Salvager) Offset() int64 { return s.r.Offset() }
