package recolor

// SetPixel sets a pixel of red, green, blue and alpha.
func SetPixel(p []byte, r, g, b, a byte) {
	p = p[:4]
	p[0], p[1], p[2], p[3] = r, g, b, a
}

// LessInk returns white reduced by ink, with Pillow's rounding.
func LessInk(white uint32, ink byte) byte {
	t := uint32(ink)*white + 128
	return byte(white - (t>>8+t)>>8)
}

// Unmultiply divides colours by their alpha.
func Unmultiply(row []byte) {
	for ; len(row) >= 4; row = row[4:] {
		if a := int(row[3]); a != 255 && a != 0 {
			for i, v := range row[:3] {
				row[i] = byte(min(255, int(v)*255/a))
			}
		}
	}
}

// LayOn lays a row on a background.
func LayOn(row []byte, background [3]uint8) {
	for ; len(row) >= 4; row = row[4:] {
		a := uint32(row[3])
		if a == 255 {
			continue
		}
		for i, bg := range background {
			row[i] = byte((uint32(row[i])*a + uint32(bg)*(255-a) + 127) / 255)
		}
	}
}

// FillRow writes a row's colours, or their luminance (ITU-R BT.601, as Pillow's convert("L")).
func FillRow(dst, row []byte, channels int) {
	if channels == 3 {
		for x := range len(row) / 4 {
			p, q := dst[3*x:3*x+3:3*x+3], row[4*x:4*x+3:4*x+3]
			p[0], p[1], p[2] = q[0], q[1], q[2]
		}
		return
	}
	for x := range dst {
		p := row[4*x : 4*x+3 : 4*x+3]
		dst[x] = byte((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
	}
}
