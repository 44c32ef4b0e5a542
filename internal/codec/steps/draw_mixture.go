package steps

import (
	"slices"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// MixtureAt returns the index of the draw's mixture, -1 without one.
func MixtureAt(d Draw) int {
	return slices.IndexFunc(d.Steps, func(s Step) bool { _, ok := s.(Mixture); return ok })
}

// Of returns the steps that a draw with a [Mixture] applies to one of its images, without the
// mixture, for [Draw.Box], [Draw.AreaScale] and [Draw.Mask]. Part 0 is the image of the draw, of w
// x h pixels; part i is partner i-1. Pixels of the other images are not in the result. Without a
// mixture it returns the draw.
func (d Draw) Of(part, w, h int) Draw {
	at := MixtureAt(d)
	if at < 0 {
		return d
	}
	s := d.Steps[at].(Mixture)
	before := Draw{d.Steps[:at]}
	w, h = before.Size(w, h)
	toW, toH := s.size(w, h)
	if part > 0 {
		p := &s.Partners[part-1]
		before = p.Draw
		w, h = before.Size(p.Width, p.Height)
	}
	return Draw{slices.Concat(before.Steps, s.steps(part, w, h, toW, toH), d.Steps[at+1:])}
}

// mask returns the mixture of the masks of its images, without their Image. It does not change a
// mixture of masks.
func (s Mixture) mask(fill uint8) Mixture {
	if s.ofMasks {
		return s
	}
	s.ofMasks, s.fill = true, fill
	s.Partners = slices.Clone(s.Partners)
	for i := range s.Partners {
		p := &s.Partners[i]
		p.Image, p.Draw = nil, p.Draw.Mask(fill)
	}
	return s
}

// Cover is the step that hides a box of the image: what cutmix does to the objects of an image.
type Cover CropBox

func (s Cover) op() string { return "cover" }

func (s Cover) size(w, h int) (int, int) { return w, h }

func (s Cover) validate() error { return checkBox(s.op(), s.X, s.Y, s.W, s.H) }

func (s Cover) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return s.erase(s.Fill).apply(dst, src, scratch)
}

func (s Cover) erase(color [3]uint8) Erase {
	return Erase{X: s.X, Y: s.Y, W: s.W, H: s.H, Value: color}
}

// Hide returns the smallest box around the visible part of a box, and the visible share of its
// area.
func (s Cover) Hide(b bitmap.Box) (bitmap.Box, float64) {
	c := bitmap.Box{XMin: float64(s.X), YMin: float64(s.Y), XMax: float64(s.X + s.W), YMax: float64(s.Y + s.H)}
	hidden := bitmap.Box{XMin: max(b.XMin, c.XMin), YMin: max(b.YMin, c.YMin), XMax: min(b.XMax, c.XMax), YMax: min(b.YMax, c.YMax)}
	area := hidden.Area()
	if area == 0 {
		return b, 1
	}
	left := b.Area() - area
	if hidden == b || left <= 0 {
		return bitmap.Box{}, 0
	}
	share := left / b.Area()
	if hidden.YMin == b.YMin && hidden.YMax == b.YMax { // a side is cut off
		if hidden.XMin == b.XMin {
			b.XMin = hidden.XMax
		} else if hidden.XMax == b.XMax {
			b.XMax = hidden.XMin
		}
	} else if hidden.XMin == b.XMin && hidden.XMax == b.XMax {
		if hidden.YMin == b.YMin {
			b.YMin = hidden.YMax
		} else if hidden.YMax == b.YMax {
			b.YMax = hidden.YMin
		}
	}
	return b, share
}
