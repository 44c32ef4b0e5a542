package setdir

import "github.com/tfrec/tfrec/internal/set/setdir/place"

// ExportFile marks a directory in a store that an export is writing, or was until it was stopped:
// its files are the export's.
const ExportFile = place.StateDir + "/export.json"

// RenamesFile has the renames of an adopt in progress, so that the next run can finish them.
const RenamesFile = "renames.json"

// QuarantineSuffix is appended to the name of a repaired file or directory to name its quarantine.
const QuarantineSuffix = ".quarantine"
