package manifest

import (
	"path/filepath"

	"github.com/tfrec/tfrec/internal/storage"
)

// Names in the directory of a set, besides its shards and the files for TFDS.
const (
	File       = "manifest.json" // what the set is
	LedgerFile = "errors.jsonl"  // samples that could not be used, as JSON lines
	// LabelMapFile says which names the ids of objects have, as TensorFlow's Object Detection API
	// reads it (protos/string_int_label_map.proto).
	LabelMapFile = "label_map.pbtxt"
	IndexDir     = "index" // directory of the indexes
)

// IndexPath returns the path of the index of the shard at path: index/NAME.idx beside the shard.
func IndexPath(path string) string {
	file := storage.Parse(path)
	return file.Dir().Join(IndexName(file.Base())).Path()
}

// IndexName returns the name of a shard's index, relative to the directory of the shard.
func IndexName(file string) string { return IndexDir + "/" + file + ".idx" }

// IsPath reports whether path names a manifest rather than a record file.
func IsPath(path string) bool { return filepath.Ext(path) == ".json" }
