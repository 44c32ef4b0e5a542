package reshape

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/digest"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Condition says which records Filter keeps: a Keep, or a KeepFor.
type Condition interface {
	// keepFor returns the Keep for records with the features that features finds.
	keepFor(features func() ([]shard.Feature, error)) (Keep, error)
}

// Keep is a condition that needs only the record. It is called from several goroutines at a time;
// the Example aliases the record and is valid until Keep returns. It must depend on nothing but
// the record.
type Keep func(e *tfrecord.Example) (bool, error)

func (k Keep) keepFor(func() ([]shard.Feature, error)) (Keep, error) { return k, nil }

// KeepFor is a condition that is checked against the features of the records, sorted by key,
// before anything is written; those that are not of one kind in all records have none. Inputs
// whose manifests do not tell their features are read once more for it.
type KeepFor func(features []shard.Feature) (Keep, error)

func (k KeepFor) keepFor(features func() ([]shard.Feature, error)) (Keep, error) {
	found, err := features()
	if err != nil {
		return nil, err
	}
	return k(found)
}

// FilterOptions says which records Filter keeps.
type FilterOptions struct {
	ReshapeOptions
	// Keep is the condition.
	Keep Condition
	// Where is the condition in words, for the manifest, and to recognise the same condition in
	// another run. Default: none.
	Where string
}

// FilterReport says what Filter did.
type FilterReport struct {
	ReshapeReport
	// Dropped is how many records were not kept.
	Dropped int64 `json:"dropped"`
}

// Filter makes a new set in the directory out of the records that a condition
// keeps, in their order and splits. All records must be tf.train.Examples.
// That no record is kept is an error.
func Filter(ctx context.Context, in []string, out string, o FilterOptions) (*FilterReport, error) {
	if o.Keep == nil {
		return nil, errNoCondition
	}
	v := &verb{name: "filter", unknown: o.Where == ""}
	if o.Where != "" {
		v.options = map[string]any{"where": o.Where}
	}
	v.chooser = keeper(nil)
	v.prepare = func(ctx context.Context, in *inputs, _ *setdir.Dir) error {
		keep, err := o.Keep.keepFor(func() ([]shard.Feature, error) { return in.features(ctx) })
		if err == nil && keep == nil {
			err = errNoCondition
		}
		v.chooser = keeper(keep)
		return err
	}
	report, err := reshape(ctx, in, out, &o.ReshapeOptions, v)
	if errors.Is(err, errNothingLeft) {
		err = fmt.Errorf("no record meets the condition: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return &FilterReport{*report, report.RecordsIn - report.Records}, nil
}

var errNoCondition = optionError("FilterOptions.Keep", "want a condition that says which records to keep")

// keeper chooses the records that it returns true for.
type keeper Keep

func (k keeper) look(r *record) (digest.Hash, error) {
	e, err := r.example()
	if err != nil {
		return digest.Hash{}, err
	}
	keep, err := k(e)
	if err != nil {
		return digest.Hash{}, r.locate(err)
	}
	if keep {
		return digest.Hash{Lo: 1}, nil
	}
	return digest.Hash{}, nil
}

func (keeper) choose(_ int64, split int, m digest.Hash) (int, error) {
	if m.Lo == 0 {
		return drop, nil
	}
	return split, nil
}
