package setdir

import (
	"fmt"

	"github.com/tfrec/tfrec/manifest"
)

// Stage returns the directory below d for the files of a new version of the set, until PutStaged
// puts them in place. It needs no Close, and its files persist between runs. A store has none.
func (d *Dir) Stage() *Dir { return d.Sub(StageDir) }

// ClearStage removes all staged files.
func (d *Dir) ClearStage() error {
	if d.Remote() {
		return nil
	}
	return d.DiscardStage()
}

// PutStaged atomically moves staged files to their names in d, replacing existing ones, and removes
// others: if the process is killed, the set is the old one or, once the journal is written, one
// that the next Open or Expand completes. Shards include their indexes and the state from PutDone;
// files, by their names in the stage, follow in order, the manifest last. Other staged files are
// discarded.
func (d *Dir) PutStaged(shards, files, remove []string) error {
	stage := d.Stage()
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
		return fmt.Errorf("%s: a set is replaced without a manifest", d.Path()) // the manifest is the last step
	}
	if err := d.Begin(j); err != nil {
		return err
	}
	return d.complete(j)
}
