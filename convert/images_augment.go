package convert

import (
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/annotation"
)

// variants appends the samples made from an image of a split.
func appendVariants(a *options.AugmentSpec, members []sample, image int32, split string) []sample {
	if a.Policy == nil || !slices.Contains(a.Augmented(), split) {
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
	path := s.images[sample.image].Path
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
	image := pic.Annotated()
	if m.beside.Record != nil && m.followed.read(m, p) == nil { // follow reports the error
		image = &m.followed.image
	}
	return s.o.Augment.Policy.DrawBoxes(s.o.Seed, pic.Path, int(m.sample.copy), p.width, p.height, p.shownBoxes(image))
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
