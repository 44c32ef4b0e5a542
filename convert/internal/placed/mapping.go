package placed

import (
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/codec/orientation"
)

// Mapping maps positions on an image, as annotations have them, to the stored image.
type Mapping struct {
	Width, Height             int // of the image as shown
	Draw                      augment.Draw
	storedWidth, storedHeight int                 // of the image in its file
	orientation               int                 // turns the image in its file into the one shown
	onStored                  bool                // annotations are on the image in its file, whatever its size
	keeps                     bool                // the file is stored as it is
	resize                    *augment.ResizeSpec // nil: none
	geometry                  augment.Geometry    // of resize
	resultWidth, resultHeight int                 // of the stored image
}

// Of returns the mapping for an image whose stored form is not known yet.
func Of(info augment.Info) *Mapping {
	p := &Mapping{storedWidth: info.Width, storedHeight: info.Height, orientation: max(info.Orientation, 1)}
	p.Width, p.Height = info.Oriented()
	return p
}

// Kept returns the mapping for an image whose file is stored as it is.
func Kept(info augment.Info) *Mapping {
	p := Of(info)
	p.keeps, p.resultWidth, p.resultHeight = true, info.Width, info.Height
	return p
}

// Drawn returns the mapping for an image that is stored after the steps of a draw and a resize, nil for
// none.
func Drawn(info augment.Info, draw augment.Draw, resize *augment.ResizeSpec) *Mapping {
	p := Of(info)
	p.Draw = draw
	p.resultWidth, p.resultHeight = draw.Size(p.Width, p.Height)
	if resize != nil {
		p.resize = resize
		p.geometry = resize.Geometry(p.resultWidth, p.resultHeight)
		p.resultWidth, p.resultHeight = p.geometry.Width, p.geometry.Height
	}
	return p
}

// Partner returns the mapping for an image that the steps of a draw mix into the stored image of p.
func (p *Mapping) Partner(info augment.Info, draw augment.Draw) *Mapping {
	partner, of := *p, Of(info)
	partner.Width, partner.Height, partner.storedWidth, partner.storedHeight, partner.orientation = of.Width, of.Height, of.storedWidth, of.storedHeight, of.orientation
	partner.Draw = draw
	return &partner
}

// turned reports whether annotations on an image of w x h pixels are on the image in its file: if its
// size is w x h, and the image as shown has another. A size of 0 is unknown.
func (p *Mapping) turned(w, h int) bool {
	return p.onStored || w == p.storedWidth && h == p.storedHeight && (w != p.Width || h != p.Height)
}

// box moves a box on the image as shown to the stored image, and returns the share of its area that
// is left. Its area is 0 if it is lost.
func (p *Mapping) box(b augment.Box) (augment.Box, float64) {
	if p.keeps {
		return b.Orient(orientation.Inverse(p.orientation), p.Width, p.Height), 1
	}
	b, visible := p.Draw.Box(b, p.Width, p.Height)
	if p.resize != nil {
		var share float64
		b, share = p.geometry.Box(b)
		visible *= share
	}
	return b, visible
}

// moves reports whether pixels of the stored image are elsewhere than in the file, or scaled.
func (p *Mapping) moves() bool {
	if p.keeps {
		return false
	}
	g := &p.geometry
	return p.orientation != 1 || len(p.Draw.Mask(0).Steps) > 0 ||
		p.resize != nil && (g.ScaledWidth != p.Width || g.ScaledHeight != p.Height || g.Width != p.Width || g.Height != p.Height)
}

// areaScale is the ratio of the area of an object in the stored image to that in the source.
func (p *Mapping) areaScale() float64 {
	if p.keeps {
		return 1
	}
	scale := p.Draw.AreaScale(p.Width, p.Height)
	if p.resize != nil {
		g := &p.geometry
		scale *= float64(g.ScaledWidth) / float64(g.SourceWidth) * float64(g.ScaledHeight) / float64(g.SourceHeight)
	}
	return scale
}

// shownBox returns a box of an annotation in pixels of the image as shown, clipped to it.
func (p *Mapping) shownBox(image *annotation.Image, b annotation.Box) (augment.Box, error) {
	box := augment.Box(b)
	if image.Relative {
		w, h := float64(p.Width), float64(p.Height)
		box = augment.Box{XMin: b.XMin * w, YMin: b.YMin * h, XMax: b.XMax * w, YMax: b.YMax * h}
	}
	switch {
	case box.Area() == 0:
		return box, fmt.Errorf("the box has no area: %g,%g to %g,%g", b.XMin, b.YMin, b.XMax, b.YMax)
	case p.turned(image.Width, image.Height):
		box = box.Orient(p.orientation, p.storedWidth, p.storedHeight)
	}
	clipped := box.Clip(p.Width, p.Height)
	if clipped.Area() == 0 {
		return box, fmt.Errorf("the box is outside of the image, which is %dx%d: %g,%g to %g,%g", p.Width, p.Height, b.XMin, b.YMin, b.XMax, b.YMax)
	}
	return clipped, nil
}

// shares returns a box in pixels of the stored image as shares of its size.
func (p *Mapping) shares(b augment.Box) [4]float32 {
	w, h := float64(p.resultWidth), float64(p.resultHeight)
	share := func(v, of float64) float32 { return float32(min(max(v/of, 0), 1)) }
	return [4]float32{share(b.XMin, w), share(b.YMin, h), share(b.XMax, w), share(b.YMax, h)}
}

// regionSize returns the size of the image that regions are annotated on.
func (p *Mapping) regionSize(image *annotation.Image) (w, h int) {
	if p.turned(image.Width, image.Height) {
		return p.storedWidth, p.storedHeight
	}
	return p.Width, p.Height
}

// ShownBoxes returns the usable boxes of an image, which may be nil, in pixels of the image as
// shown, clipped to it.
func (p *Mapping) ShownBoxes(image *annotation.Image) []augment.Box {
	if image == nil {
		return nil
	}
	boxes := make([]augment.Box, 0, len(image.Objects))
	for i := range image.Objects {
		if b, err := p.shownBox(image, image.Objects[i].Box); err == nil {
			boxes = append(boxes, b)
		}
	}
	return boxes
}

// shownPoint returns a keypoint of an annotation in pixels of the image as shown.
func (p *Mapping) shownPoint(image *annotation.Image, k annotation.Keypoint) augment.Point {
	at := augment.Point{X: k.X, Y: k.Y}
	if image.Relative {
		at.X, at.Y = k.X*float64(p.Width), k.Y*float64(p.Height)
	}
	if p.turned(image.Width, image.Height) {
		at = at.Orient(p.orientation, p.storedWidth, p.storedHeight)
	}
	return at
}

// point moves a point of the image as shown to the stored image, and reports whether it is in it.
func (p *Mapping) point(at augment.Point) (_ augment.Point, shown bool) {
	at, shown = p.Draw.Point(at, p.Width, p.Height)
	switch {
	case p.keeps:
		at = at.Orient(orientation.Inverse(p.orientation), p.Width, p.Height)
	case shown && p.resize != nil:
		at, shown = p.geometry.Point(at)
	}
	return at, shown
}
