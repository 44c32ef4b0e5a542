// Package webp decodes still WebP images: VP8 key frames (RFC 6386), VP8L (RFC 9649) and alpha.
//
// The planes, the pixels and the verdicts on damage equal golang.org/x/image/webp's, which is the
// reference in tests. Expensive pieces have assembly for amd64 with AVX2, and a plain reference
// implementation in Go that tests compare it with.
//
//	var d webp.Decoder
//	m, err := d.Decode(data) // *image.YCbCr, *image.NYCbCrA or *image.NRGBA
//	if err != nil {
//		return err
//	}
//	// m is valid until the next call of d.Decode
//
// Lossy images are decoded by rows of macroblocks: the coefficients of a macroblock are read,
// transformed and added to its prediction in a small buffer, which is copied to the planes; when
// the row is complete, the loop filter runs over it, while it is in cache. Prediction needs samples
// of the row above before they are filtered: the last line of each row is kept for that.
package webp
