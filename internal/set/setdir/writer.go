package setdir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/osfile"
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
// atomically; a process that dies earlier leaves a temporary file, which Dir.Sweep removes. A
// Writer is not safe for concurrent use.
type Writer struct {
	dir   *Dir
	file  string
	Data  *osfile.HashWriter
	draft place.Draft // that Data writes to
	out   *tfrecord.Writer

	indexDraft place.Draft // nil for compressed shards
	index      []byte      // not yet written to indexDraft
	part       bool        // made by CreatePart: the caller syncs the directories

	// What WriteLentFrames wrote, without out.
	lentBytes, lentRecords int64
}

// indexBuffer is the number of index bytes to buffer before writing.
const indexBuffer = 64 << 10

// Create starts a shard with the given file name in d.
func (d *Dir) Create(file string, o WriterOptions) (*Writer, error) {
	w, err := newWriter(d, file, o)
	if err != nil {
		return nil, err
	}
	w.Data.Aside = true
	return w, nil
}

// CreatePart is Create for one of many shards that are written concurrently: hashing is done in the
// writing goroutine, and Commit does not fsync the directories; the caller calls SyncNames once for
// all.
func (d *Dir) CreatePart(file string, o WriterOptions) (*Writer, error) {
	w, err := newWriter(d, file, o)
	if err != nil {
		return nil, err
	}
	w.part = true
	return w, nil
}

// SyncNames fsyncs the directories of shards and indexes so that renames are durable.
func (d *Dir) SyncNames() error { return d.at.SyncNames() }

func newWriter(d *Dir, file string, o WriterOptions) (*Writer, error) {
	if err := CheckName(file); err != nil {
		return nil, err
	}
	if err := inject.Fault(d.ctx, "create", d.Join(file)); err != nil {
		return nil, err
	}
	sum := sha256.New()
	f, err := d.at.Create(file, sum)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: d, file: file, Data: &osfile.HashWriter{To: f, Sum: sum}, draft: f}
	w.out, err = tfrecord.NewWriter(w.Data, tfrecord.WriterOptions{Compression: o.Compression, Level: o.Level})
	if err == nil && (o.Compression == tfrecord.CompressionAuto || o.Compression == tfrecord.CompressionNone) {
		w.indexDraft, err = d.at.Create(manifest.IndexName(file), nil)
	}
	if err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// WriteRecord appends a record.
func (w *Writer) WriteRecord(record []byte) error {
	offset := w.offset()
	if err := w.out.WriteRecord(record); err != nil {
		return w.explain(err)
	}
	if w.indexDraft == nil {
		return nil
	}
	w.addIndex(offset, int64(len(record))+tfrecord.Overhead)
	if err := w.writeIndex(indexBuffer); err != nil {
		return w.explain(err)
	}
	return nil
}

// WriteFrames appends records framed by tfrecord.AppendFrame; sizes are their sizes including
// framing. The frames are not checked. The caller may reuse frames afterwards.
func (w *Writer) WriteFrames(frames []byte, sizes []int) error {
	offset := w.offset()
	err := w.out.WriteFrames(frames, len(sizes))
	if err == nil {
		err = w.indexFrames(offset, sizes)
	}
	if err != nil {
		return w.explain(err)
	}
	return nil
}

// leastLent is the least size of frames that are not copied to a buffer.
const leastLent = 64 << 10

// WriteLentFrames is WriteFrames for frames that must not change until done is called, from any
// goroutine: they may be hashed later. sizes must not change until then, either.
func (w *Writer) WriteLentFrames(frames []byte, sizes []int, done func()) error {
	if w.indexDraft == nil || len(frames) < leastLent {
		defer done()
		return w.WriteFrames(frames, sizes)
	}
	err := w.out.Flush()
	if err == nil {
		err = w.indexFrames(w.offset(), sizes)
	}
	if err != nil {
		done()
		return w.explain(err)
	}
	w.lentBytes += int64(len(frames))
	w.lentRecords += int64(len(sizes))
	if _, err := w.Data.WriteLent(frames, done); err != nil {
		return w.explain(err)
	}
	return nil
}

// offset returns where the next record begins.
func (w *Writer) offset() int64 { return w.out.Offset() + w.lentBytes }

// Records returns the number of records written so far.
func (w *Writer) Records() int64 { return w.out.Records() + w.lentRecords }

// indexFrames indexes frames that begin at an offset.
func (w *Writer) indexFrames(offset int64, sizes []int) error {
	if w.indexDraft == nil {
		return nil
	}
	for _, n := range sizes {
		w.addIndex(offset, int64(n))
		offset += int64(n)
	}
	return w.writeIndex(indexBuffer)
}

func (w *Writer) addIndex(offset, size int64) {
	w.index = tfrecord.AppendIndex(w.index, tfrecord.IndexEntry{Offset: offset, Size: size})
}

// writeIndex writes the buffered index if it has at least least bytes.
func (w *Writer) writeIndex(least int) error {
	if len(w.index) < least || len(w.index) == 0 {
		return nil
	}
	if _, err := w.indexDraft.Write(w.index); err != nil {
		return err
	}
	w.index = w.index[:0]
	return nil
}

// Commit syncs the shard and publishes its index, then the shard itself. The returned value has no
// fingerprint and no labels: the caller fills them in. After an error the temporary files are
// removed, and the shard's name does not refer to anything new.
func (w *Writer) Commit() (manifest.Shard, error) {
	info, err := w.commit()
	if err != nil {
		w.Abort()
		return manifest.Shard{}, w.explain(err)
	}
	return info, nil
}

func (w *Writer) commit() (manifest.Shard, error) {
	if err := w.out.Close(); err != nil {
		return manifest.Shard{}, err
	}
	w.Data.Finish()
	// Remove the old shard first: after a crash it must not be left with the index of the new one.
	if err := w.draft.Clear(); err != nil {
		return manifest.Shard{}, err
	}
	if w.indexDraft != nil {
		if err := w.writeIndex(0); err != nil {
			return manifest.Shard{}, err
		}
		if err := w.indexDraft.Commit(w.part); err != nil {
			return manifest.Shard{}, err
		}
	} else if err := w.dir.at.Remove(manifest.IndexName(w.file)); err != nil {
		return manifest.Shard{}, err
	}
	if err := w.draft.Commit(w.part); err != nil {
		return manifest.Shard{}, err
	}
	return manifest.Shard{
		File:    w.file,
		Records: w.Records(),
		Bytes:   w.Data.Bytes,
		SHA256:  hex.EncodeToString(w.Data.Sum.Sum(nil)),
	}, nil
}

// Abort discards the shard. It does nothing after Commit.
func (w *Writer) Abort() {
	if w.out != nil {
		w.out.Close() // frees the compressor; its error does not matter here
	}
	w.Data.Abort()
	w.draft.Discard()
	if w.indexDraft != nil {
		w.indexDraft.Discard()
	}
}

func (w *Writer) explain(err error) error {
	return fmt.Errorf("write shard %s: %w", w.dir.Join(w.file), err)
}
