// Package imagefile reads and writes image files of any supported format: [Codec].
//
//	file ─► format ─► header, limits ─► pixels ─► upright image
//
// A header is read first, and its size compared with the limits, before memory is allocated. If a
// decoder panics, the image is damaged. Read info.go for headers and decode.go for the choice of the
// decoder. PNG, GIF and WebP have a file each, and JPEG, BMP and TIFF a package. It never resizes an
// image, except by the reductions of JPEG.
package imagefile
