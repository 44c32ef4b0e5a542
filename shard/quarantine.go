package shard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// QuarantineSuffix is what the name of a quarantine has behind that of what
// was repaired.
const QuarantineSuffix = ".quarantine"

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
func ReadQuarantine(path string) iter.Seq2[Quarantined, error] {
	return func(yield func(Quarantined, error) bool) {
		r, err := Open(path, tfrecord.ReaderOptions{})
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
	path   string
	mkdir  bool // make the folder that it lies in
	work   func(path string) (*os.File, error)
	f      *os.File
	out    *tfrecord.Writer
	spans  int64
	placed bool // by commit
	chunk  []byte
	built  tfrecord.Builder
	frame  []byte
}

// put adds a stretch of damage, whose bytes are those of in.
func (q *quarantine) put(d Damage, in io.ReaderAt) error {
	if d.Bytes == 0 {
		return nil
	}
	if q.f == nil {
		if q.mkdir {
			if err := makeFolder(filepath.Dir(q.path)); err != nil {
				return err
			}
		}
		var err error
		if q.f, err = q.work(q.path); err != nil {
			return err
		}
		if q.out, err = tfrecord.NewWriter(trialFile{q.f}, tfrecord.WriterOptions{}); err != nil {
			return err
		}
		q.chunk = make([]byte, quarantineChunk)
	}
	compressed := int64(0)
	if d.Compressed {
		compressed = 1
	}
	for offset, end := d.Offset, d.Offset+d.Bytes; offset < end; {
		n, err := in.ReadAt(q.chunk[:min(quarantineChunk, end-offset)], offset)
		if n == 0 {
			return fmt.Errorf("read what is damaged in %s: %w", d.Path, err)
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

// commit puts the quarantine in place, when there is anything in it.
func (q *quarantine) commit() error {
	if q.f == nil {
		return nil
	}
	if err := q.out.Close(); err != nil {
		return fmt.Errorf("write %s: %w", q.path, err)
	}
	if err := place(q.f, q.path); err != nil {
		return err
	}
	q.f, q.placed = nil, true
	return nil
}

// takeBack removes what was committed.
func (q *quarantine) takeBack() error {
	if !q.placed {
		return nil
	}
	q.placed = false
	return atomicfile.Remove(q.path)
}

// commitNew is commit where nothing must be at the path but the same, which a
// repair leaves that is killed in between.
func (q *quarantine) commitNew() error {
	if _, err := os.Lstat(q.path); err == nil {
		same := false
		if q.f != nil {
			if same, err = sameContent(q.f.Name(), q.path); err != nil {
				return err
			}
		}
		if !same {
			return mustBeFree(q.path)
		}
		q.abort()
		q.f = nil
		return nil
	}
	return q.commit()
}

// sameContent compares two files.
func sameContent(a, b string) (bool, error) {
	f, err := storage.Open(context.Background(), a)
	if err != nil {
		return false, err
	}
	defer f.Close()
	g, err := storage.Open(context.Background(), b)
	if err != nil {
		return false, err
	}
	defer g.Close()
	same := comparison{in: bufio.NewReader(g)}
	if _, err := io.Copy(&same, f); err != nil {
		return false, err
	}
	return same.ends(), nil
}

// abort throws it away, with the folder that it lies in when nothing else does.
// It does nothing after commit.
func (q *quarantine) abort() {
	if q.f == nil {
		return
	}
	atomicfile.Discard(q.f)
	if q.mkdir {
		os.Remove(filepath.Dir(q.path)) // fails, as it should, when something is in it
	}
}
