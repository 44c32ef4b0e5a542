// Package jpeg reads and writes JPEG with the available decoders, and detects damaged images.
//
// A small interface has two decoders: the decoder of this package, whose pixels equal
// libjpeg-turbo's, and libjpeg-turbo, found at run time and called without cgo. The choice for an
// image depends on its header and the opened backends, never on its pixel data, so that the same
// image gives the same pixels on every run.
//
// Decoders differ in the damage that they forgive: libjpeg fills in missing data and warns, or
// reports nothing. This package finds damage in one walk over the entropy-coded data: its own
// decoder decodes as it walks, and [Check] walks before libjpeg-turbo sees the image.
//
// The encoder of this package writes the same bytes as libjpeg-turbo. It is used where its assembly
// runs, since it is faster.
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
