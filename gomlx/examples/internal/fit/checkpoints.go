package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"

	"github.com/tfrec/tfrec/reader"
)

// progress is the state in a checkpoint other than the variables of the model and the optimizer.
type progress struct {
	// Step is the number of steps trained, Best the number after which the loss on val was lowest,
	// and Loss that loss.
	Step, Best int
	Loss       float64
	// State is the position of the pipeline after the last batch that the model has learned from.
	State reader.State
}

// progressParam is the hyperparameter of the model that has the progress, as JSON: GoMLX saves it
// with the weights, so that the two can never be of different moments.
const progressParam = "progress"

// checkpointDir is a directory of checkpoints: the last one and the best one, each a directory with
// the files of GoMLX. GoMLX alone would leave half a checkpoint when it is killed; a directory gets
// its name when it is whole.
type checkpointDir struct {
	dir     string
	store   *model.Store
	handler *checkpoint.Handler
	last    *progress // of the last checkpoint, nil if there is none
}

// openCheckpoints opens a directory, which it creates if it is missing, and loads the last
// checkpoint into the model.
func openCheckpoints(dir string, store *model.Store) (*checkpointDir, error) {
	c := &checkpointDir{dir: dir, store: store}
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.RemoveAll(c.unfinished())); err != nil {
		return nil, err
	}
	all, err := c.all()
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		newest := all[len(all)-1]
		if err := load(newest, store); err != nil {
			return nil, err
		}
		c.last = new(progress)
		text := model.GetRootParamOr(store, progressParam, "")
		if err := json.Unmarshal([]byte(text), c.last); err != nil {
			return nil, fmt.Errorf("%s: not a checkpoint of this program: %w", newest, err)
		}
	}
	c.handler, err = checkpoint.Build(store).Dir(c.unfinished()).Done()
	return c, err
}

// load loads a checkpoint into a model that is new.
func load(dir string, store *model.Store) error {
	_, err := checkpoint.Load(store).Dir(dir).Done()
	return err
}

// unfinished is where the next checkpoint is written.
func (c *checkpointDir) unfinished() string { return filepath.Join(c.dir, "unfinished") }

// path returns the directory of the checkpoint after a step.
func (c *checkpointDir) path(step int) string {
	return filepath.Join(c.dir, fmt.Sprintf("step-%08d", step))
}

// all returns the directories of all checkpoints, oldest first.
func (c *checkpointDir) all() ([]string, error) {
	return filepath.Glob(filepath.Join(c.dir, "step-*"))
}

// save writes a checkpoint, and removes all others but the best one.
func (c *checkpointDir) save(p progress) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	c.store.SetParam(progressParam, string(text))
	if err := os.MkdirAll(c.unfinished(), 0o755); err != nil {
		return err
	}
	if err := c.handler.Save(); err != nil {
		return err
	}
	if err := os.Rename(c.unfinished(), c.path(p.Step)); err != nil {
		return err
	}
	all, err := c.all()
	if err != nil {
		return err
	}
	for _, dir := range all {
		if !slices.Contains([]string{c.path(p.Step), c.path(p.Best)}, dir) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}
