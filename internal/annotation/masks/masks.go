// Package masks decodes the masks that go with images, and moves them as the pixels of their images
// are moved.
package masks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/codec/orientation"
)

// errKind is Check's error for images whose samples are not classes.
var errKind = errors.New("store the classes in a PNG, grayscale with up to 8 bits a sample and no transparency, or with a palette")

// Check reads the header of a mask. It returns an error unless data is a mask of w x h pixels: see
// [augment.Codec.DecodeMask].
func Check(codec *augment.Codec, data []byte, w, h int) (augment.Info, error) {
	info, err := codec.Stat(data)
	if err != nil {
		return info, err
	}
	width, height := info.Oriented()
	channels := info.Channels
	if info.Mask {
		channels = 1 // the indexes of a palette
	}
	switch {
	case width != w || height != h || channels != 1:
		return info, fmt.Errorf("the mask is %dx%dx%d: want %dx%dx1, a PNG, grayscale or with a palette, and of the size of the image", width, height, channels, w, h)
	case !info.Mask:
		return info, fmt.Errorf("the %s is not a mask: %w", info.Format, errKind)
	}
	return info, nil
}

// DecodeObject decodes the mask of an object that Check has accepted into dst: 1 where the object
// is, which is where the mask is not 0, and 0 elsewhere.
func DecodeObject(codec *augment.Codec, dst *augment.Image, data []byte) error {
	if _, err := codec.DecodeMask(dst, data); err != nil {
		return err
	}
	for y := range dst.Height {
		row := dst.Row(y)
		for x, v := range row {
			row[x] = min(v, 1)
		}
	}
	return nil
}

// Way is the sequence of steps that adapts masks to a transformed image. The zero value leaves them
// unchanged.
type Way struct {
	draw   augment.Draw
	resize *augment.ResizeSpec
}

// NewWay returns the way of masks through the steps of an EXIF orientation of 1 to 8, a draw and a
// resize, which may be nil: the image's steps, but taking the nearest pixel. Pixels outside of the
// image become fill.
func NewWay(exif int, draw augment.Draw, resize *augment.ResizeSpec, fill uint8) Way {
	w := Way{draw: augment.Draw{Steps: slices.Concat(orientation.Steps(exif), draw.Mask(fill).Steps)}}
	if resize != nil {
		nearest := *resize
		nearest.Filter, nearest.NoAntialias, nearest.PadColor = augment.Nearest, true, [3]uint8{fill, fill, fill}
		w.resize = &nearest
	}
	return w
}

// Stays reports whether masks stay as they are.
func (w Way) Stays() bool { return len(w.draw.Steps) == 0 && w.resize == nil }

// Begin sets up a task for a mask, an image of one channel.
func (w Way) Begin(t *augment.Task, mask *augment.Image) {
	t.Image, t.Draw, t.Resize = mask, w.draw, w.resize
	t.Width, t.Height = mask.Width, mask.Height
}
