package repair

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/compare"
	"github.com/tfrec/tfrec/internal/osfile"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// salvagedFile is what was saved of a file, not in place yet.
type salvagedFile struct {
	*salvage
	// like is the file as it was; nil when there is none, or in an object store.
	like fs.FileInfo
	// f holds what was saved; nil where OUT has just that already.
	f    *os.File
	c    tfrecord.Compression
	info shard.Info
	// index holds the index of what was saved, and indexIs says what the one
	// beside the file is. A compressed file has none.
	index     *os.File
	indexIs   IndexStatus
	indexLike fs.FileInfo // the index in place; nil when there is none, or in an object store
	absent    bool        // the manifest names the file, but there is none
}

// indexMode is what the mode of the index is taken from: that of the one in place or,
// for a new one, of the file.
func (s *salvagedFile) indexMode() fs.FileInfo {
	if s.indexLike != nil {
		return s.indexLike
	}
	return s.like
}

// rewritten reports whether what was saved is not, byte for byte, the file.
func (s *salvagedFile) rewritten() bool {
	return s.absent || s.file.BytesLost > 0 || s.c != tfrecord.None && len(s.damage) > 0
}

// unrecoverable reports whether a file is damaged and has no record left.
func (s *salvagedFile) unrecoverable() bool { return s.file.RecordsSaved == 0 && len(s.damage) > 0 }

// abort throws away what is not in place.
func (s *salvagedFile) abort() {
	for _, f := range []*os.File{s.f, s.index} {
		if f != nil {
			atomicfile.Discard(f)
		}
	}
	s.f, s.index = nil, nil
}

// salvageFile saves what there is of a file into a temporary one for out, and
// puts what is lost into q. Where OUT exists it compares the two instead, and
// returns compare.ErrDiffers.
func (r *repair) salvageFile(source shard.Source, out string, q *quarantine) (*salvagedFile, error) {
	s := &salvagedFile{salvage: &salvage{
		o: r.o, want: -1, lose: q.put,
		file: RepairedFile{Path: source.Path, Out: out, RecordsLostExact: true},
	}}
	if source.Info != nil {
		s.want = source.Info.Records
	}
	err := r.salvageTo(s, source, out, q)
	if err != nil {
		s.abort()
		return nil, fmt.Errorf("repair %s: %w", source.Path, err)
	}
	s.info.File, s.info.Records = filepath.Base(out), s.file.RecordsSaved
	if len(s.damage) == 0 {
		s.file.Note = "" // about an index of another file
		if source.Info != nil && s.info.SHA256 != source.Info.SHA256 {
			s.file.Note = "no damage was found, but its SHA-256 does not match the manifest"
		}
	}
	return s, nil
}

func (r *repair) salvageTo(s *salvagedFile, source shard.Source, out string, q *quarantine) (err error) {
	to := &osfile.HashWriter{Sum: sha256.New()}
	if r.finished {
		same, err := compare.Open(r.ctx, out)
		if err != nil {
			return err
		}
		defer same.Close()
		same.Strict = true
		to.To = same
		if err := r.salvageInto(s, source, out, to, q); err != nil {
			return err
		}
		equal, err := same.Equal()
		if err == nil && !equal {
			err = compare.ErrDiffers
		}
		return err
	}
	if s.f, err = r.work(out); err != nil {
		return err
	}
	to.To = &osfile.Drained{F: s.f}
	return r.salvageInto(s, source, out, to, q)
}

// salvageInto writes what can be saved of source to the file that is to be out,
// and its index.
func (r *repair) salvageInto(s *salvagedFile, source shard.Source, out string, to *osfile.HashWriter, q *quarantine) error {
	f, err := recordscan.Open(r.ctx, source.Path)
	switch {
	case err == nil:
		defer f.Close()
	case storage.Missing(err) && source.Info != nil:
		s.absent = true
	default:
		return err
	}
	in := heldFile{r.ctx, f, r.o.Progress}
	if s.absent {
		s.c, err = tfrecord.ParseCompression(source.Set.Compression)
	} else {
		if !storage.Remote(source.Path) {
			if s.like, err = f.Stat(); err != nil {
				return err
			}
		}
		q.from = s.like
		s.c, err = compressionOf(in, source, r.o)
	}
	if err != nil {
		return err
	}
	var index *indexDraft
	if s.c == tfrecord.None {
		if s.index, err = r.work(out + ".idx"); err != nil {
			return err
		}
		if index, err = draftIndex(r.ctx, shard.IndexPath(source.Path), s.index); err != nil {
			return err
		}
		defer index.close()
		if !index.inPlace.Missing() && !storage.Remote(source.Path) {
			if s.indexLike, err = index.inPlace.Stat(); err != nil {
				return err
			}
		}
	}
	if s.absent {
		err = s.add(Damage{
			Path: source.Path, Records: source.Info.Records, Exact: true,
			Reason: fmt.Sprintf("%s: the manifest names this shard, but there is no such file", tfrecord.PartMissing),
		}, nil)
	} else {
		err = r.fill(s, source, in, to, index)
	}
	if err == nil && index != nil {
		s.indexIs, err = index.finish()
	}
	if err != nil {
		return err
	}
	s.info.Bytes, s.info.SHA256 = to.Bytes, hex.EncodeToString(to.Sum.Sum(nil))
	if source.Info != nil && s.info.SHA256 == source.Info.SHA256 {
		s.guide = nil // it is the file that the manifest describes, whatever an index says
	}
	if s.absent {
		return nil
	}
	return s.settle()
}

// fill writes to the file what can be saved of in.
func (r *repair) fill(s *salvagedFile, source shard.Source, in heldFile, to *osfile.HashWriter, index *indexDraft) (err error) {
	if s.c == tfrecord.None {
		return r.fillFrames(s, source, in, to, index, nil)
	}
	var fault error
	if s.file.RecordsSaved, s.bytes, fault, err = isWhole(in, s.c, r.o); err != nil {
		return err
	}
	if fault == nil {
		return copyWhole(in, to)
	}
	s.file.RecordsSaved, s.bytes = 0, 0
	return r.fillFrames(s, source, in, to, nil, fault)
}

func (r *repair) fillFrames(s *salvagedFile, source shard.Source, in heldFile, to *osfile.HashWriter, index *indexDraft, fault error) error {
	w, err := tfrecord.NewWriter(to, tfrecord.WriterOptions{Compression: s.c})
	if err != nil {
		return err
	}
	s.give = w.WriteRecord
	if s.c != tfrecord.None {
		err = s.inflated(in, fault, r.work)
	} else {
		s.give = func(record []byte) error {
			if err := index.add(w.Offset(), int64(len(record))+tfrecord.Overhead); err != nil {
				return err
			}
			return w.WriteRecord(record)
		}
		if s.guide, err = r.guideOf(source, in); err == nil {
			err = s.frames(in)
		}
	}
	return errors.Join(err, w.Close())
}

// guideOf makes a guide of the index of a plain file or, where an interrupted
// repair in place has moved that away, of the one that it kept.
func (r *repair) guideOf(source shard.Source, in heldFile) (*guide, error) {
	size, err := in.f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	g, found, err := readGuide(r.ctx, shard.IndexPath(source.Path), size)
	if found || err != nil || !r.isInPlace {
		return g, err
	}
	kept, err := keptOriginal(r.ctx, source.Path)
	if kept == "" || err != nil {
		return nil, err
	}
	g, _, err = readGuide(r.ctx, shard.IndexPath(kept), size)
	return g, err
}

// inflated goes through a damaged compressed file by way of a temporary one.
func (s *salvagedFile) inflated(in heldFile, fault error, work func(path string) (*os.File, error)) error {
	temp, err := work(s.file.Out + " uncompressed")
	if err != nil {
		return err
	}
	defer atomicfile.Discard(temp)
	size, err := in.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	return s.compressed(in, size, s.c, fault, temp)
}

// file repairs a single file into another.
func (r *repair) file(source shard.Source, out string) (err error) {
	if err := r.findFinished(source.Path, out); err != nil {
		return err
	}
	q := &quarantine{path: out + shard.QuarantineSuffix, work: r.work}
	defer q.abort()
	s, err := r.salvageFile(source, out, q)
	if errors.Is(err, compare.ErrDiffers) {
		return errTaken(out)
	}
	if err != nil {
		return err
	}
	defer s.abort()
	if s.unrecoverable() {
		return r.giveUp(s)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.takeBack())
		}
	}()
	if err := r.putQuarantine(q); err != nil {
		return err
	}
	if err := r.putNew(s, out, s.indexIs == IndexCurrent || s.indexIs == IndexWrong); err != nil {
		return err
	}
	if s.indexIs == IndexWrong && len(s.damage) == 0 {
		s.file.Index = s.indexIs
	}
	r.add(s.salvage)
	return nil
}

// findFinished looks whether out exists: it may be what a repair that was killed
// at its very end has written.
func (r *repair) findFinished(in, out string) error {
	st, err := os.Lstat(out)
	if storage.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	from, err := storage.Stat(r.ctx, in)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() || !storage.Remote(in) && os.SameFile(st, from) {
		return errTaken(out)
	}
	r.finished = true
	return nil
}

// giveUp reports a single file of which nothing is left.
func (r *repair) giveUp(s *salvagedFile) error {
	s.file.Out = ""
	r.add(s.salvage)
	return fmt.Errorf("%s: %w", s.file.Path, ErrNothingSaved)
}
