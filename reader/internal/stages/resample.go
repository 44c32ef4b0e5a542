package stages

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// ResampleOptions are the options of Resample.
type ResampleOptions struct {
	// Initial are the shares of the classes in the records, and Target those wanted in the result:
	// for each class a number of 0 or more, in proportion. A class that is wanted must be there.
	// Label counts, as `tfrec stats` prints them, will do for Initial. Default of Target: all equal.
	Initial, Target []float64
	// Seed of the decisions. Default: Seed of the Options.
	Seed *uint64
}

// Resample adds a stage that drops records at random, by their class. seed is used if the options
// have none.
func Resample(before *pipeline.Link, class func(pipeline.Record) (int, error), o ResampleOptions, seed uint64) *pipeline.Link {
	if o.Seed != nil {
		seed = *o.Seed
	}
	accept, err := o.acceptance()
	name := fmt.Sprintf("resample(seed=%d,accept=%v)", seed, accept)
	if err == nil && class == nil {
		err = errors.New("want a function")
	}
	if err != nil {
		err = fmt.Errorf("reader: Resample: %w", err)
		return before.Then(name, func(*pipeline.Run, pipeline.Stage) (pipeline.Stage, error) { return nil, err })
	}
	return namedFilter(before, name, func(r pipeline.Record) (bool, error) {
		c, err := class(r)
		if err == nil && (c < 0 || c >= len(accept)) {
			err = fmt.Errorf("class %d: want one of the %d of Initial, from 0", c, len(accept))
		}
		if err != nil {
			return false, err
		}
		return pipeline.Draws(pipeline.Key(seed, pipeline.ForResample, uint64(r.Epoch), uint64(r.File))).Float(r.Number) < accept[c], nil
	})
}

// acceptance returns the probability with which a record of each class is kept.
func (o *ResampleOptions) acceptance() ([]float64, error) {
	if len(o.Initial) == 0 {
		return nil, errors.New("want the shares of the classes in Initial")
	}
	target := o.Target
	if target == nil {
		target = slices.Repeat([]float64{1}, len(o.Initial))
	}
	if len(target) != len(o.Initial) {
		return nil, fmt.Errorf("%d shares in Target, %d in Initial", len(target), len(o.Initial))
	}
	if err := pipeline.CheckWeights(o.Initial); err != nil {
		return nil, fmt.Errorf("the shares in Initial: %w", err)
	}
	if err := pipeline.CheckWeights(target); err != nil {
		return nil, fmt.Errorf("the shares in Target: %w", err)
	}
	accept, most := make([]float64, len(target)), 0.0
	for i, want := range target {
		if want > 0 && o.Initial[i] == 0 {
			return nil, fmt.Errorf("class %d has a share of %g in Target and none in Initial", i, want)
		}
		if want > 0 {
			accept[i] = want / o.Initial[i]
			if most = max(most, accept[i]); math.IsInf(most, 0) {
				return nil, fmt.Errorf("class %d has a share of %g in Initial: too small to count", i, o.Initial[i])
			}
		}
	}
	for i := range accept {
		accept[i] /= most
	}
	return accept, nil
}
