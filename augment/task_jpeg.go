package augment

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/jpeg"
)

// maxUsual is the largest image, in pixels, that is left to the decoders of backends. It is the
// same on every machine: the decoder of an image must not depend on the memory available.
const maxUsual = 1 << 26

// taskJPEG is a JPEG of a [Task] that is not decoded yet.
type taskJPEG struct {
	codec  *Codec
	data   []byte
	shape  Planes // the planes that a backend decodes it to: sizes, without samples
	planes Planes // the planes that the codec decoded it to
	image  Image
}

// ReadJPEG makes an encoded JPEG the task's image: the backend decodes it first. Its data are
// searched for damage first ([Codec.Check]), since decoders on GPUs tolerate too much. The bytes
// must not change until the task is done; the codec decodes the image if no backend does. Errors
// wrap one of the package's sentinels; for other formats than JPEG that is [ErrUnsupported]. After
// an error the task has no image.
//
//	task := &augment.Task{Resize: &spec, Form: augment.FloatPlanes}
//	if err := task.ReadJPEG(codec, data); err != nil {
//		return err // damaged: no backend sees it
//	}
//	err := backend.Render([]*augment.Task{task})
//
// The task may be executed again; a JPEG that the codec decoded may then be its Image or Planes.
func (t *Task) ReadJPEG(c *Codec, data []byte) error {
	t.Image, t.Planes, t.JPEGInfo, t.Decoder, t.FellBack = nil, nil, Info{}, "", false
	t.jpeg.codec, t.jpeg.data, t.jpeg.shape = c, data, Planes{}
	info, h, err := checkJPEG(c, data)
	if err != nil {
		return err
	}
	t.JPEGInfo = info
	if info.Usual {
		t.jpeg.outline(&h)
	}
	return nil
}

// codedJPEG returns the file of a task with a JPEG, and its planes, which have sizes but no samples.
// Grayscale planes have only luma.
func codedJPEG(t *Task) (data []byte, planes *Planes) { return t.jpeg.data, &t.jpeg.shape }

// outline sets the sizes of the planes.
func (j *taskJPEG) outline(header *jpeg.Header) {
	w, h := header.Width, header.Height
	j.shape = Planes{Width: w, Height: h, Denom: 1, Y: Image{Width: w, Height: h, Channels: 1, Stride: w}}
	if sub, _ := header.Usual(); sub != jpeg.SubGray {
		cw, ch := sub.ChromaSize(w, h)
		j.shape.Subsampling = sub.String()
		j.shape.Cb = Image{Width: cw, Height: ch, Channels: 1, Stride: cw}
		j.shape.Cr = j.shape.Cb
	}
}

// checkJPEG returns an error for an invalid task with a JPEG.
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

// undecoded reports whether the task has an image that is not decoded yet.
func (t *Task) undecoded() bool {
	return t.JPEGInfo.Format == JPEG && t.Image == nil && t.Planes == nil
}

// decode implements [offload.Task].
func (t *Task) decode() error {
	j := &t.jpeg
	if !t.undecoded() {
		return nil
	}
	if err := t.checkJPEG(); err != nil {
		return err
	}
	t.Decoder = j.codec.Decoder()
	if t.JPEGPlanes {
		if _, err := j.codec.DecodePlanes(&j.planes, j.data, DecodeOptions{}); err != nil {
			return err
		}
		t.Planes = &j.planes
		return nil
	}
	if _, err := j.codec.Decode(&j.image, j.data, DecodeOptions{Channels: t.JPEGChannels}); err != nil {
		return err
	}
	t.Image = &j.image
	return nil
}
