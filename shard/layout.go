package shard

import "github.com/tfrec/tfrec/internal/setdir"

// Names of the files of a set beside its shards.
const (
	ManifestFile = setdir.ManifestFile // what the set is
	LedgerFile   = setdir.LedgerFile   // samples that could not be used, as JSON lines
	IndexDir     = setdir.IndexDir     // directory of the indexes
	StateDir     = setdir.StateDir     // directory of what runs remember
)

// Info describes a shard: its File name, how many Records and Bytes it has, its SHA256 in
// hexadecimal, the Fingerprint of what made it (its ordered keys with their inputs' identity and
// the effective options), and how many records have each of the Labels, nil where there are none.
type Info = setdir.Info

// ErrBusy says that another process is writing into the directory.
var ErrBusy = setdir.ErrBusy

// IndexPath returns the path of the index of the shard at path: a file of the same name with .idx
// after it, in the directory index beside the shard.
func IndexPath(path string) string { return setdir.IndexPath(path) }
