package reshape

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

// position returns the position of a record, given its number.
func (in *inputs) position(n int64) Position {
	i := sort.Search(len(in.files), func(i int) bool { return in.files[i].first+in.files[i].Records > n })
	f := in.files[i]
	return Position{f.Path, n - f.first}
}

// checkFeature returns an error if, according to the inputs' manifests, no record has the feature.
func (in *inputs) checkFeature(field optname.Name, key string) error {
	features := in.described.Features
	if !in.known || in.described.Records != manifest.RecordExample || slices.ContainsFunc(features, func(f manifest.Feature) bool { return f.Key == key }) {
		return nil
	}
	return unknownFeature(field, key, features)
}

// features returns the features of the records, sorted by key; features with values of several
// kinds have an empty Kind. Unless the manifests describe the features, all records are read.
func (in *inputs) features(ctx context.Context) ([]manifest.Feature, error) {
	if in.known && in.described.Records == manifest.RecordExample {
		return in.described.Features, nil
	}
	workers := in.Workers
	scans := make(chan *features.Scan, workers)
	for range workers {
		scans <- features.NewScan()
	}
	look := func(r *record) (digest.Hash, error) {
		scan := <-scans
		scan.Add(r.data)
		scans <- scan
		return digest.Hash{}, nil
	}
	if err := in.eachRecord(ctx, workers, look, func(int64, int, digest.Hash) error { return nil }); err != nil {
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

// unknownFeature returns the error for an option that names a feature that no record has.
func unknownFeature(field optname.Name, key string, features []manifest.Feature) error {
	keys := make([]string, len(features))
	for i, f := range features {
		keys[i] = f.Key
	}
	return optionError(field, "no feature %q; there are %s", key, plural.Quoted(keys, maxKeysListed))
}

// maxKeysListed is the maximum number of keys listed in an error.
const maxKeysListed = 20
