package operation

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// Mix adds a mixture. From here on, d has the boxes of all its images.
func (d *Drawing) Mix(s steps.Mixture) {
	d.add(s)
	all := steps.Draw{Steps: d.Steps[d.first:]}
	var boxes []bitmap.Box
	add := func(part int, of []bitmap.Box, w, h int) {
		moved := all.Of(part, d.firstWidth, d.firstHeight)
		for _, b := range of {
			if b, share := moved.Box(b, w, h); share > 0 {
				boxes = append(boxes, b)
			}
		}
	}
	add(0, d.boxes, d.firstWidth, d.firstHeight)
	for i, p := range s.Partners {
		add(i+1, p.Boxes, p.Width, p.Height)
	}
	d.boxes, d.first, d.firstWidth, d.firstHeight = boxes, len(d.Steps), d.Width, d.Height
}

// Drawing is a draw in the making.
type Drawing struct {
	random        Random
	Steps         []steps.Step
	Width, Height int // after the steps so far

	boxes                   []bitmap.Box // before step first
	first                   int          // 0, or that after a mixture
	firstWidth, firstHeight int
}

// NewDrawing begins a draw for an image of w x h pixels with objects at the boxes.
func NewDrawing(r Random, w, h int, boxes []bitmap.Box) *Drawing {
	w, h = max(w, 1), max(h, 1)
	return &Drawing{random: r, Width: w, Height: h, boxes: boxes, firstWidth: w, firstHeight: h}
}

func (d *Drawing) add(s steps.Step) {
	d.Steps = append(d.Steps, s)
	d.Width, d.Height = steps.Size(s, d.Width, d.Height)
}

// from draws a number of a span.
func (d *Drawing) from(s span) float64 { return d.random.between(s.lo, s.hi) }

// whole draws a whole number of a span of such.
func (d *Drawing) whole(s span) int { return d.random.integer(int(s.lo), int(s.hi)) }

// sampler draws an operation's parameters and adds its steps.
type sampler func(*Drawing)

// Operation is one in a policy.
type Operation struct {
	Settings   Settings
	P          float64
	Operations []*Operation // of a group
	Sample     sampler
}

// Draw decides whether the operation is applied, and adds its steps.
func (o *Operation) Draw(d *Drawing) {
	if d.random.Chance(o.P) {
		o.Sample(d)
	}
}

// DrawAll draws operations in their order.
func DrawAll(operations []*Operation, d *Drawing) {
	for _, o := range operations {
		o.Draw(d)
	}
}
