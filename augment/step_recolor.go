package augment

// Consecutive colour steps are done together: all of them are applied to a row while it is in the
// cache, and steps that are tables are combined into one table. The bytes equal the result of one
// step after the other.

// colorStep is a step that computes each pixel from the one in its place, after it has read what it
// needs from the whole image.
type colorStep interface {
	Step
	// recolor adds the step to r.
	recolor(r *recoloring)
}

// recoloring holds the pending changes to an image.
type recoloring struct {
	from, to *Image // from is to once rows have been written
	parts    []colorPart
	row      []uint8 // of from, after the steps so far
	gray     []uint8 // the same in gray
}

// colorPart is something that is done to each row: samples are looked up, and then pixels mixed
// with their luminance, replaced by it, or turned.
type colorPart struct {
	lookUp bool
	same   bool // all tables are equal
	tables channelLevels
	then   colorOperation
	mix    blender
	turn   uint8
}

// colorOperation is an operation on pixels after the lookup of their samples.
type colorOperation uint8

const (
	colorNone colorOperation = iota
	colorMix
	colorGray
	colorTurn
)

// applyColor is Apply of a colour step.
func applyColor[S colorStep](s S, dst, src *Image, scratch *Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	scratch, free := scratch.orOwn()
	defer free()
	r := &memoryOf(scratch).steps.recoloring
	r.start(dst, src)
	s.recolor(r)
	r.finish()
	return nil
}

// recolor applies the steps, which must all be colour steps, to src and stores the result in dst.
// With an error it returns the index of the step that failed.
func (s *Scratch) recolor(dst, src *Image, steps []Step) (failed int, err error) {
	if err := begin(steps[0].(colorStep), dst, src); err != nil {
		return 0, err
	}
	for i, step := range steps[1:] {
		if err := step.(colorStep).validate(); err != nil {
			return 1 + i, err
		}
	}
	r := &memoryOf(s).steps.recoloring
	r.start(dst, src)
	for _, step := range steps {
		step.(colorStep).recolor(r)
	}
	r.finish()
	return 0, nil
}

// addColor adds a colour step to r.
func addColor(r *recoloring, s Step) { s.(colorStep).recolor(r) }

// start sets the image, and the destination of the same size.
func (r *recoloring) start(dst, src *Image) {
	r.from, r.to, r.parts = src, dst, r.parts[:0]
	r.row, r.gray = room(r.row, src.Width*src.Channels), room(r.gray, src.Width)
}

// finish applies the pending changes.
func (r *recoloring) finish() {
	if len(r.parts) > 0 || r.from != r.to {
		r.write(func([]uint8) {})
	}
	r.from, r.to = nil, nil
}

// part returns the last part, or a new one when that has an operation already.
func (r *recoloring) part() *colorPart {
	if n := len(r.parts); n > 0 && r.parts[n-1].then == colorNone {
		return &r.parts[n-1]
	}
	r.parts = append(r.parts, colorPart{})
	return &r.parts[len(r.parts)-1]
}

// look adds a table for all samples.
func (r *recoloring) look(t *levels) {
	p := r.part()
	if !p.lookUp {
		p.lookUp, p.same, p.tables[0] = true, true, *t
		return
	}
	for c := range p.tables {
		p.tables[c].andThen(t)
	}
}

// lookEach adds a table for each channel.
func (r *recoloring) lookEach(t *channelLevels) {
	p := r.part()
	switch {
	case !p.lookUp:
		p.lookUp, p.same, p.tables = true, false, *t
		return
	case p.same:
		p.same, p.tables[1], p.tables[2] = false, p.tables[0], p.tables[0]
	}
	for c := range p.tables {
		p.tables[c].andThen(&t[c])
	}
}

// pixels adds an operation. It makes no difference to gray images, which have none.
func (r *recoloring) pixels(o colorOperation) *colorPart {
	p := r.part()
	p.then = o
	return p
}

// apply does the parts to a row. dst may be src.
func (r *recoloring) apply(dst, src []uint8) {
	channels := r.from.Channels
	for i := range r.parts {
		p := &r.parts[i]
		switch {
		case !p.lookUp:
		case p.same:
			p.tables[0].applyRow(dst, src)
			src = dst
		default:
			p.tables.applyRow(dst, src, channels)
			src = dst
		}
		if channels == 3 {
			switch p.then {
			case colorMix:
				saturateRow(dst, src, &p.mix)
			case colorGray:
				grayRow(dst, src, r.gray)
			case colorTurn:
				turnRow(dst, src, p.turn)
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
func (r *recoloring) write(show func(row []uint8)) {
	for y := range r.to.Height {
		row := r.to.Row(y)
		r.apply(row, r.from.Row(y))
		show(row)
	}
	r.from, r.parts = r.to, r.parts[:0]
}

// rows passes the rows of the image, after the steps so far, to a step that has to know all of
// them. If the pending changes are more than a lookup, it writes them first, so that they are
// applied only once.
func (r *recoloring) rows(show func(row []uint8)) {
	for i := range r.parts {
		if r.parts[i].then != colorNone {
			r.write(show)
			return
		}
	}
	for y := range r.from.Height {
		row := r.from.Row(y)
		if len(r.parts) > 0 {
			r.apply(r.row, row)
			row = r.row
		}
		show(row)
	}
}
