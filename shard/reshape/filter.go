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

// Keep says whether a record goes on. It is called from several goroutines at
// a time; the Example aliases the record and is valid until Keep returns.
type Keep func(e *tfrecord.Example) (bool, error)

// FilterOptions says which records Filter keeps.
type FilterOptions struct {
	ReshapeOptions
	// Keep says it of each record. It must depend on nothing but the record.
	Keep Keep
	// Prepare makes Keep once it is known which features the records have, and
	// before anything is written, for conditions that are checked against them.
	// With it, inputs whose manifests do not say are read once more.
	Prepare func(features []shard.Feature) (Keep, error)
	// Where is the condition in words, for the manifest, and to know the same
	// condition by. Default: none.
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
	v := &verb{name: "filter", chooser: keeper(o.Keep), unknown: o.Where == ""}
	if o.Where != "" {
		v.options = map[string]any{"where": o.Where}
	}
	if o.Prepare != nil {
		v.prepare = func(ctx context.Context, in *inputs, _ *setdir.Dir) error {
			features, err := in.features(ctx)
			if err != nil {
				return err
			}
			keep, err := o.Prepare(features)
			if err == nil && keep == nil {
				err = errNoCondition
			}
			v.chooser = keeper(keep)
			return err
		}
	} else if o.Keep == nil {
		return nil, errNoCondition
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
