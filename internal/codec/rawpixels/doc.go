// Package rawpixels describes images that records hold as samples, without encoding: row by row from
// the top, and the channels of a pixel next to each other. image/format names the kind of samples.
//
//	n := rawpixels.SampleBytes(format) // 0: the image is encoded
//	size, err := rawpixels.Of(features, format, len(data))
//	im := augment.Image{Pix: data, Width: size.Width, ...} // size fits data
package rawpixels
