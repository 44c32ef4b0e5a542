package augment

import "slices"

// stepScratch is the memory that steps keep in a [Scratch] from image to image.
type stepScratch struct {
	draw    [2]Image // between the steps of a draw
	mixed   Image    // a part of a mixture, resized
	sums    []uint16 // a row of sums of three samples
	columns []uint32 // rows blurred horizontally
	weights [2][]uint32
	at      []int32  // where the pixels of a row, or of a column, come from
	bytes   []byte   // an encoded image, or a row mirrored at its ends
	totals  []uint64 // a row blurred both ways

	recoloring recoloring
}

// orOwn returns scratch, or one from the pool if it is nil, and a function that gives it back.
func (s *Scratch) orOwn() (*Scratch, func()) {
	if s != nil {
		return s, func() {}
	}
	return ownScratch() // apart, so that the closure is only made here
}

func ownScratch() (*Scratch, func()) {
	own := scratches.Get().(*Scratch)
	return own, func() {
		own.Trim()
		scratches.Put(own)
	}
}

// size returns the number of bytes that it keeps.
func (s *stepScratch) size() int {
	n := cap(s.mixed.Pix) + 2*cap(s.sums) + 4*(cap(s.columns)+cap(s.weights[0])+cap(s.weights[1])+cap(s.at)) + cap(s.bytes) + 8*cap(s.totals)
	for i := range s.draw {
		n += cap(s.draw[i].Pix)
	}
	return n + cap(s.recoloring.row) + cap(s.recoloring.gray)
}

// room returns buf with n elements of any content, grown when it must be.
func room[T any](buf []T, n int) []T {
	return slices.Grow(buf[:0], n)[:n]
}
