package shard

import "github.com/tfrec/tfrec/internal/setdir"

// Names of the files of a set other than its shards.
const (
	ManifestFile = setdir.ManifestFile // what the set is
	LedgerFile   = setdir.LedgerFile   // samples that could not be used, as JSON lines
	IndexDir     = setdir.IndexDir     // directory of the indexes
	StateDir     = setdir.StateDir     // directory of the state of runs
)

// Info describes a shard: its File name, the number of Records and Bytes, its SHA256 in
// hexadecimal, the Fingerprint of its inputs (ordered keys with the inputs' identity, and the
// effective options), and the number of records per label in Labels, nil if there are none.
type Info = setdir.Info

// ErrBusy says that another process is writing into the directory.
var ErrBusy = setdir.ErrBusy

// IndexPath returns the path of the index of the shard at path: index/NAME.idx beside the shard.
func IndexPath(path string) string { return setdir.IndexPath(path) }
