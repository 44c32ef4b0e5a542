package steps

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// IsColor reports whether a step only changes colours, each pixel by itself.
func IsColor(s Step) bool {
	_, ok := s.(colorStep)
	return ok
}

// colorStep is a step that computes each pixel from the one in its place, after it has read what it
// needs from the whole image.
type colorStep interface {
	Step
	// recolor adds the step to r.
	recolor(r *recolor.Recoloring)
}

// applyColor is Apply of a colour step.
func applyColor[S colorStep](s S, dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	r := &workspace.Of(scratch).Steps.Recoloring
	r.Start(dst, src)
	s.recolor(r)
	r.Finish()
	return nil
}

// recolorTogether applies the steps, which must all be colour steps, to src and stores the result
// in dst. With an error it returns the index of the step that failed.
func recolorTogether(s *workspace.Scratch, dst, src *bitmap.Image, steps []Step) (failed int, err error) {
	if err := begin(steps[0].(colorStep), dst, src); err != nil {
		return 0, err
	}
	for i, step := range steps[1:] {
		if err := step.(colorStep).validate(); err != nil {
			return 1 + i, err
		}
	}
	r := &workspace.Of(s).Steps.Recoloring
	r.Start(dst, src)
	for _, step := range steps {
		step.(colorStep).recolor(r)
	}
	r.Finish()
	return 0, nil
}

// AddColor adds a colour step to r.
func AddColor(r *recolor.Recoloring, s Step) { s.(colorStep).recolor(r) }
