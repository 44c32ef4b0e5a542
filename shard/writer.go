package shard

import (
	"context"
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// WriterOptions configures a Writer.
type WriterOptions struct {
	// Compression of the whole file. Default: none. Compressed shards have no index.
	Compression tfrecord.Compression
	// Level of compression; 0 is the algorithm's default.
	Level int
}

// Writer writes a shard. The shard's name does not appear until Commit, which publishes it
// atomically; a process that dies earlier leaves a temporary file, which the next run removes. A
// Writer is not safe for concurrent use, but several Writers of one Dir are.
type Writer struct {
	dir  *Dir
	file string
	o    WriterOptions
	scan *features.Scan // of the records, for PutSet

	mu   sync.Mutex // for Dir.Close
	to   *setdir.Writer
	done bool
	info manifest.Shard // once committed
}

func newWriter(d *Dir, file string, o WriterOptions, to *setdir.Writer) *Writer {
	return &Writer{dir: d, file: file, o: o, to: to, scan: features.NewScan()}
}

// WriteRecord appends a record. The caller may reuse it afterwards.
func (w *Writer) WriteRecord(record []byte) error {
	return w.write(func() error {
		w.scan.Add(record)
		return w.to.WriteRecord(record)
	})
}

// WriteFrames appends records framed by tfrecord.AppendFrame; sizes are their sizes including
// framing. Checksums are not verified. The caller may reuse both afterwards.
func (w *Writer) WriteFrames(frames []byte, sizes []int) error {
	return w.write(func() error {
		at := 0
		for _, n := range sizes {
			if n < tfrecord.Overhead || n > len(frames)-at {
				return fmt.Errorf("write shard %s: a frame of %d bytes at %d of %d", w.file, n, at, len(frames))
			}
			w.scan.Add(recordscan.Payload(frames[at : at+n]))
			at += n
		}
		if at != len(frames) {
			return fmt.Errorf("write shard %s: frames of %d bytes, and sizes of %d", w.file, len(frames), at)
		}
		return w.to.WriteFrames(frames, sizes)
	})
}

// write calls f, which writes, unless the Writer is closed or the context of the directory is done.
func (w *Writer) write(f func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	return f()
}

// usable returns the error for a Writer that cannot be used any more. The caller holds mu.
func (w *Writer) usable() error {
	if w.done {
		return fmt.Errorf("write shard %s: %w", w.file, ErrClosed)
	}
	if w.dir.ctx.Err() != nil {
		return fmt.Errorf("write shard %s: %w", w.file, context.Cause(w.dir.ctx))
	}
	return nil
}

// Records returns the number of records written so far.
func (w *Writer) Records() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Records()
}

// Commit syncs the shard and publishes its index, then the shard itself; if the directory has a set,
// PutSet publishes them. The returned value has no fingerprint and no labels: the caller may fill them
// in. After an error the shard's name is as it was before, and the temporary files are removed.
func (w *Writer) Commit() (manifest.Shard, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return manifest.Shard{}, err
	}
	w.done = true
	info, err := w.to.Commit()
	w.info = info
	w.dir.ended(w, err == nil)
	return info, err
}

// Abort discards the shard. It does nothing after Commit.
func (w *Writer) Abort() {
	if w.abort() {
		w.dir.ended(w, false)
	}
}

// abort is Abort without telling the directory. It reports whether there was something to discard.
func (w *Writer) abort() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return false
	}
	w.done = true
	w.to.Abort()
	return true
}

// ended notes that a Writer was committed or aborted.
func (d *Dir) ended(w *Writer, committed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, w.file)
	if committed {
		d.committed[w.file] = w
	}
}
