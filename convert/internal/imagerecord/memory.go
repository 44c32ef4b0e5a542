package imagerecord

import (
	"github.com/tfrec/tfrec/augment"

	"github.com/tfrec/tfrec/convert/internal/options"
)

// memory estimates the peak memory for making a record of an image, given the size of its file, in
// bytes.
func (s *Maker) memory(info augment.Info, file int) int64 {
	if s.Options.Encode.Format == options.Keep && info.Keepable {
		stored := 2 * int64(file) // the record, and its frame
		switch {
		case s.Options.Encode.NoCheck:
			return stored
		case info.Format == augment.JPEG:
			return stored + int64(file) // the data without stuffing bytes
		}
		return info.Memory() + stored
	}
	w, h := info.Oriented()
	n := info.Memory()
	if s.Options.Encode.Format == options.Keep && info.Deep {
		return 2 * (n + s.resultMemory(w, h))
	}
	if s.Options.Augment.Policy != nil {
		n += 6 * int64(w) * int64(h) // the images before and after a step
	}
	return n + s.resultMemory(w, h)
}

// resultMemory estimates the memory for storing an image of w x h pixels, after the steps of the
// policy, in bytes.
func (s *Maker) resultMemory(w, h int) int64 {
	if s.Options.Resizes() {
		g := s.Options.Resize.Geometry(w, h)
		w, h = g.Width, g.Height
	}
	result := 3 * int64(w) * int64(h)
	switch s.Options.Encode.Format {
	case options.Raw:
		return 2 * result // the pixels, and framed unless they are made there
	case options.Float32:
		return (1 + 4 + 4 + 4) * result // the pixels, the numbers, encoded and framed
	}
	return 3 * result // the pixels, encoded, and framed
}
