package shard

import (
	"github.com/tfrec/tfrec/internal/set/setdir/place"
)

// StateDir is the directory of the state of runs, in the directory of a set.
const StateDir = place.StateDir

// ErrBusy says that another process is writing into the directory.
var ErrBusy = place.ErrBusy
