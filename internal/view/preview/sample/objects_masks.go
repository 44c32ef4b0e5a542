package sample

import (
	"encoding/base64"
	"fmt"
	"image"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/codec/thumbnail"
	"github.com/tfrec/tfrec/tfrecord"
)

const (
	// maskSide is the longest side of masks on the page, in pixels, and minMaskSide that below
	// which they are left out.
	maskSide, minMaskSide = 256, 32
	// maskPixels bounds the pixels of masks to decode for one record.
	maskPixels = 1 << 28
)

// addMasks adds the mask of the image and, on top of it, the masks of its objects.
func (d *Describer) addMasks(w *Drawing, masks [][]byte, features *tfrecord.Features, im *ShownImage) error {
	f, _ := features.Get(objects.KeySegmentation)
	semantic, _ := f.Bytes()
	if len(semantic) == 0 && len(masks) == 0 {
		return nil
	}
	overlay := image.NewPaletted(fitted(im.ShownWidth, im.ShownHeight, maskSide), maskColours)
	if len(semantic) > 0 {
		if err := d.addMask(overlay, semantic, im, pixelOfClass); err != nil {
			return err
		}
	}
	left := maskPixels
	for i, data := range masks {
		if left -= im.Width * im.Height; left < 0 || i == MaxDrawn {
			w.Masks = overlay
			return fmt.Errorf("only the first %d are", i)
		}
		colour := pixelOfObject(d.Classes.At[d.nameOf(i)])
		err := d.addMask(overlay, data, im, func(v uint8) uint8 {
			if v == 0 {
				return pixelNone
			}
			return colour
		})
		if err != nil {
			return err
		}
	}
	w.Masks = overlay
	return nil
}

// fitted returns a rectangle of the shape of w x h whose longer side is at most side.
func fitted(w, h, side int) image.Rectangle {
	if longer := max(w, h); longer > side {
		w, h = max(1, w*side/longer), max(1, h*side/longer)
	}
	return image.Rect(0, 0, w, h)
}

// addMask draws the pixels of one mask on an overlay, with the colours that colour returns; for
// pixelNone it keeps the overlay's pixel.
func (d *Describer) addMask(overlay *image.Paletted, data []byte, im *ShownImage, colour func(v uint8) uint8) error {
	t := &d.Thumbnails
	stat, err := t.Codec.Stat(data)
	if err != nil {
		return err
	}
	stored := augment.Info{Width: stat.Width, Height: stat.Height, Orientation: im.Orientation}
	if w, h := stored.Oriented(); w != im.Width || h != im.Height {
		return fmt.Errorf("a mask of %dx%d pixels, not of the image's size", stat.Width, stat.Height)
	}
	defer t.release()
	if err := t.reserve(stat.Memory()); err != nil {
		return err
	}
	if _, err := t.Codec.DecodeMask(&t.full, data); err != nil {
		return err
	}
	w, h := overlay.Rect.Dx(), overlay.Rect.Dy()
	for y := range h {
		for x := range w {
			sx, sy := turnBack(im.Orientation, (float64(x)+0.5)/float64(w), (float64(y)+0.5)/float64(h))
			v := t.full.Row(int(sy * float64(t.full.Height)))[int(sx*float64(t.full.Width))]
			if c := colour(v); c != pixelNone {
				overlay.Pix[y*overlay.Stride+x] = c
			}
		}
	}
	return nil
}

// encodeMasks makes the masks a data: URI of at most budget bytes, smaller if need be. A budget of 0
// keeps them as pixels.
func (w *Drawing) encodeMasks(budget int) error {
	if w == nil || w.Masks == nil || budget == 0 {
		return nil
	}
	for m := w.Masks; m != nil; m = halved(m) {
		png, err := thumbnail.PNG(m)
		if err != nil {
			return err
		}
		if uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString(png); len(uri) <= budget {
			w.Uri = uri
			return nil
		}
	}
	w.Problem = "masks take too much of the page"
	return nil
}

// halved returns every second pixel of an overlay; nil of a small one.
func halved(m *image.Paletted) *image.Paletted {
	r := image.Rect(0, 0, m.Rect.Dx()/2, m.Rect.Dy()/2)
	if max(r.Dx(), r.Dy()) < minMaskSide || r.Empty() {
		return nil
	}
	half := image.NewPaletted(r, m.Palette)
	for y := range r.Dy() {
		for x := range r.Dx() {
			half.SetColorIndex(x, y, m.ColorIndexAt(2*x, 2*y))
		}
	}
	return half
}
