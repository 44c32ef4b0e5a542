package shard

import "github.com/tfrec/tfrec/internal/set/setdir"

// StateDir is the directory of the state of runs, in the directory of a set.
const StateDir = setdir.StateDir

// ErrBusy says that another process is writing into the directory.
var ErrBusy = setdir.ErrBusy
