package placed

import (
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/origin"
)

// Memory estimates the peak memory for the masks and keypoints of an image, in bytes: for its
// annotations and a number of other masks.
func (s *Placer) Memory(pic *origin.Image, info augment.Info, masks int64) int64 {
	if pic.Mask() != nil {
		masks++
	}
	if pic.Annotated() != nil && s.Options.Annotations.InstanceMasks {
		masks += int64(len(pic.Annotated().Objects))
	}
	var n int64
	if pic.Annotated() != nil {
		const copies = 7 // placed, in lists, in the record, and in its frame
		n = copies * min(s.keypointBytes()*int64(len(pic.Annotated().Objects)), MaxKeypointBytes)
	}
	if masks == 0 {
		return n
	}
	w, h := info.Oriented()
	n += 6 * int64(w) * int64(h) // drawn, turned, and the images between steps
	if s.Colors != nil {
		n += 5 * int64(w) * int64(h) // drawn and turned in RGB
	}
	if s.Options.Resizes() {
		g := s.Options.Resize.Geometry(w, h)
		w, h = g.Width, g.Height
	}
	result := int64(w) * int64(h)
	return n + 2*result + 3*masks*(result/8+256) // encoded, in the record, and in its frame
}

// Stored returns the bytes that masks of objects and keypoints take in a record.
func (s *Placer) Stored(o *Objects) int64 {
	return int64(len(o.masks)) + s.keypointBytes()*int64(len(o.placed))
}
