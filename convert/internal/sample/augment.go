package sample

import (
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/annotation"
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

// Draw draws the steps for a sample, given the info of its image: none for an original.
func (s *Maker) Draw(m *Work, info augment.Info) augment.Draw {
	if m.Sample.Copy == 0 {
		return augment.Draw{}
	}
	pic, p := &s.Images[m.Sample.Image], newPlacement(info)
	image := pic.Annotated()
	if m.beside.Record != nil && m.followed.read(m, p) == nil { // follow reports the error
		image = &m.followed.image
	}
	return s.Options.Augment.Policy.DrawBoxes(s.Options.Seed, pic.Path, int(m.Sample.Copy), p.width, p.height, p.shownBoxes(image))
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
