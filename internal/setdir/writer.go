package setdir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/osfile"
	"github.com/tfrec/tfrec/tfrecord"
)

// WriterOptions says how a shard is written.
type WriterOptions struct {
	// Compression of the whole file. Default: none. Compressed shards have no index.
	Compression tfrecord.Compression
	// Level of compression; 0 is the algorithm's default.
	Level int
}

// Writer writes one shard. Nothing has the shard's name until Commit, which
// puts it in place whole; a process that dies before leaves a temporary file
// that Dir.Sweep removes. Not safe for concurrent use.
type Writer struct {
	dir   *Dir
	file  string
	Data  *osfile.HashWriter
	draft draft // that data writes into
	out   *tfrecord.Writer

	indexDraft draft  // nil for compressed shards
	index      []byte // that is not in indexDraft yet
	part       bool   // of a set whose directories its maker syncs
}

// indexBuffer is how much of an index is written at a time.
const indexBuffer = 64 << 10

// Create starts a shard with the given file name in d.
func (d *Dir) Create(file string, o WriterOptions) (*Writer, error) {
	w, err := d.create(file, o)
	if err != nil {
		return nil, err
	}
	w.Data.Aside = true
	return w, nil
}

// CreatePart is Create for one shard of many that are made at a time: it hashes
// where it is written, and its Commit leaves the names in the directories to
// be synced by SyncNames, once for all.
func (d *Dir) CreatePart(file string, o WriterOptions) (*Writer, error) {
	w, err := d.create(file, o)
	if err != nil {
		return nil, err
	}
	w.part = true
	return w, nil
}

// SyncNames makes the names of the shards and indexes in the directory last.
func (d *Dir) SyncNames() error { return d.at.syncNames() }

func (d *Dir) create(file string, o WriterOptions) (*Writer, error) {
	if err := CheckName(file); err != nil {
		return nil, err
	}
	if err := inject.Fault("create", d.Join(file)); err != nil {
		return nil, err
	}
	sum := sha256.New()
	f, err := d.at.create(file, sum)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: d, file: file, Data: &osfile.HashWriter{To: f, Sum: sum}, draft: f}
	w.out, err = tfrecord.NewWriter(w.Data, tfrecord.WriterOptions{Compression: o.Compression, Level: o.Level})
	if err == nil && (o.Compression == tfrecord.Auto || o.Compression == tfrecord.None) {
		w.indexDraft, err = d.at.create(IndexName(file), nil)
	}
	if err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// WriteRecord appends a record.
func (w *Writer) WriteRecord(record []byte) error {
	offset := w.out.Offset()
	if err := w.out.WriteRecord(record); err != nil {
		return w.explain(err)
	}
	if w.indexDraft == nil {
		return nil
	}
	w.addIndex(offset, int64(len(record))+tfrecord.Overhead)
	return w.writeIndex(indexBuffer)
}

// WriteFrames appends records that tfrecord.AppendFrame framed, of the given
// sizes with framing. The frames are trusted to be right; frames may be
// reused when WriteFrames returns.
func (w *Writer) WriteFrames(frames []byte, sizes []int) error {
	offset := w.out.Offset()
	if err := w.out.WriteFrames(frames, len(sizes)); err != nil {
		return w.explain(err)
	}
	if w.indexDraft == nil {
		return nil
	}
	for _, n := range sizes {
		w.addIndex(offset, int64(n))
		offset += int64(n)
	}
	return w.writeIndex(indexBuffer)
}

// Records returns how many records were written so far.
func (w *Writer) Records() int64 { return w.out.Records() }

func (w *Writer) addIndex(offset, size int64) {
	w.index = tfrecord.AppendIndex(w.index, tfrecord.IndexEntry{Offset: offset, Size: size})
}

// writeIndex writes what there is of the index, if that is as much as least.
func (w *Writer) writeIndex(least int) error {
	if len(w.index) < least || len(w.index) == 0 {
		return nil
	}
	if _, err := w.indexDraft.Write(w.index); err != nil {
		return w.explain(err)
	}
	w.index = w.index[:0]
	return nil
}

// Commit syncs the shard, puts its index in place, then the shard itself. The
// Info it returns has no fingerprint and no labels: those are the caller's to
// fill in. After an error nothing has the shard's name that did not have it
// before, and the temporary files are gone.
func (w *Writer) Commit() (Info, error) {
	info, err := w.commit()
	if err != nil {
		w.Abort()
		return Info{}, w.explain(err)
	}
	return info, nil
}

func (w *Writer) commit() (Info, error) {
	if err := w.out.Close(); err != nil {
		return Info{}, err
	}
	// A shard that is replaced goes first: a crash before the new one is in place
	// must not leave it beside the new one's index.
	if err := w.draft.clear(); err != nil {
		return Info{}, err
	}
	if w.indexDraft != nil {
		if err := w.writeIndex(0); err != nil {
			return Info{}, err
		}
		if err := w.indexDraft.commit(w.part); err != nil {
			return Info{}, err
		}
	} else if err := w.dir.at.remove(IndexName(w.file)); err != nil {
		return Info{}, err
	}
	if err := w.draft.commit(w.part); err != nil {
		return Info{}, err
	}
	return Info{
		File:    w.file,
		Records: w.out.Records(),
		Bytes:   w.Data.Bytes,
		SHA256:  hex.EncodeToString(w.Data.Sum.Sum(nil)),
	}, nil
}

// Abort throws away what was written. It does nothing to a committed shard.
func (w *Writer) Abort() {
	if w.out != nil {
		w.out.Close() // frees the compressor; its error is of no use here
	}
	w.draft.discard()
	if w.indexDraft != nil {
		w.indexDraft.discard()
	}
}

func (w *Writer) explain(err error) error {
	return fmt.Errorf("write shard %s: %w", w.dir.Join(w.file), err)
}
