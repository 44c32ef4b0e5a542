package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// damagedDir is the directory for the original of a repaired file, next to it.
const damagedDir = "damaged"

// inPlace repairs a file, a directory or a set in place. A set is replaced atomically by a journal
// (see replace.go), other files one by one.
func (r *repair) inPlace(in string, isFile bool) (err error) {
	path := in
	if isFile || manifest.IsPath(in) {
		path = storage.Dir(in)
	}
	if err := osfile.RefuseLink(filepath.Join(path, damagedDir)); err != nil {
		return err
	}
	lone := false
	if isFile {
		if lone, err = r.isLone(in); err != nil {
			return err
		}
	}
	if !lone {
		if r.dir, err = setdir.OpenAsIs(r.ctx, path, setdir.Options{}); err != nil { // resume completes an interrupted change
			return err
		}
		defer r.dir.Close()
		if done, err := r.resume(in); done || err != nil {
			return err
		}
		if err := r.dir.Sweep(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.dir.Sweep()) }()
	}
	sources, err := r.sourcesOf(in)
	if err != nil {
		return err
	}
	for _, source := range sources {
		r.o.Progress.Plan(r.ctx, source.Path)
	}
	if set := sources[0].Set; set != nil && !lone {
		file := manifest.File
		if manifest.IsPath(in) {
			file = filepath.Base(in)
		}
		return r.setInPlace(sources, set, file, in)
	}
	for _, source := range sources {
		if err := r.fileInPlace(source); err != nil {
			return err
		}
	}
	return nil
}

// isLone reports whether no manifest in the file's directory lists it.
func (r *repair) isLone(in string) (bool, error) {
	sources, err := shard.Expand(r.ctx, []string{in}, shard.ExpandOptions{})
	return err == nil && sources[0].Set == nil, err
}

// salvageInPlace salvages a file that is to be replaced, if it or its index is damaged.
func (r *repair) salvageInPlace(source shard.Source) (*salvagedFile, *quarantine, error) {
	q := &quarantine{ctx: r.ctx, path: source.Path + setdir.QuarantineSuffix, work: r.work}
	s, err := r.salvageFile(source, source.Path, q)
	if err != nil {
		q.abort()
		return nil, nil, err
	}
	err = r.judge(s, source)
	if err != nil {
		s.abort()
		q.abort()
		return nil, nil, err
	}
	return s, q, nil
}

// judge decides what to replace: only the index if the records are intact.
func (r *repair) judge(s *salvagedFile, source shard.Source) error {
	if source.Set == nil && s.unrecoverable() {
		return r.giveUp(s) // it may not be a record file
	}
	indexed := source.Set != nil || s.indexIs == IndexCurrent || s.indexIs == IndexWrong
	if s.c == tfrecord.CompressionNone && !indexed {
		// If other files have an index, an interrupted repair may have removed this one.
		var err error
		if indexed, err = osfile.Exists(r.ctx, filepath.Dir(manifest.IndexPath(s.file.Path))); err != nil {
			return err
		}
	}
	if !s.rewritten() {
		atomicfile.Discard(s.f)
		s.f = nil
		if indexed && s.c == tfrecord.CompressionNone && s.indexIs != IndexCurrent {
			s.file.Index = s.indexIs
		}
	}
	if s.index != nil && (!indexed || s.f == nil && s.indexIs == IndexCurrent) {
		atomicfile.Discard(s.index)
		s.index = nil
	}
	if s.f != nil && s.like != nil {
		st, err := os.Lstat(s.file.Path)
		if err == nil && st.Mode().Type() == fs.ModeSymlink {
			// Moving the link would not preserve the file, and the link may resolve differently
			// there.
			err = fmt.Errorf("%s is damaged and a symbolic link: repair its target, in place or into a new file", s.file.Path)
		}
		return err
	}
	if s.f == nil {
		return r.recall(s)
	}
	return nil
}

// fileInPlace repairs a file without a manifest. It never leaves the index of another file next to
// it, which would mislead the next repair after a crash.
func (r *repair) fileInPlace(source shard.Source) error {
	s, q, err := r.salvageInPlace(source)
	if err != nil {
		return err
	}
	defer s.abort()
	defer q.abort()
	if s.f != nil {
		if err := r.keep(s, q); err != nil {
			return errors.Join(err, r.takeBack())
		}
		if err := r.replace(s); err != nil {
			return err
		}
	}
	if s.index != nil {
		if err := r.replaceIndex(s); err != nil {
			return err
		}
	}
	r.placed = nil
	r.add(s.salvage)
	return nil
}

// replace replaces the file with what was saved. It removes the index first, which keep has
// preserved.
func (r *repair) replace(s *salvagedFile) error {
	path, index := s.file.Path, manifest.IndexPath(s.file.Path)
	indexed := s.indexIs == IndexCurrent || s.indexIs == IndexWrong
	var err error
	if indexed {
		err = osfile.Remove(r.ctx, index)
	}
	if err == nil {
		err = r.commit(s.f, path, s.like)
	}
	if err != nil { // the file is unchanged
		if is, statErr := osfile.Exists(r.ctx, index); indexed && !is && statErr == nil {
			err = errors.Join(err, r.link(manifest.IndexPath(s.file.Original), index))
		}
		return errors.Join(err, r.takeBack())
	}
	s.f = nil
	return atomicfile.SyncDir(filepath.Dir(path))
}

// replaceIndex puts the index of a file in place. It gets the mode of the index that it replaces,
// or of the file.
func (r *repair) replaceIndex(s *salvagedFile) error {
	index := manifest.IndexPath(s.file.Path)
	if err := r.makeDir(filepath.Dir(index)); err != nil {
		return err
	}
	if err := r.commit(s.index, index, s.indexMode()); err != nil {
		return err
	}
	s.index = nil
	return atomicfile.SyncDir(filepath.Dir(index))
}

// keep preserves the original of a file in the directory damaged next to it, with its index, its
// quarantine and its unreported file, and syncs them before anything is replaced. It skips
// originals that an interrupted repair has kept already.
func (r *repair) keep(s *salvagedFile, q *quarantine) error {
	dir := filepath.Join(filepath.Dir(s.file.Path), damagedDir)
	if err := r.makeDir(dir); err != nil {
		return err
	}
	if s.like != nil {
		if err := r.keepOriginal(s, q, dir); err != nil {
			return err
		}
	}
	if err := r.remember(s); err != nil {
		return err
	}
	return atomicfile.SyncDir(dir)
}

// keepOriginal preserves a file that exists in dir. It syncs the directory of the index, but not
// dir.
func (r *repair) keepOriginal(s *salvagedFile, q *quarantine, dir string) error {
	path := s.file.Path
	indexed := s.indexIs == IndexCurrent || s.indexIs == IndexWrong
	if indexed {
		if err := r.makeDir(filepath.Join(dir, manifest.IndexDir)); err != nil {
			return err
		}
	}
	lost := ""
	if q.f != nil {
		if err := q.close(); err != nil {
			return err
		}
		lost = q.f.Name()
	}
	for i := 1; ; i++ {
		original := numberedName(filepath.Join(dir, filepath.Base(path)), i)
		keeps := []keeping{{from: path, to: original}}
		if lost != "" {
			keeps = append(keeps, keeping{from: lost, to: original + setdir.QuarantineSuffix})
		}
		if indexed {
			keeps = append(keeps, keeping{from: manifest.IndexPath(path), to: manifest.IndexPath(original)})
		}
		free, err := freeFor(r.ctx, keeps)
		if err != nil {
			return err
		}
		if !free {
			continue
		}
		for _, k := range keeps {
			if err := r.keepAs(k, q, s.like); err != nil {
				return err
			}
		}
		s.file.Original = original
		if lost != "" {
			s.file.Quarantine = original + setdir.QuarantineSuffix
		}
		break
	}
	if indexed {
		return atomicfile.SyncDir(filepath.Join(dir, manifest.IndexDir))
	}
	return nil
}

// keeping is a file to keep under another name.
type keeping struct {
	from, to string
	done     bool // by an interrupted repair
}

// freeFor reports whether the names are free or have the same content. It sets done.
func freeFor(ctx context.Context, keeps []keeping) (bool, error) {
	for i := range keeps {
		k := &keeps[i]
		taken, err := osfile.Exists(ctx, k.to)
		if err != nil {
			return false, err
		}
		if !taken {
			continue
		}
		if k.done, err = compare.SameContent(ctx, k.from, k.to); err != nil || !k.done {
			return false, err
		}
	}
	return true, nil
}

func (r *repair) keepAs(k keeping, q *quarantine, like fs.FileInfo) error {
	if k.done {
		return nil
	}
	if q.f == nil || k.from != q.f.Name() {
		if err := r.link(k.from, k.to); err != nil {
			return err
		}
	} else {
		if err := r.commit(q.f, k.to, like); err != nil {
			return err
		}
		q.f = nil
	}
	r.placed = append(r.placed, k.to)
	return nil
}

// keptOriginal returns where an interrupted repair has kept the file at path; "" if it has not, or
// if the file has changed.
func keptOriginal(ctx context.Context, path string) (string, error) {
	for i := 1; ; i++ {
		kept := numberedName(filepath.Join(filepath.Dir(path), damagedDir, filepath.Base(path)), i)
		is, err := osfile.Exists(ctx, kept)
		if !is || err != nil {
			return "", err
		}
		same, err := compare.SameContent(ctx, path, kept)
		if err != nil {
			return "", err
		}
		if same {
			return kept, nil
		}
	}
}

// numberedName returns the i-th name for a file: from the second on the number is appended.
func numberedName(path string, i int) string {
	if i > 1 {
		path += "." + strconv.Itoa(i)
	}
	return path
}
