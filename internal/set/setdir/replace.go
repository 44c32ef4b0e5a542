package setdir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
)

// Replace atomically replaces the set with the given old files by all staged files. Names
// are relative to the directory. New files must not replace files that are not in old: an error for
// one of those unwraps to ErrForeign. If the process is killed, the set is the old one or, once the
// journal is written, one that the next Open or Expand completes. It is for local directories.
func (s Staged) Replace(old []string) error {
	j, err := s.journal(old)
	if err == nil {
		err = j.Begin(s.dir)
	}
	if err != nil {
		return errors.Join(err, s.Abandon())
	}
	return complete(s.dir, j)
}

// complete completes a replacement that has begun.
func complete(d *Dir, j *Journal) error {
	if err := j.Complete(d); err != nil {
		return fmt.Errorf("%w; the set is partly replaced: the next tfrec command on it completes the change", err)
	}
	return nil
}

// journal returns the journal that replaces the old files by the staged ones: manifests after the
// files that they name, the directory's own manifest last.
func (s Staged) journal(old []string) (*Journal, error) {
	files, manifests, err := s.names()
	if err != nil {
		return nil, err
	}
	named := make(map[string]bool, len(old))
	for _, name := range old {
		named[name] = true
	}
	j := new(Journal)
	renewed := map[string]bool{}
	move := func(name string) {
		j.Moves = append(j.Moves, Move{From: StageDir + "/" + name, To: name})
		renewed[name] = true
	}
	var added []string
	for _, name := range slices.Concat(files, manifests) {
		if !named[name] {
			added = append(added, name)
		}
	}
	if err := MustBeVacant(s.dir, added); err != nil {
		return nil, err
	}
	for _, name := range files {
		move(name)
	}
	const state = place.StateDir + "/" + FinishedFile
	switch staged, err := s.dir.Stage().Exists(state); {
	case err != nil:
		return nil, err
	case staged:
		move(state)
	default:
		// The state of the run that made the old set.
		stale, err := s.dir.Existing([]string{state})
		if err != nil {
			return nil, err
		}
		j.Remove = stale
	}
	for _, name := range manifests {
		move(name)
	}
	for _, name := range old {
		if !renewed[name] {
			j.Remove = append(j.Remove, name)
		}
	}
	return j, nil
}

// names returns the names of all staged files but the state of runs: manifests apart from others,
// the files of inner directories first.
func (s Staged) names() (files, manifests []string, err error) {
	stage := s.dir.Join(StageDir)
	err = filepath.WalkDir(stage, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == place.StateDir:
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		name, err := filepath.Rel(stage, path)
		if filepath.Base(path) == manifest.File {
			manifests = append(manifests, filepath.ToSlash(name))
		} else {
			files = append(files, filepath.ToSlash(name))
		}
		return err
	})
	slices.SortFunc(manifests, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	return files, manifests, err
}
