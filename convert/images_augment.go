package convert

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/augment"
)

// variants appends the samples made from an image of a split.
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

// checkAugment returns an error for invalid options about variants.
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

// checkAugmentSplits returns an error if the set lacks a split to be augmented.
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

// key returns a sample's key: the image's path, followed for a variant by # and its number.
func (s *imageSource) key(sample sample) string {
	path := s.pictures[sample.picture].path
	if sample.copy == 0 {
		return path
	}
	return path + "#" + strconv.Itoa(int(sample.copy))
}

// draw draws the steps for a sample of w by h pixels: none for an original.
func (s *imageSource) draw(sample sample, w, h int) augment.Draw {
	if sample.copy == 0 {
		return augment.Draw{}
	}
	return s.o.Augment.Draw(s.o.Seed, s.pictures[sample.picture].path, int(sample.copy), w, h)
}
