package steps

import "github.com/tfrec/tfrec/internal/codec/resample"

// Mask returns the draw for a mask of the image that d is for, of the same size: the steps that
// move pixels, each taking the nearest one, so that a value of the result is one of the mask's or
// fill, which is outside of the image. Steps that only change samples, such as colors, blur, noise
// and [Erase], are left out. A [Mixture] mixes masks then, and its Partners await theirs as Image,
// with their Draw applied.
func (d Draw) Mask(fill uint8) Draw {
	var m Draw
	color := [3]uint8{fill, fill, fill}
	for _, s := range d.Steps {
		switch s := s.(type) {
		case HFlip, VFlip:
			m.Steps = append(m.Steps, s)
		case CropBox:
			s.Fill = color
			m.Steps = append(m.Steps, s)
		case ResizedCrop:
			s.Filter, s.Antialias = resample.Nearest, false
			m.Steps = append(m.Steps, s)
		case ResizeTo:
			s.Filter, s.Antialias = resample.Nearest, false
			m.Steps = append(m.Steps, s)
		case Rotate:
			s.Filter, s.Fill = resample.Nearest, color
			m.Steps = append(m.Steps, s)
		case Affine:
			s.Filter, s.Fill = resample.Nearest, color
			m.Steps = append(m.Steps, s)
		case Mixture:
			m.Steps = append(m.Steps, s.mask(fill))
		case Cover:
			m.Steps = append(m.Steps, s.erase(color))
		case Perspective:
			s.Filter, s.Fill = resample.Nearest, color
			m.Steps = append(m.Steps, s)
		}
	}
	return m
}
