package jpeg

import "image"

// toYCbCr makes 4:2:0 planes of an RGB picture, for encoders that take them faster than
// pixels. The arithmetic is libjpeg's (jccolor.c, jcsample.c): 16 bits of fraction, chroma
// as the mean of two by two pixels.
func toYCbCr(p Pixels) *image.YCbCr {
	m := image.NewYCbCr(image.Rect(0, 0, p.Width, p.Height), image.YCbCrSubsampleRatio420)
	for y := range p.Height {
		row, luma := p.Pix[y*p.Stride:][:3*p.Width], m.Y[y*m.YStride:][:p.Width]
		for x := range luma {
			luma[x] = luminance(row[3*x : 3*x+3 : 3*x+3])
		}
	}
	for y := 0; y < p.Height; y += 2 {
		upper := p.Pix[y*p.Stride:]
		lower := p.Pix[min(y+1, p.Height-1)*p.Stride:]
		cb, cr := m.Cb[y/2*m.CStride:], m.Cr[y/2*m.CStride:]
		for x := 0; x < p.Width; x += 2 {
			a, b := 3*x, 3*min(x+1, p.Width-1)
			r := int32(upper[a]) + int32(upper[b]) + int32(lower[a]) + int32(lower[b])
			g := int32(upper[a+1]) + int32(upper[b+1]) + int32(lower[a+1]) + int32(lower[b+1])
			bl := int32(upper[a+2]) + int32(upper[b+2]) + int32(lower[a+2]) + int32(lower[b+2])
			// The sums of four carry two more bits.
			cb[x/2] = byte((-11059*r - 21709*g + 32768*bl + 128<<18 + 1<<17 - 1) >> 18)
			cr[x/2] = byte((32768*r - 27439*g - 5329*bl + 128<<18 + 1<<17 - 1) >> 18)
		}
	}
	return m
}

// toLuma drops the colours of an RGB picture.
func toLuma(p Pixels) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, p.Width, p.Height))
	for y := range p.Height {
		row, luma := p.Pix[y*p.Stride:][:3*p.Width], m.Pix[y*m.Stride:][:p.Width]
		for x := range luma {
			luma[x] = luminance(row[3*x : 3*x+3 : 3*x+3])
		}
	}
	return m
}

// luminance is 0.299 R + 0.587 G + 0.114 B, rounded.
func luminance(p []byte) byte {
	return byte((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
}
