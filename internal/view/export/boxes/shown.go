package boxes

import (
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/codec/orientation"
	"github.com/tfrec/tfrec/internal/view/export/input"
)

// shown is the EXIF orientation of a stored image, 1 to 8, which makes it the image as shown.
// Records describe the image as stored; annotations are of the image as shown, as the tools that
// read them decode it.
type shown int

// orientationOf returns the orientation of a stored image, 1 if its header cannot be read.
func orientationOf(codec *augment.Codec, pic input.Image) shown {
	if info, err := codec.Stat(pic.Data); err == nil && info.Orientation > 1 {
		return shown(info.Orientation)
	}
	return 1
}

// size returns the size of the image as shown.
func (s shown) size(w, h int) (width, height int) {
	return augment.Info{Width: w, Height: h, Orientation: int(s)}.Oriented()
}

// turnBoxes turns boxes in shares of the image.
func (s shown) turnBoxes(boxes [][4]float32) {
	if s == 1 {
		return
	}
	for i, b := range boxes {
		t := augment.Box{XMin: float64(b[0]), YMin: float64(b[1]), XMax: float64(b[2]), YMax: float64(b[3])}.Orient(int(s), 1, 1)
		boxes[i] = [4]float32{float32(t.XMin), float32(t.YMin), float32(t.XMax), float32(t.YMax)}
	}
}

// mask decodes a mask, turns it, and checks that it has the size of the image as shown, w x h. The
// result is valid until the next mask.
func (m *maskReader) mask(png []byte, s shown, w, h int) (*augment.Image, error) {
	if _, err := m.codec.DecodeMask(&m.image, png); err != nil {
		return nil, err
	}
	mask := &m.image
	if s > 1 {
		m.task.Image, m.task.Draw.Steps = mask, orientation.Steps(int(s))
		tasks := [1]*augment.Task{&m.task}
		_ = augment.CPU{}.Render(tasks[:]) // the error is the task's
		if m.task.Err != nil {
			return nil, m.task.Err
		}
		mask = &m.task.Pixels
	}
	if mask.Width != w || mask.Height != h {
		return nil, fmt.Errorf("%d x %d pixels, and the image has %d x %d", mask.Width, mask.Height, w, h)
	}
	return mask, nil
}

// maskReader reads masks of images as shown, and reuses its memory.
type maskReader struct {
	codec *augment.Codec
	image augment.Image
	task  augment.Task
}
