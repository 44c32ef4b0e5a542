package render

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Form is the form of a [Task]'s result. The zero value is Pixels.
type Form uint8

// The forms.
const (
	// Pixels are bytes, channels last, in Task.Pixels.
	Pixels Form = iota
	// YCbCr is planes with Task.Subsampling, in Task.YCbCr, for [imagefile.Codec.AppendJPEGPlanes].
	// Only tasks that resize planes without a draw support it.
	YCbCr
	// Floats are normalised samples, channels last (HWC), in Task.Floats.
	Floats
	// FloatPlanes are normalised samples, channels first (CHW), in Task.Floats.
	FloatPlanes
)

// Task is an image and the work on it: a draw is applied, the result is resized and converted to a
// form. A finished task may be changed and executed again; it reuses the memory of its result.
type Task struct {
	// Image or Planes is the image, decoded; the other one is nil. Neither is changed.
	Image  *bitmap.Image
	Planes *bitmap.Planes
	// JPEGInfo is the header of the JPEG that [Task.ReadJPEG] read: the task's image if Image and
	// Planes are both nil.
	JPEGInfo imagefile.Info
	// JPEGChannels is the number of channels that the JPEG is decoded to, as in
	// [imagefile.DecodeOptions].
	JPEGChannels int
	// JPEGPlanes decodes the JPEG to planes, as [imagefile.Codec.DecodePlanes] does, which
	// [imagefile.Codec.TakesPlanes] must allow; JPEGChannels is then 0 or 3. Otherwise it is
	// decoded as by [imagefile.Codec.Decode].
	JPEGPlanes bool
	// Width and Height are the size of the whole image if Image was decoded at a part of it, as
	// [fit.Geometry] says. 0, 0: the size of Image.
	Width, Height int
	// Draw is applied first, by [steps.Draw.Apply] or, for planes, [steps.Draw.ApplyPlanes].
	Draw steps.Draw
	// Resize is applied to the result of Draw; nil keeps the size. Planes without a draw become
	// pixels by [fit.ResizeSpec.RenderRGB] or, without resize, [bitmap.Planes.RGB].
	Resize *fit.ResizeSpec
	// Form is the form of the result, Subsampling its chroma subsampling if it is YCbCr, and
	// Normalize the normalisation of floats.
	Form        Form
	Subsampling string
	Normalize   bitmap.Normalize
	// Scratch is used if the CPU executes the task. It may be nil, except for steps that need a
	// codec. Tasks of one call of Render may share it: backends use the CPU for one of them at a
	// time.
	Scratch *workspace.Scratch

	// Pixels, YCbCr or Floats is the result. If it is Floats, Pixels is undefined.
	Pixels bitmap.Image
	YCbCr  bitmap.Planes
	Floats []float32
	// Size of the result, in pixels, and its channels: set with Floats too.
	ResultWidth, ResultHeight, Channels int
	// Decoder names what decoded the JPEG: a backend, such as "nvjpeg hardware", or the codec's
	// [imagefile.Codec.Decoder].
	Decoder string
	// FellBack reports that the backend decodes such JPEGs but did not decode this one, for a
	// reason unrelated to the image, such as too little memory. Executed again, the task may have
	// other pixels.
	FellBack bool
	// Err is the error, nil if there is a result.
	Err error

	jpeg taskJPEG
}

// Backend executes tasks. All backends make the same bytes of decoded images. A backend that
// decodes JPEGs itself may make other pixels than a [imagefile.Codec].
type Backend interface {
	// Render executes tasks, in any order, and returns when all are done: each has its result or
	// its Err. An error of Render itself means that the backend no longer works; results must then
	// not be used. It is safe for concurrent use, with different tasks.
	Render(tasks []*Task) error
	// Batch is the number of tasks for which a call is most efficient.
	Batch() int
}

// HostAllocator is a [Backend] of a device that copies from and to some memory of the host without
// the CPU: page-locked memory. Results that are written to it take one copy less, and a program may
// copy them on to the device without waiting.
type HostAllocator interface {
	Backend
	// AllocHost allocates n bytes, at least 1, with undefined content and aligned for any Go type.
	// It is slow and takes the memory from the whole machine, so reuse the result. It returns nil
	// if no memory is left; use other memory then. Call free once to release the memory, which must
	// not be used afterwards, in Go or on a device: the garbage collector does not know it. Both
	// functions are safe for concurrent use.
	AllocHost(n int) (memory []byte, free func())
}

// CPU is the backend of this package: it executes tasks one after the other, on the calling
// goroutine. Its zero value is ready.
type CPU struct{}

// Render implements [Backend]. It always returns nil. All JPEGs that it decodes share one buffer,
// which grows to the size of the largest; decoded images are not kept.
func (CPU) Render(tasks []*Task) error {
	var image bitmap.Image
	var planes bitmap.Planes
	for _, t := range tasks {
		if !Undecoded(t) {
			t.Err = t.render()
			continue
		}
		j := &t.jpeg
		j.image, j.planes = image, planes
		t.Err = t.render()
		image, planes = j.image, j.planes
		t.Image, t.Planes, j.image, j.planes = nil, nil, bitmap.Image{}, bitmap.Planes{}
	}
	return nil
}

// Batch is [Backend.Batch]: 1.
func (CPU) Batch() int { return 1 }

// render does the task.
func (t *Task) render() error {
	if err := Check(t); err != nil {
		return err
	}
	if Undecoded(t) {
		if err := Decode(t); err != nil {
			return err
		}
	}
	scratch, free := workspace.Take(t.Scratch)
	defer free()
	if t.Form == YCbCr {
		g := t.Resize.Geometry(t.Planes.Width, t.Planes.Height)
		if err := t.Resize.RenderPlanes(&t.YCbCr, t.Planes, g, t.Subsampling, scratch); err != nil {
			return err
		}
		t.ResultWidth, t.ResultHeight, t.Channels = g.Width, g.Height, 3
		return nil
	}
	if err := t.pixels(scratch); err != nil {
		return err
	}
	im := &t.Pixels
	t.ResultWidth, t.ResultHeight, t.Channels = im.Width, im.Height, im.Channels
	switch t.Form {
	case Floats:
		t.Floats = bitmap.Floats(im, bitmap.Room(t.Floats, im.Width*im.Height*im.Channels), &t.Normalize, false)
	case FloatPlanes:
		t.Floats = bitmap.Floats(im, bitmap.Room(t.Floats, im.Width*im.Height*im.Channels), &t.Normalize, true)
	}
	return nil
}

// Check returns an error for an invalid task, before anything is computed.
func Check(t *Task) error {
	switch {
	case (t.Image == nil) == (t.Planes == nil) && !Undecoded(t):
		return errors.New("task: give Image or Planes, or else a JPEG")
	case t.Form > FloatPlanes:
		return fmt.Errorf("task: unknown form %d", t.Form)
	case t.Form == YCbCr && (!t.planar() || len(t.Draw.Steps) > 0 || t.Resize == nil):
		return errors.New("task: only planes that are resized, with nothing drawn, become planes")
	}
	if t.Resize != nil {
		if err := t.Resize.Validate(); err != nil {
			return err
		}
	}
	if err := t.Normalize.Validate(); err != nil {
		return err
	}
	switch {
	case Undecoded(t):
		return t.checkJPEG()
	case t.Planes != nil:
		return bitmap.CheckPlanes(t.Planes)
	}
	return bitmap.CheckImage(t.Image)
}

// planar reports whether the task begins with planes.
func (t *Task) planar() bool { return t.Planes != nil || Undecoded(t) && t.JPEGPlanes }

// pixels makes the pixels of the result.
func (t *Task) pixels(scratch *workspace.Scratch) error {
	im, w, h := t.Image, t.Width, t.Height
	switch {
	case t.Planes != nil && len(t.Draw.Steps) > 0:
		to := t.drawn(scratch)
		if err := t.Draw.ApplyPlanes(to, t.Planes, scratch); err != nil {
			return err
		}
		im, w, h = to, to.Width, to.Height
	case t.Planes != nil && t.Resize != nil:
		return t.Resize.RenderRGB(&t.Pixels, t.Planes, t.Resize.Geometry(t.Planes.Width, t.Planes.Height), scratch)
	case t.Planes != nil:
		return t.Planes.RGB(&t.Pixels)
	case len(t.Draw.Steps) > 0:
		to := t.drawn(scratch)
		if err := t.Draw.Apply(to, im, scratch); err != nil {
			return err
		}
		im, w, h = to, to.Width, to.Height
	case w < 1 || h < 1:
		w, h = im.Width, im.Height
	}
	switch {
	case t.Resize != nil:
		return t.Resize.Render(&t.Pixels, im, t.Resize.Geometry(w, h), scratch)
	case im == t.Image: // nothing was drawn: a copy
		return t.Draw.Apply(&t.Pixels, im, scratch)
	}
	return nil
}

// drawn is the destination of the draw's result: the task's own, or memory of the scratch if the
// result is resized.
func (t *Task) drawn(scratch *workspace.Scratch) *bitmap.Image {
	if t.Resize == nil {
		return &t.Pixels
	}
	return &workspace.Of(scratch).Drawn
}
