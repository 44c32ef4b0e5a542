package recolor

//go:generate sh -c "cd _generate && go run ./neon -out ../rows_arm64.s -stubs ../rows_stubs_arm64.go -pkg recolor"

// The colour steps for one row, and the reference implementations of the assembly.

// applyRow looks up every sample of a row. dst may be src.
func (t *Levels) applyRow(dst, src []uint8) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = t[v]
	}
}

// applyRow looks up every sample of a row in its channel's table. dst may be src.
func (t *ChannelLevels) applyRow(dst, src []uint8, channels int) {
	if channels == 1 {
		t[0].applyRow(dst, src)
		return
	}
	for ; len(src) >= 3 && len(dst) >= 3; src, dst = src[3:], dst[3:] {
		dst[0], dst[1], dst[2] = t[0][src[0]], t[1][src[1]], t[2][src[2]]
	}
}

// luminanceRowPlain makes a row of gray of one of RGB.
func luminanceRowPlain(dst, src []uint8) {
	for x := range dst {
		p := src[3*x : 3*x+3]
		dst[x] = Luminance(p[0], p[1], p[2])
	}
}

// saturateRowPlain mixes the pixels of a row with their luminance. dst may be src.
func saturateRowPlain(dst, src []uint8, b *Blender) {
	for ; len(src) >= 3 && len(dst) >= 3; src, dst = src[3:], dst[3:] {
		red, green, blue := src[0], src[1], src[2]
		gray := Luminance(red, green, blue)
		dst[0], dst[1], dst[2] = b.Mix(gray, red), b.Mix(gray, green), b.Mix(gray, blue)
	}
}

// grayRow gives each pixel of a row its luminance in all channels. dst may be src, and gray has
// room for a row of one channel.
func grayRow(dst, src, gray []uint8) {
	LuminanceRow(gray, src)
	for _, v := range gray {
		p := dst[:3]
		p[0], p[1], p[2] = v, v, v
		dst = dst[3:]
	}
}

// sumOf adds the samples of a row up.
func sumOf(row []uint8) uint64 {
	sum := uint64(0)
	for _, v := range row {
		sum += uint64(v)
	}
	return sum
}
