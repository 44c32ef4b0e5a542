package shard

import (
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
// Writer is not safe for concurrent use.
type Writer struct{ to *setdir.Writer }

// WriteRecord appends a record. The caller may reuse it afterwards.
func (w *Writer) WriteRecord(record []byte) error { return w.to.WriteRecord(record) }

// WriteFrames appends records framed by tfrecord.AppendFrame; sizes are their sizes including
// framing. The frames are not checked. The caller may reuse both afterwards.
func (w *Writer) WriteFrames(frames []byte, sizes []int) error {
	return w.to.WriteFrames(frames, sizes)
}

// Records returns the number of records written so far.
func (w *Writer) Records() int64 { return w.to.Records() }

// Commit syncs the shard and publishes its index, then the shard itself. The returned value has no
// fingerprint and no labels: the caller fills them in. After an error the shard's name is as it was
// before, and the temporary files are removed.
func (w *Writer) Commit() (manifest.Shard, error) { return w.to.Commit() }

// Abort discards the shard. It does nothing after Commit.
func (w *Writer) Abort() { w.to.Abort() }
