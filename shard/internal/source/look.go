package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sort"

	"github.com/tfrec/tfrec/internal/featurename"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
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

// Feature returns the key of the feature that the value of an option names, as [Feature] does.
func (in *Inputs) Feature(ctx context.Context, field optname.Name, name string) (string, error) {
	of := make([]shard.Source, len(in.Files))
	for i, f := range in.Files {
		of[i] = f.Source
	}
	return Feature(ctx, field, name, of, in.MaxRecord)
}

// Feature returns the key of the feature that the value of an option names, as [featurename.Find] does. It
// is an error if no record has it according to the manifests. If these do not describe all files, the name
// is short for a key of the first record, if it can be, and otherwise returned as it is.
func Feature(ctx context.Context, field optname.Name, name string, of []shard.Source, maxRecord int64) (string, error) {
	var all []manifest.Feature
	known := true
	for i := range of {
		set := of[i].Set
		if set == nil || len(set.Features) == 0 || set.Records != manifest.RecordExample && set.Records != "" {
			known = false
			break
		}
		if i == 0 || set != of[i-1].Set {
			all = append(all, set.Features...)
		}
	}
	if known {
		return FindFeature(field, name, all)
	}
	first, err := firstRecord(ctx, of, maxRecord)
	if err != nil {
		return "", err
	}
	scan := features.NewScan()
	scan.Add(first)
	_, all, odd := scan.Describe()
	for _, key := range odd {
		all = append(all, manifest.Feature{Key: key})
	}
	if key, err := FindFeature(field, name, all); err == nil {
		return key, nil
	}
	return name, nil
}

// firstRecord returns the first record of files; nil if there is none, or it is damaged, which reading
// all of them shows.
func firstRecord(ctx context.Context, of []shard.Source, maxRecord int64) ([]byte, error) {
	for _, f := range of {
		r, err := shard.Open(ctx, f.Path, tfrecord.ReaderOptions{MaxRecord: maxRecord})
		if err != nil {
			return nil, err
		}
		record, err := r.Next()
		record = bytes.Clone(record)
		if err := r.Close(); err != nil {
			return nil, err
		}
		if err != io.EOF {
			return record, nil
		}
	}
	return nil, nil
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

// FindFeature returns the key of the feature, out of all, that the value of an option names.
func FindFeature(field optname.Name, name string, all []manifest.Feature) (string, error) {
	keys := make([]string, len(all))
	for i, f := range all {
		keys[i] = f.Key
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	key, err := featurename.Find(name, keys)
	if err != nil {
		return "", OptionError(field, "%w", err)
	}
	return key, nil
}
