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

// Publish atomically moves staged files to their names in d, replacing existing ones, and removes
// others: if the process is killed, the set is the old one or, once the journal is written, one
// that the next Open or Expand completes. Shards include their indexes and the state from PutDone;
// files, by their names in the stage, follow in order, the manifest last. Other staged files are
// discarded.
func (s Staged) Publish(shards, files, remove []string) error {
	stage := s.dir.Stage()
	j := &Journal{KeepState: true, Remove: remove}
	add := func(name string) {
		j.Moves = append(j.Moves, Move{From: StageDir + "/" + name, To: name})
	}
	indexes := make([]string, len(shards))
	for i, file := range shards {
		indexes[i] = manifest.IndexName(file)
	}
	indexes, err := stage.Existing(indexes)
	if err != nil {
		return err
	}
	for _, name := range indexes {
		add(name)
	}
	for _, file := range shards {
		add(file)
		add(StateOf(file))
	}
	for _, file := range files {
		add(file)
	}
	if len(files) == 0 || files[len(files)-1] != manifest.File {
		return fmt.Errorf("%s: a set is replaced without a manifest", s.dir.Path()) // the manifest is the last step
	}
	if err := j.Begin(s.dir); err != nil {
		return err
	}
	return complete(s.dir, j)
}

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
