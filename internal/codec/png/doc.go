// Package png decodes PNG (ISO/IEC 15948) row by row, every colour type and depth, interlaced or
// not.
//
//	var r png.Reader // its zero value is ready, and its memory is reused
//	err := r.Reset(data)
//	for err == nil {
//		var row []byte
//		var at png.Place
//		if row, at, err = r.Next(nil); err == nil {
//			r.RGB(pixels[:3*at.Width], row) // pixels at.X, at.X+at.Step, ... of row at.Y
//		}
//	}
//	// io.EOF: the image is whole
//
// Damage is found up to the chunk IEND: it checks all chunks' checksums, the checksum of the
// pixels, their amount, and the order of chunks. The verdicts equal image/png's, with one
// exception: data in a chunk IDAT after the compressed pixels are ignored, as libpng does. It needs
// memory for a few rows.
package png
