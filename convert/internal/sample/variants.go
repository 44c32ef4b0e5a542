package sample

import (
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/convert/internal/options"
)

// AppendVariants appends the samples made from an image of a split.
func AppendVariants(a *options.AugmentSpec, members []Sample, image int32, split string) []Sample {
	if a.Policy == nil || !slices.Contains(a.Augmented(), split) {
		return append(members, Sample{Image: image})
	}
	if a.KeepOriginal {
		members = append(members, Sample{Image: image})
	}
	for i := range a.Copies {
		members = append(members, Sample{Image: image, Copy: int32(i + 1)})
	}
	return members
}

// Key returns a sample's key: the image's path, followed for a variant by # and its number.
func (s *Set) Key(sample Sample) string {
	path := s.Images[sample.Image].Path
	if sample.Copy == 0 {
		return path
	}
	return path + "#" + strconv.Itoa(int(sample.Copy))
}
