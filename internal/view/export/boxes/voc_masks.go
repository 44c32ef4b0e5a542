package boxes

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// vocMasks makes the PNGs of SegmentationClass and SegmentationObject, with VOC's palette.
type vocMasks struct {
	maskReader
	// covered counts objects with some pixels under later objects, and hidden objects with all
	// pixels under later ones; beyond counts objects without an index.
	covered, hidden, beyond int64
}

// vocVoid is the index of pixels that are of no object or class.
const vocVoid = 255

// vocPalette is the palette of VOC's devkit (VOClabelcolormap): the bits of an index, three at a
// time from the lowest, are the bits of red, green and blue from the highest.
var vocPalette = func() color.Palette {
	palette := make(color.Palette, 256)
	for i := range palette {
		var rgb [3]uint8
		for bit := range 8 {
			rgb[bit%3] |= uint8(i>>bit&1) << (7 - bit/3)
		}
		palette[i] = color.RGBA{rgb[0], rgb[1], rgb[2], 255}
	}
	return palette
}()

// classes returns the semantic mask of an image; nil if it has none.
func (m *vocMasks) classes(a *annotated) ([]byte, error) {
	if !has(a.row, objects.KeySegmentation) {
		return nil, nil
	}
	f, _ := a.row.Get(objects.KeySegmentation)
	data, ok := f.Bytes()
	switch {
	case !ok || f.Len() != 1:
		return nil, input.WrongFeature(objects.KeySegmentation, f, "one PNG")
	case augment.Sniff(data) != augment.PNG:
		return nil, fmt.Errorf("%s is not a PNG", objects.KeySegmentation)
	}
	mask, err := m.mask(data, a.shown, a.width, a.height)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", objects.KeySegmentation, err)
	}
	return encodePaletted(&image.Paletted{Pix: mask.Pix, Stride: mask.Stride, Rect: image.Rect(0, 0, mask.Width, mask.Height), Palette: vocPalette})
}

// objects returns the masks of an image's objects, in which the index of an object is its number from
// 1; nil if it has none. Later objects cover earlier ones.
func (m *vocMasks) objects(a *annotated) ([]byte, error) {
	if len(a.objects.Masks) == 0 {
		return nil, nil
	}
	var d *image.Paletted
	var covered [vocVoid]bool
	for i, data := range a.objects.Masks {
		if len(data) == 0 {
			continue
		}
		mask, err := m.mask(data, a.shown, a.width, a.height)
		if err != nil {
			return nil, fmt.Errorf("the mask of its object %d: %w", i, err)
		}
		if d == nil { // a mask has confirmed the size of the image
			d = image.NewPaletted(image.Rect(0, 0, a.width, a.height), vocPalette)
		}
		if i+1 >= vocVoid {
			m.beyond++
			continue
		}
		for y := range a.height {
			row := d.Pix[y*a.width:][:a.width]
			for x, v := range mask.Row(y) {
				if v != 0 {
					covered[row[x]] = true
					row[x] = uint8(i + 1)
				}
			}
		}
	}
	if d == nil {
		return nil, nil
	}
	var left [256]bool
	for _, v := range d.Pix {
		left[v] = true
	}
	for i, is := range covered {
		switch {
		case i == 0 || !is:
		case left[i]:
			m.covered++
		default:
			m.hidden++
		}
	}
	return encodePaletted(d)
}

// explain notes objects whose masks are incomplete or missing.
func (m *vocMasks) explain(o *spec.Options) {
	if m.covered > 0 {
		o.Notef("voc has one object for each pixel: later ones cover parts of the masks of %s", plural.Of(m.covered, "object"))
	}
	if m.hidden > 0 {
		o.Notef("voc has one object for each pixel: later ones cover all of the masks of %s, which have none when read back", plural.Of(m.hidden, "object"))
	}
	if m.beyond > 0 {
		o.Notef("voc has masks of %d objects in an image: the masks of %s after these are left out", vocVoid-1, plural.Of(m.beyond, "object"))
	}
}

func encodePaletted(im *image.Paletted) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, im)
	return b.Bytes(), err
}
