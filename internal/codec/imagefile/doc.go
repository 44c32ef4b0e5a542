// Package imagefile reads and writes image files of any supported format: [Codec].
//
//	file ─► format ─► header, limits ─► pixels ─► upright image
//
// A header is read first, and its size compared with the limits, before memory is allocated. A
// decoder that panics makes a damaged image, not a crash. Read info.go for headers, decode.go for
// the choice of the decoder, and png.go, gif.go and webp.go for what is particular to a format;
// JPEG, BMP and TIFF have packages of their own. It never resizes an image, but for the reductions
// of JPEG.
package imagefile
