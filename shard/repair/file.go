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

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// salvagedFile is the saved content of a file, before it is put in place.
type salvagedFile struct {
	*salvage
	// like is the original file; nil without one, or in an object store.
	like fs.FileInfo
	// f has the saved records; nil if the output has them already.
	f    *os.File
	c    tfrecord.Compression
	info manifest.Shard
	// index has the index of the saved records, and indexIs is the status of the existing one. A
	// compressed file has no index.
	index     *os.File
	indexIs   IndexStatus
	indexLike fs.FileInfo // the existing index; nil if there is none, or in an object store
	absent    bool        // the manifest lists the file, but it does not exist
}

// indexMode returns the file info for the mode of the index: from the existing index or, for a new
// one, from the file.
func (s *salvagedFile) indexMode() fs.FileInfo {
	if s.indexLike != nil {
		return s.indexLike
	}
	return s.like
}

// rewritten reports whether the saved bytes differ from the file.
func (s *salvagedFile) rewritten() bool {
	return s.absent || s.file.BytesLost > 0 || s.c != tfrecord.CompressionNone && len(s.damage) > 0
}

// unrecoverable reports whether a file is damaged and has no intact record.
func (s *salvagedFile) unrecoverable() bool { return s.file.RecordsSaved == 0 && len(s.damage) > 0 }

// abort discards the temporary files.
func (s *salvagedFile) abort() {
	for _, f := range []*os.File{s.f, s.index} {
		if f != nil {
			atomicfile.Discard(f)
		}
	}
	s.f, s.index = nil, nil
}

// salvageFile saves a file to a temporary one for out, and adds the lost data to q. If out exists
// it compares the two instead, and returns compare.ErrDiffers if they differ.
func (r *repair) salvageFile(source shard.Source, out string, q *quarantine) (*salvagedFile, error) {
	s := &salvagedFile{salvage: &salvage{
		o: r.o, want: -1, lose: q.put,
		file: FileReport{Path: source.Path, Out: out, RecordsLostExact: true},
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
		return same.Finish()
	}
	if s.f, err = r.work(out); err != nil {
		return err
	}
	to.To = osfile.NewDrained(r.ctx, s.f, nil)
	return r.salvageInto(s, source, out, to, q)
}

// salvageInto writes what can be saved of source to the temporary file for out, and its index.
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
	if s.c == tfrecord.CompressionNone {
		if s.index, err = r.work(out + ".idx"); err != nil {
			return err
		}
		if index, err = draftIndex(r.ctx, manifest.IndexPath(source.Path), s.index); err != nil {
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

// fill writes what can be saved of in to the temporary file.
func (r *repair) fill(s *salvagedFile, source shard.Source, in heldFile, to *osfile.HashWriter, index *indexDraft) error {
	if s.c == tfrecord.CompressionNone {
		return r.fillFrames(s, source, in, to, index, nil)
	}
	whole, err := scanOf(in, s.c, r.o)
	if err != nil {
		return err
	}
	if whole.fault != nil {
		return r.fillFrames(s, source, in, to, nil, whole.fault)
	}
	s.file.RecordsSaved, s.bytes = whole.records, whole.bytes
	if err := copyWhole(in, to, whole.sum.Sum(nil)); err != nil {
		return fmt.Errorf("copy %s: %w", source.Path, err)
	}
	return nil
}

func (r *repair) fillFrames(s *salvagedFile, source shard.Source, in heldFile, to *osfile.HashWriter, index *indexDraft, fault error) error {
	w, err := tfrecord.NewWriter(to, tfrecord.WriterOptions{Compression: s.c})
	if err != nil {
		return err
	}
	s.give = w.WriteRecord
	if s.c != tfrecord.CompressionNone {
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

// guideOf returns a guide from the index of a plain file or, if an interrupted repair in place has
// moved that away, from the kept one.
func (r *repair) guideOf(source shard.Source, in heldFile) (*guide, error) {
	size, err := in.f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	g, found, err := readGuide(r.ctx, manifest.IndexPath(source.Path), size)
	if found || err != nil || !r.isInPlace {
		return g, err
	}
	kept, err := keptOriginal(r.ctx, source.Path)
	if kept == "" || err != nil {
		return nil, err
	}
	g, _, err = readGuide(r.ctx, manifest.IndexPath(kept), size)
	return g, err
}

// inflated salvages a damaged compressed file through a temporary uncompressed one.
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
	q := &quarantine{ctx: r.ctx, path: out + setdir.QuarantineSuffix, work: r.work}
	defer q.abort()
	s, err := r.salvageFile(source, out, q)
	if errors.Is(err, compare.ErrDiffers) {
		return output.Differs(out, "")
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

// findFinished checks whether out exists: a repair that was killed at its very end may have written
// it.
func (r *repair) findFinished(in, out string) error {
	exists, err := output.Find(r.ctx, out)
	if err == nil && exists {
		err = output.NotInput(r.ctx, out, in)
	}
	r.finished = exists
	return err
}

// giveUp reports a single file without any intact record.
func (r *repair) giveUp(s *salvagedFile) error {
	s.file.Out = ""
	r.add(s.salvage)
	return fmt.Errorf("%s: %w", s.file.Path, ErrNothingSaved)
}
