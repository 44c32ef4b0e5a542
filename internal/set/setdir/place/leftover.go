package place

import "time"

// Leftover is a file or upload of a killed run that no other run uses.
type Leftover struct {
	// Kind is LeftTemporary, LeftStaged, LeftReplaced, LeftUpload or LeftClaim.
	Kind string `json:"kind"`
	// Name relative to the directory; for an upload, the name of the object it was for.
	Name string `json:"name"`
	// Bytes is the space it takes; 0 for uploads, whose size stores do not report, and for links to
	// files that are still in the set.
	Bytes int64 `json:"bytes,omitempty"`
	// Begun is the modification time; for an upload, when it was started.
	Begun time.Time `json:"begun"`
}

// The kinds of leftovers.
const (
	LeftTemporary = "temporary" // a file that was not renamed to its final name
	LeftStaged    = "staged"    // a file of an incomplete update
	LeftReplaced  = "replaced"  // a link to a file that an update replaced, or was going to replace
	LeftUpload    = "upload"    // parts of an object that was not completed
	LeftClaim     = "claim"     // of a dead process in a store; claims on the directory itself are removed when it is opened
)
