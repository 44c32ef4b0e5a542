package tfrecord

import (
	"errors"
	"fmt"
	"io"
)

// Damage is a stretch of a file without a whole record. It is an error, which
// unwraps to the [*Error] that says what is wrong.
type Damage struct {
	// Record is the number that the stretch has among the records of the file,
	// from 0: it counts as one. Offset is where it begins.
	Record, Offset int64
	// Bytes that are lost, with framing.
	Bytes int64
	// Err says which part is damaged and how.
	Err error
}

// Error gives the bytes and what is wrong, in a line.
func (d *Damage) Error() string { return fmt.Sprintf("%d bytes lost: %v", d.Bytes, d.Err) }

// Unwrap returns Err.
func (d *Damage) Unwrap() error { return d.Err }

// Salvager reads all whole records of an uncompressed file, and says what lies
// between them. It is not safe for concurrent use.
//
//	s := tfrecord.NewSalvager(f, tfrecord.ReaderOptions{Name: "a.tfrecord"})
//	for {
//		record, err := s.Next()
//		var damage *tfrecord.Damage
//		switch {
//		case errors.As(err, &damage):
//			lost = append(lost, damage) // and go on
//		case err == io.EOF:
//			return nil
//		case err != nil:
//			return err // the file cannot be read
//		default:
//			err = w.WriteRecord(record)
//		}
//	}
//
// Records and stretches of damage cover the file without gaps. Behind a payload
// that is wrong the next frame is taken when its header holds, behind anything
// else the next one that is whole (see [Framing.Behind]).
type Salvager struct {
	in   io.ReaderAt
	name string
	r    *Reader
}

// NewSalvager returns a Salvager of a file. The Compression of the options
// does not count. Where in has a method Size() int64, buffers for large records
// are made at once.
func NewSalvager(in io.ReaderAt, opts ReaderOptions) *Salvager {
	opts.Compression = None
	s := &Salvager{in: in, name: opts.Name, r: NewReader(nil, opts)}
	s.MoveTo(0, 0)
	return s
}

// MoveTo goes on at a place in the file, taking what is there for the record of
// that number.
func (s *Salvager) MoveTo(record, offset int64) {
	// What is beyond the end of the largest file reads as its end.
	s.r.Reset(&tail{io.NewSectionReader(s.in, offset, maxOffset-offset), s.in, offset}, s.name)
	s.r.record, s.r.base = record-1, offset
}

// tail is what a file has from an offset on.
type tail struct {
	*io.SectionReader
	in     io.ReaderAt
	offset int64
}

// Left tells how much is still to come, where the file tells its size.
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

// maxOffset is more than any file has bytes.
const maxOffset = 1<<63 - 1

// Next returns the next record. It is valid until the next call, and must not
// be changed. Of each stretch of damage the error is a [*Damage], and Next may
// go on. It is io.EOF at the end. All other errors are final: they are those of
// the file.
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

// Fault returns what is wrong with the frame at offset, as a Reader that comes
// to it as its record of that number says it: an [*Error]; nil when nothing is,
// and io.EOF at the end of the file. MoveTo before Next goes on.
func (s *Salvager) Fault(record, offset int64) error {
	s.MoveTo(record, offset)
	_, err := s.r.Next()
	return err
}

// Record returns the number of the record that Next returned last, in which
// stretches of damage count as one each.
func (s *Salvager) Record() int64 { return s.r.Record() }

// Offset returns where the frame of the record that Next returned last begins.
func (s *Salvager) Offset() int64 { return s.r.Offset() }
