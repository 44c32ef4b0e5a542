package repair

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// inherit gives a temporary file the mode of like, the file that it replaces or is made from. In
// place it also gets the owner and the group, if the process may change them.
func (r *repair) inherit(f *os.File, like fs.FileInfo) error {
	switch {
	case like == nil:
		return f.Chmod(atomicfile.Mode(0o666))
	case !r.isInPlace:
		return f.Chmod(atomicfile.Mode(like.Mode().Perm()))
	}
	owned, err := atomicfile.Like(f, like)
	if err == nil && !owned {
		r.disowned++
	}
	return err
}

// commit gives a temporary file its name and the mode of like. It does not sync the directory.
func (r *repair) commit(f *os.File, path string, like fs.FileInfo) error {
	err := inject.Fault(r.ctx, "place", path)
	if err == nil {
		err = r.inherit(f, like)
	}
	if err == nil {
		err = atomicfile.Commit(f, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// commitNew is commit for a path that must be free, or have a file of the same content from a
// killed repair. It syncs the directory.
func (r *repair) commitNew(f *os.File, path string, like fs.FileInfo) error {
	taken, err := osfile.Exists(r.ctx, path)
	if err != nil {
		return err
	}
	if !taken {
		if err := r.commit(f, path, like); err != nil {
			return err
		}
		r.placed = append(r.placed, path)
		return atomicfile.SyncDir(filepath.Dir(path))
	}
	same, err := compare.SameContent(r.ctx, f.Name(), path)
	if err != nil {
		return err
	}
	if !same {
		return output.Differs(path, "")
	}
	atomicfile.Discard(f)
	return nil
}

// putNew puts a salvaged file at its path in the output, with its index.
func (r *repair) putNew(s *salvagedFile, path string, indexed bool) error {
	if s.f != nil {
		if err := r.commitNew(s.f, path, s.like); err != nil {
			return err
		}
		s.f = nil
	}
	if s.index == nil || !indexed {
		return nil
	}
	index := manifest.IndexPath(path)
	if err := r.makeDir(filepath.Dir(index)); err != nil {
		return err
	}
	if err := r.commitNew(s.index, index, s.like); err != nil {
		return err
	}
	s.index = nil
	return nil
}

// putQuarantine puts the quarantine of an output in place, if it has any content.
func (r *repair) putQuarantine(q *quarantine) error {
	if q.f == nil {
		return output.MustBeFree(q.path) // one of another repair would be mistaken for ours
	}
	if err := q.close(); err != nil {
		return err
	}
	if err := r.commitNew(q.f, q.path, q.like); err != nil {
		return err
	}
	q.f = nil
	r.report.Quarantine = q.path
	return nil
}

// makeDir creates a directory next to shards, unless it exists. In a repair in place it gets the
// mode and the owner of its parent.
func (r *repair) makeDir(path string) error {
	is, err := osfile.Exists(r.ctx, path)
	if err != nil {
		return err
	}
	if err := osfile.MakeOuterDir(r.ctx, path); err != nil || is {
		return err
	}
	r.placed = append(r.placed, path)
	if !r.isInPlace {
		return nil
	}
	like, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(r.inherit(d, like), d.Close())
}

// takeBack removes what was put in place, in reverse order. Directories that are not empty stay.
func (r *repair) takeBack() error {
	var errs []error
	for i := len(r.placed) - 1; i >= 0; i-- {
		err := os.Remove(r.placed[i])
		if st, statErr := os.Lstat(r.placed[i]); statErr == nil && st.IsDir() {
			err = nil
		}
		if err != nil && !storage.Missing(err) {
			errs = append(errs, err)
		}
	}
	r.placed = nil
	return errors.Join(errs...)
}

// link creates a hard link to a file, or copies it if links are not supported.
func (r *repair) link(from, to string) error {
	if err := inject.Fault(r.ctx, "link", to); err != nil {
		return err
	}
	st, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if st.Mode().IsRegular() {
		err := os.Link(from, to)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	} else if st, err = os.Stat(from); err != nil { // an index may be a link
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	f, err := r.work(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(osfile.NewFile(r.ctx, f), in); err == nil {
		err = r.commit(f, to, st)
	}
	if err != nil {
		atomicfile.Discard(f)
	}
	return err
}
