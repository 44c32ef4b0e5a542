package source

import (
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// UnfitError is the error for undamaged records whose contents do not allow the operation: for
// example, values of several kinds cannot be sorted.
type UnfitError struct{ Err error }

// Error adds that nothing was written.
func (e *UnfitError) Error() string { return e.Err.Error() + "; nothing was written" }

// Unwrap returns Err.
func (e *UnfitError) Unwrap() error { return e.Err }

// sampledRecords is the number of records of each file that are checked against its manifest.
const sampledRecords = 8

// HoldToManifests checks the files against their manifests before relying on them: the manifest of
// a set that is read as a whole must name each shard once, and the first records of each file must
// match the manifest's description. Differences that may be harmless are noted.
func (in *Inputs) HoldToManifests(ctx context.Context, note func(format string, args ...any)) error {
	files := map[*shard.Set]int{}
	for _, f := range in.Files {
		if f.Set != nil {
			files[f.Set]++
		}
	}
	seen := map[*shard.Set]bool{}
	for _, f := range in.Files {
		if f.Set == nil || seen[f.Set] || files[f.Set] < len(f.Set.Shards()) {
			continue
		}
		seen[f.Set] = true
		faults, err := f.Set.Check(ctx)
		if err != nil {
			return err
		}
		for _, fault := range faults {
			if fault.Part == tfrecord.PartExtra && !manifest.IsPath(fault.Path) {
				if !strings.HasSuffix(fault.Path, ".idx") {
					note("%s is left out: %s (%s adds it)", fault.Path, fault.Message, optname.RepairAdopt)
				}
				continue
			}
			return &UnfitError{fmt.Errorf("%s: %s", fault.Path, fault.Message)}
		}
	}
	g, sampling := errgroup.WithContext(ctx)
	g.SetLimit(in.Workers)
	missing := make([]string, len(in.Files))
	for i, f := range in.Files {
		if f.Set == nil || f.Set.Records != manifest.RecordExample || len(f.Set.Features) == 0 {
			continue
		}
		g.Go(func() (err error) {
			if err = sampling.Err(); err == nil {
				missing[i], err = f.sample(ctx, in.MaxRecord)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, key := range missing {
		if f := in.Files[i]; key != "" {
			note("the manifest of %s says that all records have the feature %q, and not all of those in %s do: see %s", f.Set.Dir, key, f.Path, optname.VerifyFiles.With(optname.OptionsDeep))
			break
		}
	}
	return nil
}

// sample checks the first records of the file against the features in its manifest. It returns the
// key of a required feature that is missing from one of them, or "".
func (f *Input) sample(ctx context.Context, maxRecord int64) (missing string, err error) {
	r, err := shard.Open(ctx, f.Path, tfrecord.ReaderOptions{MaxRecord: maxRecord})
	if err != nil {
		return "", err
	}
	defer r.Close()
	var e tfrecord.Example
	lies := func(format string, args ...any) error {
		return &UnfitError{&tfrecord.Error{
			Name: f.Path, Record: r.Record(), Offset: r.Offset(), Part: tfrecord.PartParse,
			Err: fmt.Errorf(format+", as the manifest says: remove the manifest, and %s writes a correct one", append(args, optname.RepairAdopt)...),
		}}
	}
	for range sampledRecords {
		record, err := r.Next()
		if err == io.EOF {
			return missing, nil
		}
		if err != nil {
			return missing, shard.Damaged(err)
		}
		if err := e.Parse(record); err != nil {
			return missing, lies("it is not a tf.train.Example")
		}
		for _, feature := range f.Set.Features {
			value, ok := e.Get(feature.Key)
			switch kind := value.Kind(); {
			case !ok || kind == tfrecord.KindNone:
				if !feature.Optional && missing == "" {
					missing = feature.Key
				}
			case kind.String() != feature.Kind:
				return missing, lies("feature %q is %v, not %s", feature.Key, kind, feature.Kind)
			}
		}
	}
	return missing, nil
}
