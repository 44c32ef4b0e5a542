package workspace

import (
	"sync"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
)

// Scratch is memory for work on images, to be reused from image to image. Its zero value is ready.
// It is not safe for concurrent use.
type Scratch struct {
	// Codec is the codec of [steps.JPEGArtefacts]; no other step needs one. Pixels depend on it.
	Codec *imagefile.Codec

	memory Memory
}

// Trim frees the memory that is kept from image to image if it is more than 64 MiB. Call it after
// an image that may have been large.
func (s *Scratch) Trim() {
	if s.memory.size() > imagefile.KeptBytes {
		*s = Scratch{Codec: s.Codec}
	}
}

var scratches = sync.Pool{New: func() any { return new(Scratch) }}

// Take returns scratch, or one from the pool if it is nil, and a function that gives it back.
func Take(s *Scratch) (*Scratch, func()) {
	if s != nil {
		return s, func() {}
	}
	return own() // apart, so that the closure is only made here
}

// own returns a scratch of the pool.
func own() (*Scratch, func()) {
	s := scratches.Get().(*Scratch)
	return s, func() {
		s.Trim()
		scratches.Put(s)
	}
}

// Memory is what a [Scratch] keeps from image to image.
type Memory struct {
	Resizing resample.Memory
	Planes   bitmap.Planes // resized, before they are converted
	Drawn    bitmap.Image  // the result of a draw, before the resize
	Steps    Steps
}

// Of returns the memory of a scratch.
func Of(s *Scratch) *Memory { return &s.memory }

// size returns the number of bytes that it keeps.
func (m *Memory) size() int {
	size := m.Resizing.Size() + cap(m.Drawn.Pix) + m.Steps.size()
	for _, im := range bitmap.Components(&m.Planes) {
		size += cap(im.Pix)
	}
	return size
}

// Steps is the memory that steps keep in a [Scratch] from image to image.
type Steps struct {
	Draw    [2]bitmap.Image // between the steps of a draw
	Mixed   bitmap.Image    // a part of a mixture, resized
	Sums    []uint16        // a row of sums of three samples
	Columns []uint32        // rows blurred horizontally
	Weights [2][]uint32
	At      []int32  // where the pixels of a row, or of a column, come from
	Bytes   []byte   // an encoded image, or a row mirrored at its ends
	Totals  []uint64 // a row blurred both ways

	Recoloring recolor.Recoloring
}

// size returns the number of bytes that it keeps.
func (s *Steps) size() int {
	n := cap(s.Mixed.Pix) + 2*cap(s.Sums) + 4*(cap(s.Columns)+cap(s.Weights[0])+cap(s.Weights[1])+cap(s.At)) + cap(s.Bytes) + 8*cap(s.Totals)
	for i := range s.Draw {
		n += cap(s.Draw[i].Pix)
	}
	return n + cap(s.Recoloring.Row) + cap(s.Recoloring.Gray)
}
