package augment

import (
	"slices"
	"strconv"
)

// mixtureAt returns the index of the draw's mixture, -1 without one.
func (d Draw) mixtureAt() int {
	return slices.IndexFunc(d.Steps, func(s Step) bool { _, ok := s.(Mixture); return ok })
}

// Of returns the steps that a draw with a [Mixture] applies to one of its images, without the
// mixture, for [Draw.Box], [Draw.AreaScale] and [Draw.Mask]. Part 0 is the image of the draw, of w
// x h pixels; part i is partner i-1. Pixels of the other images are not in the result. Without a
// mixture it returns the draw.
func (d Draw) Of(part, w, h int) Draw {
	at := d.mixtureAt()
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

// cover is the step that hides a box of the image: what cutmix does to the objects of an image.
type cover CropBox

func (s cover) op() string { return "cover" }

func (s cover) size(w, h int) (int, int) { return w, h }

func (s cover) validate() error { return checkBox(s.op(), s.X, s.Y, s.W, s.H) }

func (s cover) apply(dst, src *Image, scratch *Scratch) error {
	return s.erase(s.Fill).apply(dst, src, scratch)
}

func (s cover) erase(color [3]uint8) Erase {
	return Erase{X: s.X, Y: s.Y, W: s.W, H: s.H, Value: color}
}

// hide returns the smallest box around the visible part of a box, and the visible share of its
// area.
func (s cover) hide(b Box) (Box, float64) {
	c := Box{float64(s.X), float64(s.Y), float64(s.X + s.W), float64(s.Y + s.H)}
	hidden := Box{max(b.XMin, c.XMin), max(b.YMin, c.YMin), min(b.XMax, c.XMax), min(b.YMax, c.YMax)}
	area := hidden.Area()
	if area == 0 {
		return b, 1
	}
	left := b.Area() - area
	if hidden == b || left <= 0 {
		return Box{}, 0
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

// Mixes reports whether the policy has an operation that mixes images, such as mixup. The mixing of
// batches by a [Mix] does not count.
func (p *Policy) Mixes() bool { return p.mix >= 0 }

// Partners returns how many images are mixed into variant copy of the image with that key: 1, or 3
// for a mosaic; 0 without a mixing operation, or if it is not applied to the variant. It depends
// only on the arguments.
func (p *Policy) Partners(seed uint64, key string, copy int) int {
	if !p.Mixes() {
		return 0
	}
	o := p.operations[p.mix]
	if !randomFor(seed, "mixed\x00"+key, copy).chance(o.p) {
		return 0
	}
	return partnersOf(o.settings.of.name)
}

// DrawMixed is [Policy.DrawBoxes] for an image with partners, as many as [Policy.Partners] returns:
// their Key, Width, Height and Boxes. The operations before the mixing one draw for each partner by
// itself. The draw has a [Mixture], whose Partners await their Image. Without partners the image is
// not mixed.
func (p *Policy) DrawMixed(seed uint64, key string, copy, w, h int, boxes []Box, partners []Partner) Draw {
	d := newDrawing(randomFor(seed, key, copy), w, h, boxes)
	for i, o := range p.operations {
		if i != p.mix {
			o.draw(d)
			continue
		}
		if len(partners) != partnersOf(o.settings.of.name) {
			continue
		}
		drawn := slices.Clone(partners)
		for k := range drawn {
			one := &drawn[k]
			pd := newDrawing(randomFor(seed, "partner\x00"+strconv.Itoa(k)+"\x00"+key, copy), one.Width, one.Height, one.Boxes)
			drawAll(p.operations[:i], pd)
			one.Width, one.Height = max(one.Width, 1), max(one.Height, 1)
			one.Draw = Draw{pd.steps}
		}
		d.mix(o.mixture(seed, key, copy, d.width, d.height, drawn))
	}
	return Draw{Steps: d.steps}
}

// mix adds a mixture. From here on, d has the boxes of all its images.
func (d *drawing) mix(s Mixture) {
	d.add(s)
	all := Draw{d.steps[d.first:]}
	var boxes []Box
	add := func(part int, of []Box, w, h int) {
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
	d.boxes, d.first, d.firstWidth, d.firstHeight = boxes, len(d.steps), d.width, d.height
}
