package setdir

import (
	"strings"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
)

// ExportFile marks a directory in a store that an export is writing, or was until it was stopped:
// its files are the export's.
const ExportFile = place.StateDir + "/export.json"

// RenamesFile has the renames of an adopt in progress, so that the next run can finish them.
const RenamesFile = "renames.json"

// QuarantineSuffix is appended to the name of a repaired file or directory to name its quarantine.
const QuarantineSuffix = ".quarantine"

// FinishedFile is where a finished run records its request and its result, below .tfrec.
const FinishedFile = "finished.json"

// ReshardFailureFile has the last error of a part or a shard, for the process that planned the run:
// a runner returns text at best.
const ReshardFailureFile = place.StateDir + "/reshard-failure.json"

// ReshardPlanFile has the plan while its shards are written.
const ReshardPlanFile = place.StateDir + "/reshard.json"

const (
	// StageDir has the files of a new version of the set.
	StageDir = place.StateDir + "/stage"
	// OldDir has links to the files that a change replaces, while it lasts.
	OldDir = place.StateDir + "/old"
	// JournalFile has the journal of a change in progress.
	JournalFile = place.StateDir + "/journal.json"
)

// isState reports whether a name in the directory of a set is part of its state.
func isState(name string) bool {
	return name == place.StateDir || strings.HasPrefix(name, place.StateDir+"/")
}
