package convert

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// AugmentSpec says which variants of images are made.
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

// maxCopies bounds AugmentSpec.Copies: more would be a mistake.
const maxCopies = 10000

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
	if a.Copies < 1 || a.Copies > maxCopies {
		return plan.OptionErrorf(optname.AugmentSpecCopies, "%d is not between 1 and %d", a.Copies, maxCopies)
	}
	return nil
}

// splits returns the splits whose images get variants.
func (a *AugmentSpec) splits() []string {
	if len(a.Splits) == 0 {
		return []string{"train"}
	}
	return a.Splits
}

// checkSplits returns an error if the set lacks a split to be augmented.
func (a *AugmentSpec) checkSplits(splits []string) error {
	if a.Policy == nil {
		return nil
	}
	for _, name := range a.splits() {
		if !slices.Contains(splits, name) {
			return fmt.Errorf("there is no split %q to augment (the splits are %s): choose with %s", name, plural.Quoted(splits, len(splits)), optname.AugmentSpecSplits)
		}
	}
	return nil
}

// variants appends the samples made from an image of a split.
func (a *AugmentSpec) variants(members []sample, image int32, split string) []sample {
	if a.Policy == nil || !slices.Contains(a.splits(), split) {
		return append(members, sample{image: image})
	}
	if a.KeepOriginal {
		members = append(members, sample{image: image})
	}
	for i := range a.Copies {
		members = append(members, sample{image: image, copy: int32(i + 1)})
	}
	return members
}

// key returns a sample's key: the image's path, followed for a variant by # and its number.
func (s *imageSet) key(sample sample) string {
	path := s.images[sample.image].path
	if sample.copy == 0 {
		return path
	}
	return path + "#" + strconv.Itoa(int(sample.copy))
}

// draw draws the steps for a sample, given the info of its image: none for an original.
func (s *sampleMaker) draw(m *sampleWork, info augment.Info) augment.Draw {
	if m.sample.copy == 0 {
		return augment.Draw{}
	}
	pic, p := &s.images[m.sample.image], newPlacement(info)
	image := pic.annotated()
	if m.beside.record != nil && m.followed.read(m, p) == nil { // follow reports the error
		image = &m.followed.image
	}
	return s.o.Augment.Policy.DrawBoxes(s.o.Seed, pic.path, int(m.sample.copy), p.width, p.height, p.shownBoxes(image))
}

// shownBoxes returns the usable boxes of an image, which may be nil, in pixels of the image as
// shown, clipped to it.
func (p *placement) shownBoxes(image *annotation.Image) []augment.Box {
	if image == nil {
		return nil
	}
	boxes := make([]augment.Box, 0, len(image.Objects))
	for i := range image.Objects {
		if b, err := p.shownBox(image, image.Objects[i].Box); err == nil {
			boxes = append(boxes, b)
		}
	}
	return boxes
}
