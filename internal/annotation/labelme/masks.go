package labelme

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/region"
)

// parts are shapes of an object that are not in its region yet.
type parts struct {
	rectangles [][]float64
	masks      []maskAt
}

// maskAt is a mask that is in the file as a PNG in base64.
type maskAt struct {
	box annotation.Box
	at  int // position of the text, or noMask
}

// noMask is the position of the text of a mask without one.
const noMask = -1

// maxPixels is the maximum number of pixels in the masks of an object.
const maxPixels = 1 << 26

// addPart adds a shape to the region of object i. Rectangles alone are boxes without a region.
func (f *file) addPart(o *annotation.Object, i int, s shape) {
	switch {
	case s.outline != nil && o.Region == nil:
		o.Region = &annotation.Region{Polygons: [][]float64{s.outline}}
		return
	case s.outline != nil:
		o.Region.Polygons = append(o.Region.Polygons, s.outline)
		return
	case s.mask == 0 && s.group.id == "":
		return
	case f.late == nil:
		f.late = map[int]*parts{}
	}
	p := f.late[i]
	if p == nil {
		p = new(parts)
		f.late[i] = p
	}
	if s.mask != 0 {
		p.masks = append(p.masks, maskAt{s.box, s.mask})
	} else {
		p.rectangles = append(p.rectangles, s.corners)
	}
}

// makeRegions completes the regions of objects, once the size of the image is known.
func (f *file) makeRegions() error {
	for i := range f.im.Objects {
		p, o := f.late[i], &f.im.Objects[i]
		if p == nil || o.Region == nil && len(p.masks) == 0 {
			continue
		}
		r := annotation.Region{}
		if o.Region != nil {
			r = *o.Region
		}
		r.Polygons = append(r.Polygons, p.rectangles...)
		if len(p.masks) > 0 {
			r.Width, r.Height = f.im.Width, f.im.Height
			var err error
			if r.Runs, err = f.union(p.masks); err != nil {
				if err := f.im.RefuseMask(o, err.Error()); err != nil {
					return err
				}
				continue
			}
		}
		o.Region = &r
	}
	return nil
}

// union returns the runs of the pixels of masks.
func (f *file) union(masks []maskAt) ([]uint32, error) {
	f.masks.Lock()
	defer f.masks.Unlock()
	whole := image.Rect(0, 0, f.im.Width, f.im.Height)
	if whole.Empty() || whole.Dx() > region.MaxSide || whole.Dy() > region.MaxSide || whole.Dx()*whole.Dy() > math.MaxUint32 {
		return nil, fmt.Errorf("the file states an image of %d x %d pixels, on which no mask can be", f.im.Width, f.im.Height)
	}
	var all image.Rectangle
	for _, m := range masks {
		if r := m.rectangle(); !r.In(whole) {
			return nil, fmt.Errorf("its pixels are from %v to %v, in an image of %d x %d", r.Min, r.Max.Sub(image.Pt(1, 1)), f.im.Width, f.im.Height)
		}
		all = all.Union(m.rectangle())
	}
	if all.Dx()*all.Dy() > maxPixels {
		return nil, fmt.Errorf("it covers %d x %d pixels: the limit is %d", all.Dx(), all.Dy(), maxPixels)
	}
	pix := make([]uint8, all.Dx()*all.Dy())
	for _, m := range masks {
		decoded, err := f.decode(m)
		if err != nil {
			return nil, err
		}
		r := m.rectangle()
		for y := range r.Dy() {
			row := pix[(r.Min.Y-all.Min.Y+y)*all.Dx()+r.Min.X-all.Min.X:][:r.Dx()]
			for x := range row {
				if decoded.inside(x, y) {
					row[x] = 1
				}
			}
		}
	}
	return region.RunsIn(pix, all, f.im.Width, f.im.Height), nil
}

// rectangle is the pixels of a mask. It is far outside of any image if they cannot be counted.
func (m *maskAt) rectangle() image.Rectangle {
	const far = 1 << 30
	side := func(v float64) int { return int(min(max(v, -far), far)) }
	return image.Rect(side(m.box.XMin), side(m.box.YMin), side(m.box.XMax), side(m.box.YMax))
}

// pixels are the pixels of a decoded mask.
type pixels struct {
	pix         []uint8
	stride, per int
}

// inside reports whether a pixel is not 0.
func (p pixels) inside(x, y int) bool {
	for _, v := range p.pix[y*p.stride+x*p.per:][:p.per] {
		if v != 0 {
			return true
		}
	}
	return false
}

// decode decodes the PNG of a mask, which has the size of its rectangle.
func (f *file) decode(m maskAt) (p pixels, err error) {
	if m.at == noMask {
		return p, errors.New("it has no PNG")
	}
	f.At = m.at
	if f.Peek() != '"' {
		return p, fmt.Errorf("its PNG is %s: want text", f.value())
	}
	text, _ := f.Text()
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(data, text)
	if err != nil {
		return p, fmt.Errorf("its PNG is not in base64: %w", err)
	}
	data = data[:n]
	r := m.rectangle()
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return p, fmt.Errorf("it cannot be read as a PNG: %w", err)
	}
	if config.Width != r.Dx() || config.Height != r.Dy() {
		return p, fmt.Errorf("its PNG has %d x %d pixels, and its points %d x %d", config.Width, config.Height, r.Dx(), r.Dy())
	}
	switch config.ColorModel.(type) {
	case color.Palette:
	default:
		if config.ColorModel != color.GrayModel && config.ColorModel != color.Gray16Model {
			return p, errors.New("its PNG has colours: want a grayscale one")
		}
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return p, fmt.Errorf("it cannot be read as a PNG: %w", err)
	}
	switch im := decoded.(type) {
	case *image.Gray:
		return pixels{im.Pix, im.Stride, 1}, nil
	case *image.Paletted:
		return pixels{im.Pix, im.Stride, 1}, nil
	case *image.Gray16:
		return pixels{im.Pix, im.Stride, 2}, nil
	}
	return p, errors.New("its PNG has transparent pixels: want a plain grayscale one")
}
