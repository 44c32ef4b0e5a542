package repair

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/osfile"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// quarantineChunk is how many bytes of damage a record of a quarantine holds
// at most.
const quarantineChunk = 1 << 20

// Quarantined is a piece of a stretch of damage, as a quarantine holds it.
type Quarantined struct {
	// Path of the file that it was in.
	Path string
	// Span numbers the stretches of the quarantine, from 0. A stretch of more than
	// 1 MiB is in several pieces, one after another.
	Span int64
	// Offset of the piece, and whether that is one in the compressed file.
	Offset     int64
	Compressed bool
	// Reason says what is wrong with the stretch.
	Reason string
	// Data are the bytes as they were found.
	Data []byte
}

// ReadQuarantine reads what a repair put aside, in the order of files and
// offsets: a TFRecord file of tf.train.Examples with the features path, span,
// offset, compressed, reason and data.
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

// quarantine writes what is lost. Its file begins with the first stretch.
type quarantine struct {
	path  string
	work  func(path string) (*os.File, error)
	f     *os.File // nil: nothing is in it
	out   *tfrecord.Writer
	spans int64
	chunk []byte
	built tfrecord.Builder
	frame []byte

	from fs.FileInfo // file that is read; nil for one in an object store
	like fs.FileInfo // of the files that it holds something of, with the mode that all have in common
}

// restricted is a file with a narrower mode.
type restricted struct {
	fs.FileInfo
	mode fs.FileMode
}

func (r restricted) Mode() fs.FileMode { return r.mode }

// put adds a stretch of damage, whose bytes are those of in.
func (q *quarantine) put(d Damage, in io.ReaderAt) error {
	if d.Bytes == 0 {
		return nil
	}
	if q.f == nil {
		var err error
		if q.f, err = q.work(q.path); err != nil {
			return err
		}
		if q.out, err = tfrecord.NewWriter(osfile.File{File: q.f}, tfrecord.WriterOptions{}); err != nil {
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

// close writes what is left of it to its file.
func (q *quarantine) close() error {
	if err := q.out.Close(); err != nil {
		return fmt.Errorf("write %s: %w", q.path, err)
	}
	return nil
}

// abort throws away what has no name yet.
func (q *quarantine) abort() {
	if q.f != nil {
		atomicfile.Discard(q.f)
	}
}
