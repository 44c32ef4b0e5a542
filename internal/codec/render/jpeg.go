package render

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// taskJPEG is a JPEG of a [Task] that is not decoded yet.
type taskJPEG struct {
	codec  *imagefile.Codec
	data   []byte
	shape  bitmap.Planes // the planes that a backend decodes it to: sizes, without samples
	planes bitmap.Planes // the planes that the codec decoded it to
	image  bitmap.Image
}

// ReadJPEG makes an encoded JPEG the task's image: the backend decodes it first. Its data are
// searched for damage first ([imagefile.Codec.Check]), since decoders on GPUs tolerate too much.
// The bytes must not change until the task is done; the codec decodes the image if no backend does.
// Errors wrap one of the package's sentinels; for other formats than JPEG that is
// [sniff.ErrUnsupported]. After an error the task has no image.
//
//	task := &render.Task{Resize: &spec, Form: render.FloatPlanes}
//	if err := task.ReadJPEG(codec, data); err != nil {
//		return err // damaged: no backend sees it
//	}
//	err := backend.Render([]*render.Task{task})
//
// The task may be executed again; a JPEG that the codec decoded may then be its Image or Planes.
func (t *Task) ReadJPEG(c *imagefile.Codec, data []byte) error {
	t.Image, t.Planes, t.JPEGInfo, t.Decoder, t.FellBack = nil, nil, imagefile.Info{}, "", false
	t.jpeg.codec, t.jpeg.data, t.jpeg.shape = c, data, bitmap.Planes{}
	info, h, err := imagefile.CheckJPEG(c, data)
	if err != nil {
		return err
	}
	t.JPEGInfo = info
	if info.Usual {
		t.jpeg.outline(&h)
	}
	return nil
}

// Coded returns the file of a task with a JPEG, and its planes, which have sizes but no samples.
// Grayscale planes have only luma.
func Coded(t *Task) (data []byte, planes *bitmap.Planes) { return t.jpeg.data, &t.jpeg.shape }

// outline sets the sizes of the planes.
func (j *taskJPEG) outline(header *jpeg.Header) {
	w, h := header.Width, header.Height
	j.shape = bitmap.Planes{Width: w, Height: h, Denom: 1, Y: bitmap.Image{Width: w, Height: h, Channels: 1, Stride: w}}
	if sub, _ := header.Usual(); sub != jpeg.SubGray {
		cw, ch := sub.ChromaSize(w, h)
		j.shape.Subsampling = sub.String()
		j.shape.Cb = bitmap.Image{Width: cw, Height: ch, Channels: 1, Stride: cw}
		j.shape.Cr = j.shape.Cb
	}
}

// CheckJPEG returns an error for an invalid task with a JPEG.
func (t *Task) checkJPEG() error {
	switch {
	case t.jpeg.codec == nil:
		return errors.New("task: a JPEG that was not read")
	case t.JPEGChannels != 0 && t.JPEGChannels != 1 && t.JPEGChannels != 3:
		return fmt.Errorf("task: a JPEG of %d channels: give 0, 1 or 3", t.JPEGChannels)
	case t.JPEGPlanes && (t.JPEGChannels == 1 || !t.jpeg.codec.TakesPlanes(t.JPEGInfo)):
		return errors.New("task: a JPEG that has no planes of use")
	}
	return nil
}

// Undecoded reports whether the task has an image that is not decoded yet.
func Undecoded(t *Task) bool {
	return t.JPEGInfo.Format == sniff.JPEG && t.Image == nil && t.Planes == nil
}

// Decode decodes the task's JPEG with its codec, at its full size, and makes that the task's Image
// or Planes. It is for backends that do not decode the JPEG, and does nothing where the task has an
// Image or Planes.
func Decode(t *Task) error {
	j := &t.jpeg
	if !Undecoded(t) {
		return nil
	}
	if err := t.checkJPEG(); err != nil {
		return err
	}
	t.Decoder = j.codec.Decoder()
	if t.JPEGPlanes {
		if _, err := j.codec.DecodePlanes(&j.planes, j.data, imagefile.DecodeOptions{}); err != nil {
			return err
		}
		t.Planes = &j.planes
		return nil
	}
	if _, err := j.codec.Decode(&j.image, j.data, imagefile.DecodeOptions{Channels: t.JPEGChannels}); err != nil {
		return err
	}
	t.Image = &j.image
	return nil
}
