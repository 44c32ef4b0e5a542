package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/tfrecord/message"
)

// Format and Version identify a tfrec manifest.
const (
	Format  = "tfrec.manifest"
	Version = 1
)

// Manifest describes a finished set. Its bytes depend only on the inputs, options, seed, decoder
// and encoder: it has no time, absolute path or host name.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Tool wrote the set, such as "tfrec 0.1.0".
	Tool string `json:"tool"`
	Name string `json:"name"`
	// Options are the effective options that determine the bytes, by flag name.
	Options map[string]json.RawMessage `json:"options"`
	Seed    uint64                     `json:"seed"`
	// Fingerprint is a hash over the fingerprints of all shards.
	Fingerprint string `json:"fingerprint"`
	// Decoder and Encoder name the JPEG codecs; empty if no images were involved.
	Decoder string `json:"decoder"`
	Encoder string `json:"encoder"`
	// Compression of the shards: "none", "gzip", "zlib" or "zstd".
	Compression string `json:"compression"`
	// Records is the type of the records: RecordExample, or "" if unknown.
	Records string `json:"records"`
	// Features describes the Examples, sorted by key.
	Features []Feature `json:"features"`
	// Supervised names the input and the target feature; nil if not set.
	Supervised *Supervised `json:"supervised,omitempty"`
	// Errors counts the samples that could not be used; the ledger lists them.
	Errors int64 `json:"errors"`
	// Labels are the label names; a label's id is its index in the list.
	Labels []string `json:"labels"`
	// LabelMap means that the labels are the classes of objects and LabelMapFile has them. Ids
	// whose name is "" are not used.
	LabelMap bool    `json:"label_map,omitempty"`
	Splits   []Split `json:"splits"`
}

// RecordExample is the Manifest.Records of a set of tf.train.Examples.
const RecordExample = string(message.Example)

// Supervised names the features for supervised training.
type Supervised struct {
	Input  string `json:"input"`
	Target string `json:"target"`
}

// Shard describes a finished shard.
type Shard struct {
	File    string `json:"file"`
	Records int64  `json:"records"`
	// Bytes is the size of the file.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Fingerprint identifies the shard's inputs: its ordered keys with the inputs' identity, and
	// the effective options.
	Fingerprint string `json:"fingerprint"`
	// Labels counts the records per label; nil without labels.
	Labels map[string]int64 `json:"labels,omitempty"`
	// Deep counts the records whose image has 16 bits a sample, and Narrowed those whose image was
	// reduced to 8 bits a sample from more, or from floats. Only conversions count.
	Deep     int64 `json:"deep,omitempty"`
	Narrowed int64 `json:"narrowed,omitempty"`
}

// Split is a part of a set, such as "train".
type Split struct {
	Name    string  `json:"name"`
	Records int64   `json:"records"`
	Shards  []Shard `json:"shards"`
}

// Encode returns the bytes of manifest.json: indented, keys in a fixed order, with a final newline.
// A manifest too large for Read is an error.
func (m *Manifest) Encode() ([]byte, error) {
	shards, labels := 0, 0
	for _, s := range m.Splits {
		shards += len(s.Shards)
		for i := range s.Shards {
			labels += len(s.Shards[i].Labels)
		}
	}
	if shards > maxManifestShard || labels > maxManifestLabel {
		return nil, fmt.Errorf("manifest: %d shards and %d label counts in them are more than the %d and %d that tfrec reads: make fewer shards", shards, labels, maxManifestShard, maxManifestLabel)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if len(m.Features) > maxManifestItems {
		return nil, fmt.Errorf("manifest: %d features are more than the %d that tfrec reads", len(m.Features), maxManifestItems)
	}
	if b.Len() > MaxSize {
		return nil, fmt.Errorf("manifest: %d bytes are more than the %d that tfrec reads: make fewer shards", b.Len(), MaxSize)
	}
	return b.Bytes(), nil
}

// MetadataFiles returns the names of the files other than the manifest that may describe the set,
// relative to its directory: the files for TFDS and the label map.
func (m *Manifest) MetadataFiles() []string {
	var files []string
	if m.Compression == "none" {
		files = TFDSFiles(m.Features)
	}
	if m.LabelMap {
		files = append(files, LabelMapFile)
	}
	return files
}

// Files returns all files of the set, relative to its directory: shards and their indexes, the
// files for TFDS, the label map, the ledger, and the manifest last. Compressed sets have neither
// indexes nor files for TFDS.
func (m *Manifest) Files() []string {
	var files []string
	plain := m.Compression == "none"
	for _, s := range m.Splits {
		for _, info := range s.Shards {
			files = append(files, info.File)
			if plain {
				files = append(files, IndexName(info.File))
			}
		}
	}
	files = append(files, m.MetadataFiles()...)
	if m.Errors > 0 {
		files = append(files, LedgerFile)
	}
	return append(files, File)
}

// Only returns a copy of the manifest with only the named shards.
func (m *Manifest) Only(shards []string) *Manifest {
	there := make(map[string]bool, len(shards))
	for _, name := range shards {
		there[name] = true
	}
	less := *m
	less.Splits = nil
	for _, s := range m.Splits {
		s.Shards = slices.DeleteFunc(slices.Clone(s.Shards), func(info Shard) bool {
			if !there[info.File] {
				s.Records -= info.Records
			}
			return !there[info.File]
		})
		less.Splits = append(less.Splits, s)
	}
	return &less
}
