package augment

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/jpeg"
)

// maxCoded is the largest picture, in pixels, that backends are asked to decode. It is the
// same on every machine: who decodes a picture must not depend on how much memory there is.
const maxCoded = 1 << 26

// Coded is a JPEG of a [Task] that is not decoded yet. [Coded.Read] makes it one; it may be
// read again, for another picture, when no task needs it any longer.
//
//	var picture augment.Coded
//	if err := picture.Read(codec, data); err != nil {
//		return err // damaged: no backend sees it
//	}
//	task := &augment.Task{Coded: &picture, Resize: &spec, Form: augment.FloatPlanes}
type Coded struct {
	// Channels of the decoded picture are as in [DecodeOptions].
	Channels int
	// Planar has it decoded to planes, as [Codec.DecodePlanes] does, which [Codec.TakesPlanes]
	// must allow; Channels is then 0 or 3. Otherwise it is as [Codec.Decode] gives it.
	Planar bool

	// Decoder is who decoded the picture, once the task is done: a backend, such as
	// "nvjpeg hardware", or the Codec's [Codec.Decoder].
	Decoder string
	// Stranded says that the backend takes such pictures and yet did not decode this one for a
	// reason that has nothing to do with it, such as memory that others had. Done again it
	// might come out otherwise.
	Stranded bool

	codec  *Codec
	data   []byte
	info   Info
	shape  Planes // what it is decoded to by a backend: sizes, without samples
	planes Planes // what the codec decoded it to
	image  Image
}

// Read makes the picture that of a file, found whole by a walk over all of its data ([Codec.Check]):
// decoders on GPUs forgive too much. All fields are zero then. The bytes must stay as they are until the tasks with
// it are done, and the codec decodes it where no backend does. Errors wrap one of the
// package's sentinels; for other formats than JPEG that is ErrUnsupported.
func (j *Coded) Read(c *Codec, data []byte) error {
	*j = Coded{codec: c, data: data, planes: j.planes, image: j.image}
	h, err := c.header(data)
	if err != nil {
		return err
	}
	if h.Format != JPEG {
		return unsupported(h.Format, "a task wants it decoded, or a JPEG")
	}
	if err := c.check(data, &h); err != nil {
		return err
	}
	j.info = h.Info
	if j.info.usual {
		j.outline(&h.jpeg)
	}
	return nil
}

// Info is what the picture's header says.
func (j *Coded) Info() Info { return j.info }

// outline sets the sizes of the planes.
func (j *Coded) outline(header *jpeg.Header) {
	w, h := j.info.Width, j.info.Height
	j.shape = Planes{Width: w, Height: h, Denom: 1, Y: Image{Width: w, Height: h, Channels: 1, Stride: w}}
	if sub, _ := header.Usual(); sub != jpeg.SubGray {
		cw, ch := sub.ChromaSize(w, h)
		j.shape.Subsampling = sub.String()
		j.shape.Cb = Image{Width: cw, Height: ch, Channels: 1, Stride: cw}
		j.shape.Cr = j.shape.Cb
	}
}

// check refuses what makes no sense.
func (j *Coded) check() error {
	switch {
	case j.codec == nil:
		return errors.New("task: a JPEG that was not read")
	case j.Channels != 0 && j.Channels != 1 && j.Channels != 3:
		return fmt.Errorf("task: a JPEG of %d channels: give 0, 1 or 3", j.Channels)
	case j.Planar && (j.Channels == 1 || !j.codec.TakesPlanes(j.info)):
		return errors.New("task: a JPEG that has no planes of use")
	}
	return nil
}

// Usual says, from the header alone, whether backends that decode are asked to decode the
// picture: a JPEG of up to 67 million pixels (2^26), baseline in one scan or progressive, 8 bits, gray
// or YCbCr with subsampling 420, 422, 440 or 444, with Huffman tables of its own and 8-bit
// quantisation tables, of any orientation. All others are for the codec: other formats,
// 411 and odd subsamplings, CMYK, YCCK and stored RGB, arithmetic coding, frames of motion
// JPEG.
func (i Info) Usual() bool { return i.usual }

// undecoded says whether the task has a picture that is to be decoded yet.
func (t *Task) undecoded() bool { return t.Coded != nil && t.Image == nil && t.Planes == nil }

// Decode decodes the task's Coded with its codec, at its full size, and makes that the task's
// Image or Planes. It is for backends that don't decode the picture, and does nothing
// where the task has an Image or Planes.
func (t *Task) Decode() error {
	j := t.Coded
	if !t.undecoded() {
		return nil
	}
	if err := j.check(); err != nil {
		return err
	}
	j.Decoder = j.codec.Decoder()
	if j.Planar {
		if _, err := j.codec.DecodePlanes(&j.planes, j.data, DecodeOptions{}); err != nil {
			return err
		}
		t.Planes = &j.planes
		return nil
	}
	if _, err := j.codec.Decode(&j.image, j.data, DecodeOptions{Channels: j.Channels}); err != nil {
		return err
	}
	t.Image = &j.image
	return nil
}
