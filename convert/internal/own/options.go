package own

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Sample is a sample as a Source lists it.
type Sample struct {
	// Key names the sample, in UTF-8. It is unique, and decides the split, the shard and the place there.
	Key string
	// Version identifies the content: another version makes the sample's shard again. It may be a hash,
	// an ETag, or a time and a size. Default: the content of a key never changes.
	Version string
	// Split is the split that the sample is in. Default: chosen by Options.Splits. Either all samples
	// state a split or none does.
	Split string
	// Size is the approximate size of the record in bytes, which decides the number of shards.
	// Default: unknown.
	Size int64
	// Origin is where the sample comes from, for errors.jsonl. Default: the key.
	Origin string
}

// Source is an input that a program defines.
type Source interface {
	// List yields all samples, in any order. An error ends the run.
	List(ctx context.Context) iter.Seq2[Sample, error]
	// Make sets the features of the record of a sample in b, which is empty. It is called from several
	// goroutines at a time, again after a failed shard is retried, and not at all for samples of shards
	// that are up to date. An error that is or wraps a *SampleError is about this sample, which goes into
	// the ledger; any other ends the run.
	Make(ctx context.Context, s Sample, b *tfrecord.Builder) error
}

// SampleError means that no record can be made of a sample.
type SampleError struct {
	// Stage is the step that failed: "read", "decode", "transform", "encode", "parse" or "annotation".
	// Default: "read".
	Stage string
	// Err is the reason.
	Err error
}

func (e *SampleError) Error() string { return e.stage() + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *SampleError) Unwrap() error { return e.Err }

func (e *SampleError) stage() string {
	if slices.Contains(setdir.Stages, e.Stage) {
		return e.Stage
	}
	return "read"
}

// Options configure a conversion of samples that a program lists.
type Options struct {
	plan.Options

	// Features describes all features that records have. A record that contradicts it, or has other
	// features, is a bad sample.
	Features []manifest.Feature
	// Labels are the names of the labels, in the order of ids. Features of class label hold ids into it,
	// or -1 for no label. Default: none.
	Labels []string
	// Supervised names the input and the target feature for TFDS's as_supervised. Default: none.
	Supervised *manifest.Supervised
	// MakeVersion names the way in which Make makes records. Change it when a change of the program
	// changes records of the same versions: a set of another MakeVersion is not updated, but replaced
	// with Overwrite. Default: none.
	MakeVersion string
}

func optionError(field, format string, args ...any) error {
	return &shard.OptionError{Field: "SampleOptions." + field, Err: fmt.Errorf(format, args...)}
}

// complete validates the options and fills in defaults. Out is the directory of the set.
func (o *Options) complete(out string) error {
	if o.Name == "" {
		name, err := setdir.DatasetName(out)
		if err != nil {
			return err
		}
		o.Name = name
	}
	if err := o.Options.Check(); err != nil {
		return err
	}
	if len(o.Features) == 0 {
		return optionError("Features", "state the features of the records")
	}
	o.Features = features.ByKey(o.Features)
	if err := manifest.CheckFeatures(o.Features, o.Labels, o.Supervised); err != nil {
		return optionError("Features", "%w", err)
	}
	if err := labels.CheckNames(o.Labels); err != nil {
		return optionError("Labels", "%w", err)
	}
	if len(o.Labels) > 0 && manifest.LabelKeys(o.Features) == nil {
		return optionError("Labels", "there are names, and no feature of class label")
	}
	return nil
}

// table returns the options as the manifest records them.
func (o *Options) table(splits string) option.Table {
	return option.New(o, o.Options.Rows(splits), []option.Option{
		{Flag: "features", To: &o.Features, Recorded: true},
		{Flag: "make-version", To: &o.MakeVersion, Recorded: o.MakeVersion != ""},
	})
}

// splitsBy returns the recorded division into splits.
func (o *Options) splitsBy(stated bool) string {
	if stated {
		return plan.SplitsByLists
	}
	return shares.FormatSplits(o.SplitShares())
}

var errTwice = errors.New("two samples have this key")
