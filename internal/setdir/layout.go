package setdir

import "github.com/tfrec/tfrec/internal/storage"

// Names of the files of a set other than its shards.
const (
	ManifestFile = "manifest.json"
	LedgerFile   = "errors.jsonl"
	IndexDir     = "index"
	StateDir     = ".tfrec"
)

// RenamesFile has the renames of an adopt in progress, so that the next run can finish them.
const RenamesFile = "renames.json"

// Info describes a finished shard.
type Info struct {
	File    string `json:"file"`
	Records int64  `json:"records"`
	// Bytes is the size of the file.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Fingerprint identifies the shard's inputs: its ordered keys with the inputs' identity, and
	// the effective options.
	Fingerprint string `json:"fingerprint"`
	// Labels counts the records per label; nil if there are no labels.
	Labels map[string]int64 `json:"labels,omitempty"`
}

// IndexPath returns the path of the index of the shard at path: index/NAME.idx beside the shard.
func IndexPath(path string) string {
	return storage.Join(storage.Dir(path), IndexName(storage.Base(path)))
}

// IndexName returns the name of a shard's index, relative to the directory of the shard.
func IndexName(file string) string { return IndexDir + "/" + file + ".idx" }
