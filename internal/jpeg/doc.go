// Package jpeg reads and writes JPEG through whichever decoder is at hand, and says of
// each picture whether it is whole.
//
// Three backends stand behind one small interface: libjpeg-turbo, found at run time and
// called without cgo; jpegn, a decoder in Go that is always there; and the standard
// library's image/jpeg, for what the others refuse. Which of them takes a picture follows
// from its header and from what was opened, never from its pixel data, so that the same
// picture gives the same pixels on every run.
//
// Decoders differ in what they forgive: one fills in what is missing and says nothing,
// another warns. Here damage is found by one walk over the entropy-coded data ([Check]),
// the same for all of them, before a decoder sees the picture.
//
//	set, err := jpeg.Open(jpeg.Auto)
//	if err != nil {
//		return err
//	}
//	h, err := jpeg.ParseHeader(data)
//	if err == nil && h.Huffman() {
//		err = jpeg.Check(data, &h)
//	}
//	if err != nil {
//		return err // wraps ErrDamaged or ErrUnsupported
//	}
//	w, ht := h.Scaled(2)
//	pix := make([]byte, w*ht*3)
//	err = set.Decode(pix, w*3, data, &h, jpeg.Request{Format: jpeg.RGB, Denom: 2})
package jpeg
