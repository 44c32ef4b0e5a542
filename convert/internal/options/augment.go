package options

import (
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// AugmentSpec configures the variants of images.
type AugmentSpec struct {
	// Policy draws the steps of each variant. They apply to the decoded image, before it is
	// resized. Default: no variants.
	Policy *augment.Policy
	// Copies is the number of variants of each image, stored in place of the original. Default: 1.
	Copies int
	// KeepOriginal also stores the original.
	KeepOriginal bool
	// Splits are the splits augmented. Default: "train".
	Splits []string
}

// MaxCopies bounds AugmentSpec.Copies: more would be a mistake.
const MaxCopies = 10000

// complete fills in defaults and returns an error for invalid fields.
func (a *AugmentSpec) complete() error {
	if a.Policy == nil {
		if a.Copies != 0 || a.KeepOriginal || len(a.Splits) > 0 {
			return plan.OptionErrorf(optname.AugmentSpecPolicy, "%s, %s and %s need %s to say what is done to the copies", optname.AugmentSpecCopies, optname.AugmentSpecKeepOriginal, optname.AugmentSpecSplits, optname.AugmentSpecPolicy)
		}
		return nil
	}
	if a.Copies == 0 {
		a.Copies = 1
	}
	if a.Copies < 1 || a.Copies > MaxCopies {
		return plan.OptionErrorf(optname.AugmentSpecCopies, "%d is not between 1 and %d", a.Copies, MaxCopies)
	}
	return nil
}

// Augmented returns the splits whose images get variants.
func (a *AugmentSpec) Augmented() []string {
	if len(a.Splits) == 0 {
		return []string{"train"}
	}
	return a.Splits
}

// CheckSplits returns an error if the set does not have a split to be augmented.
func (a *AugmentSpec) CheckSplits(splits []string) error {
	if a.Policy == nil {
		return nil
	}
	for _, name := range a.Augmented() {
		if !slices.Contains(splits, name) {
			return fmt.Errorf("there is no split %q to augment (the splits are %s): choose with %s", name, plural.Quoted(splits, len(splits)), optname.AugmentSpecSplits)
		}
	}
	return nil
}

// Mirrors reports whether variants may be mirrored.
func (a *AugmentSpec) Mirrors() bool { return a.Policy != nil && a.Policy.Mirrors() }

// Mixes reports whether variants are mixed with other images.
func (a *AugmentSpec) Mixes() bool { return a.Policy != nil && a.Policy.Mixes() }
