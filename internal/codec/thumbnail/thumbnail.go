// Package thumbnail makes small images of augment's, and contact sheets of them. Augment's own
// resize makes an image small, since it needs no copy of a large one; everything after that is
// disintegration/imaging's.
package thumbnail

import (
	"bytes"
	"image"
	"image/color"

	"github.com/disintegration/imaging"

	"github.com/tfrec/tfrec/augment"
)

// New returns a copy of an image whose longer side is side pixels, or fewer if the image is
// smaller and upscale is false. The scratch may be nil.
func New(im *augment.Image, side int, upscale bool, scratch *augment.Scratch) (*image.NRGBA, error) {
	spec := augment.ResizeSpec{Width: side, Height: side, Fit: augment.Longer, NoUpscale: !upscale}
	var small, rgb augment.Image
	if err := spec.Apply(&small, im, scratch); err != nil {
		return nil, err
	}
	if err := augment.ToRGB(&rgb, &small); err != nil {
		return nil, err
	}
	thumb := imaging.New(rgb.Width, rgb.Height, color.White)
	for y := range rgb.Height {
		row, to := rgb.Row(y), thumb.Pix[y*thumb.Stride:]
		for x := range rgb.Width {
			copy(to[4*x:4*x+3], row[3*x:])
		}
	}
	return thumb, nil
}

// PNG encodes an image.
func PNG(im image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := imaging.Encode(&b, im, imaging.PNG)
	return b.Bytes(), err
}

// JPEG encodes an image, shrunk so that its longer side is at most side pixels, and returns its
// bounds too.
func JPEG(im image.Image, side, quality int) ([]byte, image.Rectangle, error) {
	small := imaging.Fit(im, side, side, imaging.Linear)
	var b bytes.Buffer
	err := imaging.Encode(&b, small, imaging.JPEG, imaging.JPEGQuality(quality))
	return b.Bytes(), small.Rect, err
}
