// Package jpeg reads and writes JPEG through whichever decoder is at hand, and says of
// each image whether it is whole.
//
// Two decoders stand after one small interface: that of this package, whose pixels are
// libjpeg-turbo's, and libjpeg-turbo, found at run time and called without cgo. Which of them takes
// an image follows from its header and from what was opened, never from its pixel data, so that the
// same image gives the same pixels on every run.
//
// Decoders differ in what they forgive: libjpeg fills in what is missing and warns, or says
// nothing. Here damage is found by one walk over the entropy-coded data: the decoder of this
// package decodes as it walks, and for the other one [Check] walks before it sees the image.
//
// The encoder of this package writes the bytes that libjpeg-turbo does, so that it does not
// matter which of the two is at work: where the assembly runs this one, for it is faster.
//
//	set, err := jpeg.Open(jpeg.Auto)
//	if err != nil {
//		return err
//	}
//	h, err := jpeg.ParseHeader(data)
//	if err != nil {
//		return err // wraps ErrDamaged or ErrUnsupported
//	}
//	w, ht := h.Scaled(2)
//	pix := make([]byte, w*ht*3)
//	err = set.Decode(pix, w*3, data, &h, jpeg.Request{Format: jpeg.RGB, Denom: 2})
//	...
//	out, err := set.Append(nil, jpeg.Pixels{Pix: pix, Width: w, Height: ht, Stride: w * 3, Format: jpeg.RGB}, 95, jpeg.Sub420)
package jpeg
