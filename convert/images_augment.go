package convert

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/augment"
)

// variants appends the samples that an image of a split becomes.
func (o *ImageOptions) variants(members []sample, picture int32, split string) []sample {
	if o.Augment == nil || !slices.Contains(o.augmentSplits(), split) {
		return append(members, sample{picture: picture})
	}
	if o.KeepOriginal {
		members = append(members, sample{picture: picture})
	}
	for i := range o.Copies {
		members = append(members, sample{picture: picture, copy: int32(i + 1)})
	}
	return members
}

// augmentSplits returns the splits whose images get variants.
func (o *ImageOptions) augmentSplits() []string {
	if len(o.AugmentSplits) == 0 {
		return []string{"train"}
	}
	return o.AugmentSplits
}

// maxCopies bounds ImageOptions.Copies: more would be a mistake.
const maxCopies = 10000

// checkAugment says which options about variants cannot be.
func (o *ImageOptions) checkAugment() error {
	if o.Augment == nil {
		if o.Copies != 0 || o.KeepOriginal || len(o.AugmentSplits) > 0 {
			return optionError("ImageOptions.Augment", "ImageOptions.Copies, ImageOptions.KeepOriginal and ImageOptions.AugmentSplits need ImageOptions.Augment to say what is done to the copies")
		}
		return nil
	}
	if o.Copies == 0 {
		o.Copies = 1
	}
	if o.Copies < 1 || o.Copies > maxCopies {
		return optionError("ImageOptions.Copies", "%d is not between 1 and %d", o.Copies, maxCopies)
	}
	return nil
}

// checkAugmentSplits says which split to be augmented the set does not have.
func (o *ImageOptions) checkAugmentSplits(splits []string) error {
	if o.Augment == nil {
		return nil
	}
	for _, name := range o.augmentSplits() {
		if !slices.Contains(splits, name) {
			return fmt.Errorf("there is no split %q to augment (the splits are %q): choose with ImageOptions.AugmentSplits", name, splits)
		}
	}
	return nil
}

// key returns a sample's key: the image's path, and for a variant # and its
// number behind it.
func (s *imageSource) key(sample sample) string {
	path := s.pictures[sample.picture].path
	if sample.copy == 0 {
		return path
	}
	return path + "#" + strconv.Itoa(int(sample.copy))
}

// draw decides what is done to a sample of w by h pixels: nothing to an original.
func (s *imageSource) draw(sample sample, w, h int) augment.Draw {
	if sample.copy == 0 {
		return augment.Draw{}
	}
	return s.o.Augment.Draw(s.o.Seed, s.pictures[sample.picture].path, int(sample.copy), w, h)
}
