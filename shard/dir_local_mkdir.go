package shard

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/storage"
)

// mkdir makes a directory below that of the set, and those that lead to it. None
// of them may be a symbolic link.
func (l *localDirectory) mkdir(name string) error {
	rel, err := filepath.Rel(l.set, l.join(name))
	if err != nil {
		return err
	}
	path := l.set
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		path = filepath.Join(path, part)
		if err := makeDir(path); err != nil {
			return err
		}
	}
	return nil
}

// makeDir makes a directory, durably, unless it exists. A symbolic link to one is an
// error.
func makeDir(path string) error {
	st, err := os.Lstat(path)
	switch {
	case storage.Missing(err):
		return atomicfile.Mkdir(path, 0o755)
	case err != nil || st.IsDir():
		return err
	case st.Mode().Type() == fs.ModeSymlink:
		return linkError(path)
	}
	return fmt.Errorf("%s is not a directory: move it elsewhere", path)
}

// refuseLinks returns an error when a directory inside a set that is written to is a
// symbolic link: writing a set changes nothing outside of it. The set's own path may be
// a link.
func refuseLinks(set string) error {
	for _, name := range []string{StateDir, IndexDir} {
		if err := refuseLink(filepath.Join(set, name)); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(filepath.Join(set, StateDir))
	if err != nil && !storage.Missing(err) {
		return err
	}
	for _, e := range entries {
		if e.Type() == fs.ModeSymlink {
			return linkError(filepath.Join(set, StateDir, e.Name()))
		}
	}
	return nil
}

// refuseLink returns an error when there is a symbolic link at the path.
func refuseLink(path string) error {
	st, err := os.Lstat(path)
	if storage.Missing(err) {
		return nil
	}
	if err == nil && st.Mode().Type() == fs.ModeSymlink {
		err = linkError(path)
	}
	return err
}

func linkError(path string) error {
	return fmt.Errorf("%s is a symbolic link, and tfrec does not write through links inside a set: replace it with a directory", path)
}
