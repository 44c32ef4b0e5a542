package repair

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// quarantineChunk is the maximum number of bytes of damage in a record of a quarantine.
const quarantineChunk = 1 << 20

// Quarantined is a piece of a damaged range, as a quarantine stores it.
type Quarantined struct {
	// Path of the damaged file.
	Path string
	// Span numbers the damaged ranges in the quarantine, from 0. A range of more than 1 MiB is
	// split into consecutive pieces.
	Span int64
	// Offset of the piece. Compressed means that it is an offset in the compressed file.
	Offset     int64
	Compressed bool
	// Reason describes the damage of the range.
	Reason string
	// Data has the bytes as they were found.
	Data []byte
}

// ReadQuarantine reads the quarantine at path, in the order of files and offsets. A quarantine is a
// TFRecord file of tf.train.Examples with the features path, span, offset, compressed, reason and
// data.
func ReadQuarantine(ctx context.Context, path string) iter.Seq2[Quarantined, error] {
	return func(yield func(Quarantined, error) bool) {
		r, err := shard.Open(ctx, path, tfrecord.ReaderOptions{})
		if err != nil {
			yield(Quarantined{}, err)
			return
		}
		defer r.Close()
		var example tfrecord.Example
		for record, err := range r.All() {
			if err == nil {
				err = r.Locate(example.Parse(record))
			}
			if err != nil {
				yield(Quarantined{}, err)
				return
			}
			if !yield(quarantined(&example), nil) {
				return
			}
		}
	}
}

func quarantined(e *tfrecord.Example) Quarantined {
	number := func(key string) int64 {
		f, _ := e.Get(key)
		n, _ := f.Int64()
		return n
	}
	text := func(key string) []byte {
		f, _ := e.Get(key)
		b, _ := f.Bytes()
		return b
	}
	return Quarantined{
		Path: string(text("path")), Span: number("span"), Offset: number("offset"),
		Compressed: number("compressed") != 0, Reason: string(text("reason")),
		Data: append([]byte(nil), text("data")...),
	}
}

// quarantine writes lost data. It creates its file for the first damaged range.
type quarantine struct {
	ctx   context.Context
	path  string
	work  func(path string) (*os.File, error)
	f     *os.File // nil: empty so far
	out   *tfrecord.Writer
	spans int64
	chunk []byte
	built tfrecord.Builder
	frame []byte

	from fs.FileInfo // the file being read; nil for one in an object store
	like fs.FileInfo // the source files, with the intersection of their modes
}

// restricted is a file info with a narrower mode.
type restricted struct {
	fs.FileInfo
	mode fs.FileMode
}

func (r restricted) Mode() fs.FileMode { return r.mode }

// put adds a damaged range; in has its bytes.
func (q *quarantine) put(d Damage, in io.ReaderAt) error {
	if d.Bytes == 0 {
		return nil
	}
	if q.f == nil {
		var err error
		if q.f, err = q.work(q.path); err != nil {
			return err
		}
		if q.out, err = tfrecord.NewWriter(osfile.NewFile(q.ctx, q.f), tfrecord.WriterOptions{}); err != nil {
			return err
		}
		q.chunk = make([]byte, quarantineChunk)
	}
	switch {
	case q.like == nil:
		q.like = q.from
	case q.from != nil:
		q.like = restricted{q.like, q.like.Mode() & q.from.Mode()}
	}
	compressed := int64(0)
	if d.Compressed {
		compressed = 1
	}
	for offset, end := d.Offset, d.Offset+d.Bytes; offset < end; {
		n, err := in.ReadAt(q.chunk[:min(quarantineChunk, end-offset)], offset)
		if n == 0 {
			return fmt.Errorf("read the damaged bytes of %s: %w", d.Path, err)
		}
		q.built.Reset()
		q.built.String("path", d.Path)
		q.built.Int64("span", q.spans)
		q.built.Int64("offset", offset)
		q.built.Int64("compressed", compressed)
		q.built.String("reason", d.Reason)
		q.built.Bytes("data", q.chunk[:n])
		q.frame = q.built.Append(q.frame[:0])
		if err := q.out.WriteRecord(q.frame); err != nil {
			return fmt.Errorf("write %s: %w", q.path, err)
		}
		offset += int64(n)
	}
	q.spans++
	return nil
}

// close flushes the quarantine to its file.
func (q *quarantine) close() error {
	if err := q.out.Close(); err != nil {
		return fmt.Errorf("write %s: %w", q.path, err)
	}
	return nil
}

// abort discards the temporary file.
func (q *quarantine) abort() {
	if q.f != nil {
		atomicfile.Discard(q.f)
	}
}

// putQuarantine puts the quarantine of an output in place, if it has any content.
func (r *repair) putQuarantine(q *quarantine) error {
	if q.f == nil {
		return output.MustBeFree(q.path) // one of another repair would be mistaken for ours
	}
	if err := q.close(); err != nil {
		return err
	}
	if err := r.commitNew(q.f, q.path, q.like); err != nil {
		return err
	}
	q.f = nil
	r.report.Quarantine = q.path
	return nil
}
