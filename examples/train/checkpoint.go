package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tfrec/tfrec/reader"
)

// progress is the state of a training, with everything needed to continue.
type progress struct {
	Model *model
	// State is the position of the pipeline after the last batch that the model has learned from.
	// It is a few hundred bytes: positions in files, no data.
	State reader.State
	// Seen is the number of images learned from, Loss the sum of their losses in the current pass,
	// and Losses the means of the passes before.
	Seen   int64
	Loss   float64
	Losses []float64
}

// load reads a checkpoint; nil when there is none yet.
func load(path string) (*progress, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var p progress
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%s is not a checkpoint: %w", path, err)
	}
	return &p, nil
}

// save writes a checkpoint. Weights and State are in one file, which takes its
// name when it is whole: they can never be of two different moments.
func (p *progress) save(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
