package reshape

import (
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/tfrec/tfrec/internal/digest"
	"github.com/tfrec/tfrec/internal/features"
	"github.com/tfrec/tfrec/shard"
)

// place returns where the record of a number lies.
func (in *inputs) place(n int64) Place {
	i := sort.Search(len(in.files), func(i int) bool { return in.files[i].first+in.files[i].Records > n })
	f := in.files[i]
	return Place{f.Path, n - f.first}
}

// checkFeature refuses a key that, as the inputs' manifests say, no record has.
func (in *inputs) checkFeature(field, key string) error {
	features := in.described.Features
	if !in.known || slices.ContainsFunc(features, func(f shard.Feature) bool { return f.Key == key }) {
		return nil
	}
	return unknownFeature(field, key, features)
}

// features returns what features the records have, sorted by key; those that
// are not of one kind in all records have none. Where the manifests do not say,
// all records are read.
func (in *inputs) features(ctx context.Context) ([]shard.Feature, error) {
	if in.known && in.described.Records == shard.RecordExample {
		return in.described.Features, nil
	}
	workers := in.o.workers()
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
	if records != shard.RecordExample {
		return nil, errors.New("not all records are tf.train.Examples, the only ones whose features are known")
	}
	for _, key := range odd {
		found = append(found, shard.Feature{Key: key})
	}
	return features.ByKey(found), nil
}
