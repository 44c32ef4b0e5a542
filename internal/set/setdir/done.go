package setdir

import (
	"encoding/json"
	"fmt"

	"github.com/tfrec/tfrec/manifest"
)

// Done is the state of a finished shard, in addition to its manifest entry.
type Done struct {
	manifest.Shard
	// ModTime of the shard's file in nanoseconds since 1970, and its Version in an object store.
	ModTime int64  `json:"mod_time"`
	Version string `json:"version,omitempty"`
	// IndexBytes, IndexModTime and IndexVersion describe the index; zero if there is none.
	IndexBytes   int64  `json:"index_bytes,omitempty"`
	IndexModTime int64  `json:"index_mod_time,omitempty"`
	IndexVersion string `json:"index_version,omitempty"`
	// Source is the location of the inputs on this machine: files elsewhere with the same names and
	// times are different inputs.
	Source string `json:"source,omitempty"`
	// Plan names the array job's plan, or the ReshardPlan, that the shard was last checked against;
	// empty if there was none.
	Plan string `json:"plan,omitempty"`
	// Samples is the number of samples planned for the shard; those without a record are in Bad or
	// counted in Filtered. Bad also has annotations that could not be used, of samples with a record.
	Samples  int64 `json:"samples"`
	Filtered int64 `json:"filtered,omitempty"`
	// AlphaDropped is the number of records whose image lost an alpha channel or transparent colour.
	AlphaDropped int64 `json:"alpha_dropped,omitempty"`
	// Annotations is the number of objects in the shard's records, AnnotationsDropped the number of
	// objects and annotations of its samples that are in none.
	Annotations        int64       `json:"annotations,omitempty"`
	AnnotationsDropped int64       `json:"annotations_dropped,omitempty"`
	Bad                []BadSample `json:"bad,omitempty"`
	// Inputs are the identities of the shard's inputs, in order.
	Inputs []Input `json:"inputs,omitempty"`
	// Seen is a ReshardPlan's information on the features of the shard's records, for the manifest;
	// nil if the inputs' manifests describe them.
	Seen json.RawMessage `json:"seen,omitempty"`
}

// BadSample is a line of the ledger: a sample, or an annotation of one, that could not be used.
type BadSample struct {
	Key string `json:"key"`
	// Source is the input file, relative to the source directory.
	Source string `json:"source"`
	// Line in a text file, from 1; 0 for other files.
	Line int64 `json:"line,omitempty"`
	// Stage is one of Stages.
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
	// Listed means that listing or reading the input shows the fault, before a record is made. Each
	// run finds such faults again, so fingerprints do not depend on them. They are in no ledger.
	Listed bool `json:"listed,omitempty"`
}

// Stages are the steps at which samples turn out to be unusable.
var Stages = []string{"read", "decode", "transform", "encode", "parse", "annotation"}

// EncodeLedger returns the bytes of errors.jsonl; nil if it would be empty.
func EncodeLedger(bad []BadSample) ([]byte, error) {
	var out []byte
	for _, b := range bad {
		line, err := json.Marshal(b)
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}
