package source

import (
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/manifest"
)

// Position is the position of a record.
type Position struct {
	Path string `json:"path"`
	// Record is its number in the file, from 0.
	Record int64 `json:"record"`
}

// Position returns the position of a record, given its number.
func (in *Inputs) Position(n int64) Position {
	i := sort.Search(len(in.Files), func(i int) bool { return in.Files[i].First+in.Files[i].Records > n })
	f := in.Files[i]
	return Position{f.Path, n - f.First}
}

// CheckFeature returns an error if, according to the inputs' manifests, no record has the feature.
func (in *Inputs) CheckFeature(field optname.Name, key string) error {
	features := in.Described.Features
	if !in.Known || in.Described.Records != manifest.RecordExample || slices.ContainsFunc(features, func(f manifest.Feature) bool { return f.Key == key }) {
		return nil
	}
	return UnknownFeature(field, key, features)
}

// Features returns the features of the records, sorted by key; features with values of several
// kinds have an empty Kind. Unless the manifests describe the features, all records are read.
func (in *Inputs) Features(ctx context.Context) ([]manifest.Feature, error) {
	if in.Known && in.Described.Records == manifest.RecordExample {
		return in.Described.Features, nil
	}
	workers := in.Workers
	scans := make(chan *features.Scan, workers)
	for range workers {
		scans <- features.NewScan()
	}
	look := func(r *Record) (digest.Hash, error) {
		scan := <-scans
		scan.Add(r.Data)
		scans <- scan
		return digest.Hash{}, nil
	}
	if err := in.EachRecord(ctx, workers, look, func(int64, int, digest.Hash) error { return nil }); err != nil {
		return nil, err
	}
	total := <-scans
	for range workers - 1 {
		total.Merge(<-scans)
	}
	records, found, odd := total.Describe()
	if records != manifest.RecordExample {
		return nil, errors.New("not all records are tf.train.Examples, the only ones whose features are known")
	}
	for _, key := range odd {
		found = append(found, manifest.Feature{Key: key})
	}
	return features.ByKey(found), nil
}

// UnknownFeature returns the error for an option that names a feature that no record has.
func UnknownFeature(field optname.Name, key string, features []manifest.Feature) error {
	keys := make([]string, len(features))
	for i, f := range features {
		keys[i] = f.Key
	}
	return OptionError(field, "no feature %q; there are %s", key, plural.Quoted(keys, maxKeysListed))
}

// maxKeysListed is the maximum number of keys listed in an error.
const maxKeysListed = 20
