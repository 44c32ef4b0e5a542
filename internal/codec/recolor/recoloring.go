package recolor

import "github.com/tfrec/tfrec/internal/codec/bitmap"

// Consecutive colour steps are done together: all of them are applied to a row while it is in the
// cache, and steps that are tables are combined into one table. The bytes equal the result of one
// step after the other.

// Recoloring holds the pending changes to an image.
type Recoloring struct {
	From, to *bitmap.Image // from is to once rows have been written
	Parts    []Part
	Row      []uint8 // of from, after the steps so far
	Gray     []uint8 // the same in gray
}

// Part is something that is done to each row: samples are looked up, and then pixels mixed
// with their luminance, replaced by it, or turned.
type Part struct {
	LookUp bool
	Same   bool // all tables are equal
	Tables ChannelLevels
	Then   Operation
	Mix    Blender
	Turn   uint8
}

// Operation is an operation on pixels after the lookup of their samples.
type Operation uint8

const (
	None Operation = iota
	Mix
	Gray
	Turn
)

// Start sets the image, and the destination of the same size.
func (r *Recoloring) Start(dst, src *bitmap.Image) {
	r.From, r.to, r.Parts = src, dst, r.Parts[:0]
	r.Row, r.Gray = bitmap.Room(r.Row, src.Width*src.Channels), bitmap.Room(r.Gray, src.Width)
}

// Finish applies the pending changes.
func (r *Recoloring) Finish() {
	if len(r.Parts) > 0 || r.From != r.to {
		r.write(func([]uint8) {})
	}
	r.From, r.to = nil, nil
}

// part returns the last part, or a new one when that has an operation already.
func (r *Recoloring) part() *Part {
	if n := len(r.Parts); n > 0 && r.Parts[n-1].Then == None {
		return &r.Parts[n-1]
	}
	r.Parts = append(r.Parts, Part{})
	return &r.Parts[len(r.Parts)-1]
}

// Look adds a table for all samples.
func (r *Recoloring) Look(t *Levels) {
	p := r.part()
	if !p.LookUp {
		p.LookUp, p.Same, p.Tables[0] = true, true, *t
		return
	}
	for c := range p.Tables {
		p.Tables[c].andThen(t)
	}
}

// LookEach adds a table for each channel.
func (r *Recoloring) LookEach(t *ChannelLevels) {
	p := r.part()
	switch {
	case !p.LookUp:
		p.LookUp, p.Same, p.Tables = true, false, *t
		return
	case p.Same:
		p.Same, p.Tables[1], p.Tables[2] = false, p.Tables[0], p.Tables[0]
	}
	for c := range p.Tables {
		p.Tables[c].andThen(&t[c])
	}
}

// Pixels adds an operation. It makes no difference to gray images, which have none.
func (r *Recoloring) Pixels(o Operation) *Part {
	p := r.part()
	p.Then = o
	return p
}

// apply does the parts to a row. dst may be src.
func (r *Recoloring) apply(dst, src []uint8) {
	channels := r.From.Channels
	for i := range r.Parts {
		p := &r.Parts[i]
		switch {
		case !p.LookUp:
		case p.Same:
			p.Tables[0].applyRow(dst, src)
			src = dst
		default:
			p.Tables.applyRow(dst, src, channels)
			src = dst
		}
		if channels == 3 {
			switch p.Then {
			case Mix:
				saturateRow(dst, src, &p.Mix)
			case Gray:
				grayRow(dst, src, r.Gray)
			case Turn:
				turnRow(dst, src, p.Turn)
			default:
				continue
			}
			src = dst
		}
	}
	if &src[0] != &dst[0] {
		copy(dst, src)
	}
}

// write applies the pending changes and passes each resulting row to show.
func (r *Recoloring) write(show func(row []uint8)) {
	for y := range r.to.Height {
		row := r.to.Row(y)
		r.apply(row, r.From.Row(y))
		show(row)
	}
	r.From, r.Parts = r.to, r.Parts[:0]
}

// rows passes the rows of the image, after the steps so far, to a step that has to know all of
// them. If the pending changes are more than a lookup, it writes them first, so that they are
// applied only once.
func (r *Recoloring) rows(show func(row []uint8)) {
	for i := range r.Parts {
		if r.Parts[i].Then != None {
			r.write(show)
			return
		}
	}
	for y := range r.From.Height {
		row := r.From.Row(y)
		if len(r.Parts) > 0 {
			r.apply(r.Row, row)
			row = r.Row
		}
		show(row)
	}
}

// MeanLuminance is the mean level of the image in grayscale, rounded.
func (r *Recoloring) MeanLuminance() uint8 {
	sum := uint64(0)
	r.rows(func(row []uint8) {
		if r.From.Channels == 3 {
			LuminanceRow(r.Gray, row)
			row = r.Gray
		}
		sum += sumOf(row)
	})
	n := uint64(r.From.Width) * uint64(r.From.Height)
	return uint8((2*sum + n) / (2 * n))
}
