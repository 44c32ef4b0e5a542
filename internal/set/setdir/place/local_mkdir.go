package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// Mkdir creates a directory below the set's directory, with its parents. None of them may be a
// symbolic link.
func (l *localDirectory) Mkdir(name string) error {
	rel, err := filepath.Rel(l.set, l.join(name))
	if err != nil {
		return err
	}
	path := l.set
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		path = filepath.Join(path, part)
		if err := osfile.MakeDir(path); err != nil {
			return err
		}
	}
	return nil
}

// inDir calls f, which creates a file in a directory, and creates the directory if it does not exist.
// A directory of the state is looked at once, unless it vanishes: many small files go there.
func (l *localDirectory) inDir(name string, f func() error) error {
	if name == "." {
		return f()
	}
	path := l.join(name)
	if _, made := l.made.Load(path); made {
		if err := f(); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := l.Mkdir(name); err != nil {
		return err
	}
	if strings.HasPrefix(name, StateDir+"/") {
		l.made.Store(path, true)
	}
	return f()
}

// refuseLinks returns an error if a directory that is written to inside the set is a symbolic link,
// so that writing a set changes nothing outside it. The set's own path may be a link.
func refuseLinks(set string) error {
	for _, name := range []string{StateDir, manifest.IndexDir} {
		if err := osfile.RefuseLink(filepath.Join(set, name)); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(filepath.Join(set, StateDir))
	if err != nil && !storage.Missing(err) {
		return err
	}
	for _, e := range entries {
		if e.Type() == fs.ModeSymlink {
			return osfile.LinkError(filepath.Join(set, StateDir, e.Name()))
		}
	}
	return nil
}
