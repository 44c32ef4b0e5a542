package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// placement puts files in place, and can take them back.
type placement struct {
	ctx       context.Context
	dir       *setdir.Dir // output directory; nil for a single file
	isInPlace bool
	placed    []string // created files and directories, in order
	disowned  int      // new files whose owner or group could not be set
}

// work creates a temporary file for path.
func (p *placement) work(path string) (*os.File, error) {
	if p.dir != nil {
		return p.dir.TempFile(filepath.Base(path))
	}
	return workFile(p.ctx, path)
}

// inherit gives a temporary file the mode of like, the file that it replaces or is made from. In
// place it also gets the owner and the group, if the process may change them.
func (p *placement) inherit(f *os.File, like fs.FileInfo) error {
	switch {
	case like == nil:
		return f.Chmod(atomicfile.Mode(0o666))
	case !p.isInPlace:
		return f.Chmod(atomicfile.Mode(like.Mode().Perm()))
	}
	owned, err := atomicfile.Like(f, like)
	if err == nil && !owned {
		p.disowned++
	}
	return err
}

// commit gives a temporary file its name and the mode of like. It does not sync the directory.
func (p *placement) commit(f *os.File, path string, like fs.FileInfo) error {
	err := inject.Fault(p.ctx, "place", path)
	if err == nil {
		err = p.inherit(f, like)
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
func (p *placement) commitNew(f *os.File, path string, like fs.FileInfo) error {
	taken, err := osfile.Exists(p.ctx, path)
	if err != nil {
		return err
	}
	if !taken {
		if err := p.commit(f, path, like); err != nil {
			return err
		}
		p.placed = append(p.placed, path)
		return atomicfile.SyncDir(filepath.Dir(path))
	}
	same, err := compare.SameContent(p.ctx, f.Name(), path)
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
func (p *placement) putNew(s *salvagedFile, path string, indexed bool) error {
	if s.f != nil {
		if err := p.commitNew(s.f, path, s.like); err != nil {
			return err
		}
		s.f = nil
	}
	if s.index == nil || !indexed {
		return nil
	}
	index := manifest.IndexPath(path)
	if err := p.makeDir(filepath.Dir(index)); err != nil {
		return err
	}
	if err := p.commitNew(s.index, index, s.like); err != nil {
		return err
	}
	s.index = nil
	return nil
}

// makeDir creates a directory next to shards, unless it exists. In a repair in place it gets the
// mode and the owner of its parent.
func (p *placement) makeDir(path string) error {
	is, err := osfile.Exists(p.ctx, path)
	if err != nil {
		return err
	}
	if err := osfile.MakeOuterDir(p.ctx, path); err != nil || is {
		return err
	}
	p.placed = append(p.placed, path)
	if !p.isInPlace {
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
	return errors.Join(p.inherit(d, like), d.Close())
}

// takeBack removes what was put in place, in reverse order. Directories that are not empty stay.
func (p *placement) takeBack() error {
	var errs []error
	for i := len(p.placed) - 1; i >= 0; i-- {
		err := os.Remove(p.placed[i])
		if st, statErr := os.Lstat(p.placed[i]); statErr == nil && st.IsDir() {
			err = nil
		}
		if err != nil && !storage.Missing(err) {
			errs = append(errs, err)
		}
	}
	p.placed = nil
	return errors.Join(errs...)
}

// link creates a hard link to a file, or copies it if links are not supported.
func (p *placement) link(from, to string) error {
	if err := inject.Fault(p.ctx, "link", to); err != nil {
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
	f, err := p.work(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(osfile.NewFile(p.ctx, f), in); err == nil {
		err = p.commit(f, to, st)
	}
	if err != nil {
		atomicfile.Discard(f)
	}
	return err
}
