package augment

import "github.com/tfrec/tfrec/internal/codec/render"

// Form is the form of a [Task]'s result. The zero value is Pixels.
type Form = render.Form

// The forms.
const (
	// Pixels are bytes, channels last, in Task.Pixels.
	Pixels = render.Pixels
	// YCbCr is planes with Task.Subsampling, in Task.YCbCr, for Codec.AppendJPEGPlanes. Only tasks
	// that resize planes without a draw support it.
	YCbCr = render.YCbCr
	// Floats are normalised samples, channels last (HWC), in Task.Floats.
	Floats = render.Floats
	// FloatPlanes are normalised samples, channels first (CHW), in Task.Floats.
	FloatPlanes = render.FloatPlanes
)

// Task is an image and the work on it: a draw is applied, the result is resized and converted to a
// form. A finished task may be changed and executed again; it reuses the memory of its result.
//
// Image or Planes is the image, decoded; the other one is nil. ReadJPEG makes a JPEG the task's
// image instead: JPEGInfo is then its header, JPEGChannels is the number of channels that it is
// decoded to, and JPEGPlanes decodes it to planes. Width and Height are the size of the whole image
// if Image was decoded at a part of it.
//
// Draw is applied first, then Resize, which may be nil. Form is the form of the result, Subsampling
// its chroma subsampling if it is YCbCr, and Normalize the normalisation of floats. Scratch is used
// if the CPU executes the task; it may be nil, except for steps that need a codec.
//
// Pixels, YCbCr or Floats is the result, ResultWidth and ResultHeight its size in pixels, and
// Channels its channels. Decoder names what decoded the JPEG. FellBack reports that the backend
// decodes such JPEGs but did not decode this one, for a reason unrelated to the image. Err is the
// error, nil if there is a result.
type Task = render.Task

// Backend executes tasks. Render executes some, in any order, and returns when each has its result
// or its Err; an error of Render itself means that the backend no longer works. It is safe for
// concurrent use, with different tasks. Batch is the number of tasks for which a call is most
// efficient. All backends make the same bytes of decoded images; one that decodes JPEGs itself may
// make other pixels than a [Codec].
type Backend = render.Backend

// HostAllocator is a [Backend] of a device that copies from and to some memory of the host without
// the CPU: page-locked memory. AllocHost(n) allocates such memory, with a function that frees it.
// It is slow, so reuse the result, which is nil if no memory is left.
type HostAllocator = render.HostAllocator

// CPU is the backend of this package: it executes tasks one after the other, on the calling
// goroutine. Its zero value is ready.
type CPU = render.CPU
