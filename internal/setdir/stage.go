package setdir

import (
	"fmt"
)

// Stage returns the directory below d in which the files of a new version of the set
// are written, until PutStaged puts them in the place of the old ones. It needs no
// Close, and keeps what is in it between runs. A store has none.
func (d *Dir) Stage() *Dir { return d.Sub(StageDir) }

// ClearStage removes what is staged.
func (d *Dir) ClearStage() error {
	if d.Remote() {
		return nil
	}
	return d.DiscardStage()
}

// PutStaged gives staged files their names in d, in the place of those that have them,
// and removes others, in one step: a process that is killed leaves the old set or, once
// it has begun to rename, one that the next Open or Expand completes. Shards bring
// their indexes and what PutDone recorded; files, by their names in the stage, follow
// in their order, the manifest last. What else was staged goes.
func (d *Dir) PutStaged(shards, files, remove []string) error {
	stage := d.Stage()
	j := &Journal{KeepState: true, Remove: remove}
	add := func(name string) {
		j.Moves = append(j.Moves, Move{From: StageDir + "/" + name, To: name})
	}
	indexes := make([]string, len(shards))
	for i, file := range shards {
		indexes[i] = IndexName(file)
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
	if len(files) == 0 || files[len(files)-1] != ManifestFile {
		return fmt.Errorf("%s: a set is replaced without a manifest", d.path) // which is the last step
	}
	if err := d.Begin(j); err != nil {
		return err
	}
	if err := d.Complete(j); err != nil {
		return fmt.Errorf("%w; the set is partly replaced: the next tfrec command on it completes the change", err)
	}
	return nil
}
