package shard

import (
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/tfrecord"
)

// WriterOptions say how a shard is written.
type WriterOptions struct {
	// Compression of the whole file. Default: none. Compressed shards have no index.
	Compression tfrecord.Compression
	// Level of compression; 0 is the algorithm's default.
	Level int
}

// Writer writes one shard. Nothing has the shard's name until Commit, which puts it in place
// whole; a process that dies before leaves a temporary file that the next run removes. It is not
// safe for concurrent use.
type Writer struct{ to *setdir.Writer }

// WriteRecord appends a record, which may be reused when it returns.
func (w *Writer) WriteRecord(record []byte) error { return w.to.WriteRecord(record) }

// WriteFrames appends records that tfrecord.AppendFrame framed, of the given sizes with framing.
// The frames are trusted to be right, and may be reused when it returns.
func (w *Writer) WriteFrames(frames []byte, sizes []int) error {
	return w.to.WriteFrames(frames, sizes)
}

// Records returns how many records were written so far.
func (w *Writer) Records() int64 { return w.to.Records() }

// Commit syncs the shard, puts its index in place, then the shard itself. The Info it returns has
// no fingerprint and no labels: the caller fills them in. After an error nothing has the shard's
// name that did not have it before, and the temporary files are gone.
func (w *Writer) Commit() (Info, error) { return w.to.Commit() }

// Abort throws away what was written. It does nothing to a committed shard.
func (w *Writer) Abort() { w.to.Abort() }
