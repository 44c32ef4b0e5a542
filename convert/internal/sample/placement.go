package sample

import (
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/masks"
	"github.com/tfrec/tfrec/internal/orientation"
)

// placement is where what is annotated on an image goes in the image that is stored.
type placement struct {
	width, height             int  // of the image as shown
	storedWidth, storedHeight int  // of the image in its file
	orientation               int  // makes the one of the other
	onStored                  bool // annotations are on the image in its file, whatever its size
	keeps                     bool // the file is stored as it is
	draw                      augment.Draw
	resize                    *augment.ResizeSpec // nil: none
	geometry                  augment.Geometry    // of resize
	resultWidth, resultHeight int                 // of the stored image
}

// newPlacement returns the placement for an image of which only the original is known.
func newPlacement(info augment.Info) *placement {
	p := &placement{storedWidth: info.Width, storedHeight: info.Height, orientation: max(info.Orientation, 1)}
	p.width, p.height = info.Oriented()
	return p
}

// Placement returns the placement for an image that was just prepared.
func (s *placer) Placement(m *Work, info augment.Info) *placement {
	p := newPlacement(info)
	if p.keeps = m.out.data != nil && info.Keepable; p.keeps {
		p.resultWidth, p.resultHeight = info.Width, info.Height
		return p
	}
	p.draw = m.Task.Draw
	p.resultWidth, p.resultHeight = p.draw.Size(p.width, p.height)
	if s.Options.Resizes() {
		p.resize = &s.Options.Resize
		p.geometry = p.resize.Geometry(p.resultWidth, p.resultHeight)
		p.resultWidth, p.resultHeight = p.geometry.Width, p.geometry.Height
	}
	return p
}

// turned reports whether annotations of an image of w x h pixels are on the image in its file: if
// that is their size, and not that of the image as shown. A size of 0 is not known.
func (p *placement) turned(w, h int) bool {
	return p.onStored || w == p.storedWidth && h == p.storedHeight && (w != p.width || h != p.height)
}

// box moves a box on the image as shown to the stored image, and returns the share of its area that
// is left. Its area is 0 if it is lost.
func (p *placement) box(b augment.Box) (augment.Box, float64) {
	if p.keeps {
		return b.Orient(orientation.Inverse(p.orientation), p.width, p.height), 1
	}
	b, visible := p.draw.Box(b, p.width, p.height)
	if p.resize != nil {
		var share float64
		b, share = p.geometry.Box(b)
		visible *= share
	}
	return b, visible
}

// moves reports whether pixels of the stored image are elsewhere than in the file, or scaled.
func (p *placement) moves() bool {
	if p.keeps {
		return false
	}
	g := &p.geometry
	return p.orientation != 1 || len(p.draw.Mask(0).Steps) > 0 ||
		p.resize != nil && (g.ScaledWidth != p.width || g.ScaledHeight != p.height || g.Width != p.width || g.Height != p.height)
}

// areaScale is the ratio of the area of an object in the stored image to that in the source.
func (p *placement) areaScale() float64 {
	if p.keeps {
		return 1
	}
	scale := p.draw.AreaScale(p.width, p.height)
	if p.resize != nil {
		g := &p.geometry
		scale *= float64(g.ScaledWidth) / float64(g.SourceWidth) * float64(g.ScaledHeight) / float64(g.SourceHeight)
	}
	return scale
}

// mask moves the mask in m.drawn, which has one channel and is annotated on an image of w x h
// pixels, to the stored image, taking the nearest pixels; fill is what is outside. The result is
// valid until the next mask.
func (p *placement) mask(m *Work, w, h int, fill uint8) (*augment.Image, error) {
	exif := 1
	switch turned := p.turned(w, h); {
	case p.keeps && !turned:
		exif = orientation.Inverse(p.orientation)
	case !p.keeps && turned:
		exif = p.orientation
	}
	way := masks.NewWay(exif, p.draw, p.resize, fill)
	if way.Stays() {
		return &m.drawn, nil
	}
	t := &m.maskTask
	t.Scratch = &m.resize
	way.Begin(t, &m.drawn)
	tasks := [1]*augment.Task{t}
	_ = augment.CPU{}.Render(tasks[:]) // the error is the task's
	return &t.Pixels, t.Err
}
