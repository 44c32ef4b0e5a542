// Package bitmap has images in memory, and places in them: [Image], [Planes] of luma and chroma as
// JPEG stores them, [Box] and [Point].
//
//	var im bitmap.Image // reused from image to image
//	im.Reset(640, 480, 3)
//	row := im.Row(7) // 640 pixels of red, green and blue
//
// Everything that decodes, resizes, changes or encodes pixels passes these types on. The package
// computes no colours, and knows neither files nor filters.
package bitmap
