package setdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/regular"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// The state of a run is under .tfrec in the output directory: run.json lists every file that the
// run will write, shards/FILE.json describes each finished shard. Deleting any of it only costs
// time: the next run verifies by reading what it finds in the manifest.

const (
	runFormat    = "tfrec.run"
	StateVersion = 1
	// RunFile is the file that PutRun writes.
	RunFile = place.StateDir + "/run.json"
	// ArrayPlanFile has the plan of an array job until the job is finalized.
	ArrayPlanFile = place.StateDir + "/plan.json"
	ShardsDir     = place.StateDir + "/shards"
)

// Run describes the files and options of a run. It is written before the first shard.
type Run struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Name, Options, Decoder and Encoder are as in the manifest.
	Name    string                     `json:"name"`
	Options map[string]json.RawMessage `json:"options"`
	Decoder string                     `json:"decoder"`
	Encoder string                     `json:"encoder"`
	// Files names all files that the run will write, relative to the directory.
	Files []string `json:"files"`
	// Stale names files of earlier runs that are not in Files; they are removed before the manifest
	// is written.
	Stale []string `json:"stale,omitempty"`
	// Replaces is the number of samples of the finished set that the run updates, whose manifest may
	// be gone; 0 if there was none.
	Replaces int64 `json:"replaces,omitempty"`
	// Args are the arguments of the tfrec command that started the run; empty if it was not started
	// by one.
	Args []string `json:"args,omitempty"`
	// Plan names the ReshardPlan of the run; empty for runs in a single process.
	Plan string `json:"plan,omitempty"`
}

// State is the state of runs in a directory: files of JSON under .tfrec. Names are relative to the
// directory of the set for ReadFile and PutFile, and to .tfrec for Read and Put.
type State struct{ dir *Dir }

// State returns the state of runs in the directory.
func (d *Dir) State() State { return State{d} }

// Run reads the state of the last run. It returns nil if there is none or if it is unusable:
// damaged or of another version. It returns an error if the state could not be read.
func (s State) Run() (*Run, error) {
	r := new(Run)
	usable, err := s.ReadFile(RunFile, r)
	if !usable || r.Format != runFormat || r.Version != StateVersion {
		return nil, err
	}
	return r, nil
}

// PutRun writes the state of the run that is starting.
func (s State) PutRun(r *Run) error {
	r.Format, r.Version = runFormat, StateVersion
	return s.PutFile(RunFile, r)
}

// ReadFile decodes a state file into v. It reports false if there is none or it is unusable:
// not JSON for v, too large for DecodeState, or not a regular file. Other failures to read it are
// errors.
func (s State) ReadFile(name string, v any) (bool, error) {
	data, err := s.readFile(s.dir.ctx, name)
	if data == nil || err != nil {
		return false, err
	}
	return DecodeState(data, v) == nil, nil
}

// readFile reads a state file. It returns nil if there is none, or if it is too large or not a
// regular file.
func (s State) readFile(ctx context.Context, name string) ([]byte, error) {
	data, err := readFile(ctx, s.dir, name, MaxState)
	if storage.Missing(err) || errors.Is(err, regular.ErrNotRegular) || errors.Is(err, regular.ErrTooLarge) {
		return nil, nil
	}
	return data, err
}

// Put writes a state file for the caller under .tfrec.
func (s State) Put(name string, v any) error { return s.PutFile(place.StateDir+"/"+name, v) }

// Read reads a state file of the caller into v. It reports false if there is none or it is
// damaged. It returns an error if the file could not be read.
func (s State) Read(name string, v any) (bool, error) {
	return s.ReadFile(place.StateDir+"/"+name, v)
}

// PutFile writes v as a state file. Data that ReadFile could not use is an error.
func (s State) PutFile(name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = checkState(data) // must be readable again
	}
	if err != nil {
		return fmt.Errorf("state %s: %w", name, err)
	}
	return s.dir.Put(name, append(data, '\n'))
}
