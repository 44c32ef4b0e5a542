package operation

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// Mix adds a mixture. From here on, d has the boxes of all its images.
func (d *drawing) Mix(s steps.Mixture) {
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

// drawing is a draw in the making.
type drawing struct {
	random        random
	Steps         []steps.Step
	Width, Height int // after the steps so far

	boxes                   []bitmap.Box // before step first
	first                   int          // 0, or that after a mixture
	firstWidth, firstHeight int
}

func NewDrawing(r random, w, h int, boxes []bitmap.Box) *drawing {
	w, h = max(w, 1), max(h, 1)
	return &drawing{random: r, Width: w, Height: h, boxes: boxes, firstWidth: w, firstHeight: h}
}

func (d *drawing) add(s steps.Step) {
	d.Steps = append(d.Steps, s)
	d.Width, d.Height = steps.Size(s, d.Width, d.Height)
}

// from draws a number of a span.
func (d *drawing) from(s span) float64 { return d.random.between(s.lo, s.hi) }

// whole draws a whole number of a span of such.
func (d *drawing) whole(s span) int { return d.random.integer(int(s.lo), int(s.hi)) }

// sampler draws an operation's parameters and adds its steps.
type sampler func(*drawing)

// Operation is one in a policy.
type Operation struct {
	Settings   Settings
	P          float64
	Operations []*Operation // of a group
	Sample     sampler
}

func (o *Operation) Draw(d *drawing) {
	if d.random.Chance(o.P) {
		o.Sample(d)
	}
}

func DrawAll(operations []*Operation, d *drawing) {
	for _, o := range operations {
		o.Draw(d)
	}
}
