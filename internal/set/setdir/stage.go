package setdir

import (
	"fmt"

	"github.com/tfrec/tfrec/manifest"
)

// Stage returns the directory below d for the files of a new version of the set, until Publish
// puts them in place. It needs no Close, and its files persist between runs. A store has none.
func (d *Dir) Stage() *Dir { return d.Sub(StageDir) }

// Staged is a new version of the set in dir, complete or not, which waits in the stage.
type Staged struct{ dir *Dir }

// Staged returns the new version of the set.
func (d *Dir) Staged() Staged { return Staged{d} }

// Clear removes all staged files.
func (s Staged) Clear() error {
	if s.dir.Remote() {
		return nil
	}
	return s.Discard()
}

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
