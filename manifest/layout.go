package manifest

import (
	"path/filepath"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Names in the directory of a set, except shards and the files for TFDS.
const (
	File       = "manifest.json" // the description of the set
	LedgerFile = "errors.jsonl"  // samples that could not be used, as JSON lines
	// LabelMapFile maps the ids of objects to names, in the format of TensorFlow's Object Detection
	// API (protos/string_int_label_map.proto).
	LabelMapFile = "label_map.pbtxt"
	IndexDir     = "index" // directory of the indexes
	// The card of the set, as tfrec card writes it: the dataset card of Hugging Face, the metadata
	// of Croissant, and a contact sheet.
	CardFile      = "README.md"
	CroissantFile = "croissant.json"
	SamplesFile   = "samples.png"
)

// IndexPath returns the path of the index of the shard at path: index/NAME.idx in the shard's
// directory.
func IndexPath(path string) string {
	file := storage.Parse(path)
	return file.Dir().Join(IndexName(file.Base())).Path()
}

// IndexName returns the name of a shard's index, relative to the directory of the shard.
func IndexName(file string) string { return IndexDir + "/" + file + ".idx" }

// IsPath reports whether path names a manifest rather than a record file.
func IsPath(path string) bool { return filepath.Ext(path) == ".json" }
