package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// mended is what was saved of a file, not in place yet.
type mended struct {
	*salvage
	f    *os.File // holds it
	work func(path string) (*os.File, error)
	c    tfrecord.Compression
	info Info
	// indexed says that the damaged file has an index.
	indexed bool
}

// place puts the file where it belongs, in the place of what is there, with an
// index when there is to be one. There is never an index of another file beside
// it: one misleads whoever repairs again after a crash.
func (m *mended) place(path string, indexed bool) error {
	if err := m.replace(path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	m.f = nil
	if indexed && m.c == tfrecord.None {
		return writeIndex(path, path, m.work)
	}
	return nil
}

// replace puts the file in the place of one that may have an index. Where it
// cannot, that stays.
func (m *mended) replace(path string) error {
	index := IndexPath(path)
	if _, err := os.Lstat(index); notThere(err) {
		return place(m.f, path)
	}
	aside, err := m.work(index)
	if err != nil {
		return err
	}
	defer atomicfile.Discard(aside)
	if err := aside.Close(); err != nil {
		return err
	}
	if err := os.Rename(index, aside.Name()); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(filepath.Dir(index)); err != nil {
		return err
	}
	if err := place(m.f, path); err != nil {
		return errors.Join(err, os.Rename(aside.Name(), index))
	}
	return nil
}

// abort throws it away. It does nothing after place.
func (m *mended) abort() {
	if m.f != nil {
		atomicfile.Discard(m.f)
	}
}

// mend saves what there is of a file into one beside out, and puts what is lost
// into q.
func (r *repair) mend(source Source, out string, q *quarantine) (*mended, error) {
	m := &mended{work: r.work, salvage: &salvage{
		o: r.o, want: -1, lose: q.put,
		file: RepairedFile{Path: source.Path, Out: out, RecordsLostExact: true},
	}}
	if source.Info != nil {
		m.want = source.Info.Records
	}
	_, err := storage.Stat(IndexPath(source.Path))
	m.indexed = err == nil
	if m.f, err = r.work(out); err != nil {
		return nil, err
	}
	to := &sink{f: &localDraft{f: m.f}, sum: sha256.New()}
	if err := r.fill(m, source, to); err != nil {
		m.abort()
		return nil, fmt.Errorf("repair %s: %w", source.Path, err)
	}
	m.info = Info{
		File: filepath.Base(out), Records: m.file.RecordsSaved, Bytes: to.bytes, SHA256: hex.EncodeToString(to.sum.Sum(nil)),
	}
	if source.Info != nil && len(m.damage) == 0 && m.info.SHA256 != source.Info.SHA256 && m.file.Note == "" {
		m.file.Note = "nothing is wrong with it, but its SHA-256 is not the manifest's"
	}
	return m, nil
}

// fill writes to the file what can be saved of source.
func (r *repair) fill(m *mended, source Source, to *sink) error {
	f, err := openSequential(r.ctx, source.Path)
	if err != nil {
		if !notThere(err) || source.Info == nil {
			return err
		}
		m.c, _ = tfrecord.ParseCompression(source.Set.Compression)
		return m.add(Damage{
			Path: source.Path, Records: source.Info.Records, Exact: true,
			Reason: fmt.Sprintf("%s: the manifest names this shard, but there is no such file", tfrecord.PartMissing),
		}, nil)
	}
	defer f.Close()
	in := heldFile{r.ctx, f, r.o.Progress}
	if m.c, err = compressionOf(in, source, r.o); err != nil {
		return err
	}
	var fault error
	if m.c != tfrecord.None {
		if m.file.RecordsSaved, m.bytes, fault, err = isWhole(in, m.c, r.o); err != nil {
			return err
		}
		if fault == nil {
			if err := copyWhole(in, to); err != nil {
				return err
			}
			return m.settle()
		}
	} else {
		size, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		if m.guide, err = readGuide(source.Path, size); err != nil {
			return err
		}
	}
	w, err := tfrecord.NewWriter(to, tfrecord.WriterOptions{Compression: m.c})
	if err != nil {
		return err
	}
	m.give = w.WriteRecord
	if m.c == tfrecord.None {
		err = m.frames(in)
	} else {
		err = m.inflated(in, fault)
	}
	if err == nil {
		err = m.settle()
	}
	return errors.Join(err, w.Close())
}

// inflated goes through a damaged compressed file by way of a temporary one.
func (m *mended) inflated(in heldFile, fault error) error {
	temp, err := m.work(m.file.Out + " uncompressed")
	if err != nil {
		return err
	}
	defer atomicfile.Discard(temp)
	size, err := in.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	return m.compressed(in, size, m.c, fault, temp)
}

// file repairs a single file into another.
func (r *repair) file(source Source, out string) error {
	q := &quarantine{path: out + QuarantineSuffix, work: r.work}
	if err := mustBeFree(out); err != nil {
		return err
	}
	defer q.abort()
	m, err := r.mend(source, out, q)
	if err != nil {
		return err
	}
	defer m.abort()
	if m.nothing() {
		return r.hopeless(m)
	}
	if err := q.commitNew(); err != nil {
		return err
	}
	if err := m.place(out, m.indexed); err != nil {
		os.Remove(filepath.Dir(IndexPath(out))) // fails, as it should, when it holds others'
		return errors.Join(err, atomicfile.Remove(out), q.takeBack())
	}
	if m.file.BytesLost > 0 {
		r.report.Quarantine = q.path
	}
	r.add(m.salvage)
	return nil
}

// nothing reports whether a file is damaged and has no record left.
func (m *mended) nothing() bool { return m.file.RecordsSaved == 0 && len(m.damage) > 0 }

// hopeless gives up a single file of which nothing is left.
func (r *repair) hopeless(m *mended) error {
	m.file.Out = ""
	r.add(m.salvage)
	return fmt.Errorf("%s: %w", m.file.Path, ErrNothingSaved)
}

// damagedDir is the folder beside a repaired file that keeps it as it was.
const damagedDir = "damaged"

// fileInPlace repairs a single file in its place, and the manifest that names it.
func (r *repair) fileInPlace(source Source) error {
	if source.Set == nil {
		return r.inPlace([]Source{source}, nil)
	}
	dir, err := OpenDir(r.ctx, source.Set.Dir, DirOptions{})
	if err != nil {
		return err
	}
	defer dir.Close()
	r.dir = dir
	return r.inPlace([]Source{source}, source.Set)
}

// mendInPlace repairs a file in its place, and leaves one alone that nothing is
// wrong with, or that has no record left and may be no file of records.
func (r *repair) mendInPlace(source Source) (*mended, error) {
	path := source.Path
	original, err := freeName(filepath.Join(filepath.Dir(path), damagedDir), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	q := &quarantine{path: original + QuarantineSuffix, mkdir: true, work: r.work}
	defer q.abort()
	m, err := r.mend(source, path, q)
	if err != nil {
		return nil, err
	}
	defer m.abort()
	if len(m.damage) == 0 {
		return m, r.addIndex(m)
	}
	if source.Set == nil && m.nothing() {
		return nil, r.hopeless(m)
	}
	st, err := os.Lstat(path)
	if err == nil && st.Mode().Type() == fs.ModeSymlink {
		// To keep the link would keep nothing: it may lead elsewhere from there.
		return nil, fmt.Errorf("%s is damaged, and a symbolic link: repair what it leads to in its place, or into a new file", path)
	}
	missing := notThere(err)
	if m.file.BytesLost > 0 {
		m.file.Quarantine = q.path
	}
	if err := q.commit(); err != nil {
		return nil, err
	}
	if !missing {
		if err := makeFolder(filepath.Dir(original)); err != nil {
			return nil, err
		}
		if err := keepAs(path, original); err != nil {
			return nil, err
		}
		m.file.Original = original
	}
	return m, m.place(path, m.indexed || source.Set != nil)
}

// addIndex makes the index of a file that nothing is wrong with, when it has
// none where others have: a repair that was stopped may have taken it away.
func (r *repair) addIndex(m *mended) error {
	if m.indexed || m.c != tfrecord.None || !isDir(filepath.Dir(IndexPath(m.file.Path))) {
		return nil
	}
	return writeIndex(m.file.Path, m.file.Path, r.work)
}

// freeName returns the path of a file of that name in dir, with a number behind
// the name when it is taken.
func freeName(dir, name string) (string, error) {
	for i := 1; ; i++ {
		path := filepath.Join(dir, name)
		if i > 1 {
			path += "." + strconv.Itoa(i)
		}
		_, err := os.Lstat(path)
		_, err2 := os.Lstat(path + QuarantineSuffix)
		switch {
		case notThere(err) && notThere(err2):
			return path, nil
		case err != nil && !notThere(err):
			return "", err
		}
	}
}

// keepAs gives the file at path another name, which nothing must have. Where
// files can have two names it keeps the first until something else takes it.
func keepAs(path, other string) error {
	if err := attempted("link", other); err != nil {
		return err
	}
	err := os.Link(path, other)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := mustBeFree(other); err != nil {
		return err
	}
	return os.Rename(path, other)
}
