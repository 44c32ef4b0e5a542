package reshape

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// Condition selects the records that Filter keeps: a Keep or a KeepFor.
type Condition interface {
	// keepFor returns the Keep for records with the features that the function returns.
	keepFor(features func() ([]manifest.Feature, error)) (Keep, error)
}

// Keep is a condition that needs only the record. It is called concurrently; the Example aliases
// the record and is valid until Keep returns. The result must depend only on the record. A Keep that
// may take long returns the cause of ctx once that has ended.
type Keep func(ctx context.Context, e *tfrecord.Example) (bool, error)

func (k Keep) keepFor(func() ([]manifest.Feature, error)) (Keep, error) { return k, nil }

// KeepFor returns a condition after checking it against the features of the records, sorted by key,
// before anything is written; features that have values of several kinds have an empty Kind. Inputs
// whose manifests do not describe the features are read an extra time.
type KeepFor func(features []manifest.Feature) (Keep, error)

func (k KeepFor) keepFor(features func() ([]manifest.Feature, error)) (Keep, error) {
	if k == nil {
		return nil, nil
	}
	found, err := features()
	if err != nil {
		return nil, err
	}
	return k(found)
}

// FilterOptions are the options of Filter.
type FilterOptions struct {
	Options
	// Keep is the condition. Required.
	Keep Condition
	// Where is the text of the condition, which is recorded in the manifest and identifies the same
	// condition in another run. Default: none.
	Where string
}

// FilterReport is the result of Filter.
type FilterReport struct {
	Report
	// Dropped is the number of records that were not kept.
	Dropped int64 `json:"dropped"`
}

// Filter makes a new set in the directory out from the records that meet a condition, keeping their
// order and splits. All records must be tf.train.Examples. It is an error if no record meets the
// condition.
func Filter(ctx context.Context, in []string, out string, o FilterOptions) (*FilterReport, error) {
	if o.Keep == nil {
		return nil, errNoCondition()
	}
	v := newVerb("filter")
	v.Unknown = o.Where == ""
	if o.Where != "" {
		v.Options = map[string]any{"where": o.Where}
	}
	v.Chooser = keeper(nil)
	v.Prepare = func(ctx context.Context, in *source.Inputs, _ *setdir.Dir) error {
		keep, err := o.Keep.keepFor(func() ([]manifest.Feature, error) { return in.Features(ctx) })
		if err == nil && keep == nil {
			err = errNoCondition()
		}
		v.Chooser = keeper(keep)
		return err
	}
	report, err := rearrange.Make(ctx, in, out, &o.Options, v)
	if errors.Is(err, rearrange.ErrNothingLeft) {
		err = fmt.Errorf("no record meets the condition: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return &FilterReport{*report, report.RecordsIn - report.Records}, nil
}

func errNoCondition() error {
	return source.OptionError(optname.FilterOptionsKeep, "want a condition that says which records to keep")
}

// keeper is a chooser that keeps the records for which it returns true.
type keeper Keep

func (k keeper) Look(r *source.Record) (digest.Hash, error) {
	e, err := r.Example()
	if err != nil {
		return digest.Hash{}, err
	}
	keep, err := k(r.Context, e)
	if r.Context.Err() != nil {
		return digest.Hash{}, context.Cause(r.Context)
	}
	if err != nil {
		return digest.Hash{}, r.Locate(err)
	}
	if keep {
		return digest.Hash{Lo: 1}, nil
	}
	return digest.Hash{}, nil
}

func (keeper) Choose(_ int64, split int, m digest.Hash) (int, error) {
	if m.Lo == 0 {
		return source.Drop, nil
	}
	return split, nil
}
