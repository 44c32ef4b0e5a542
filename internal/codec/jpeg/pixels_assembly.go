//go:build (amd64 || arm64) && !noasm

package jpeg

//go:generate sh -c "cd _generate && go run ./pixels -out ../pixels_amd64.s -stubs ../pixels_stubs_amd64.go -pkg jpeg"

// fromRGB converts n pixels of RGB as libjpeg does (jccolor.c): in 16 bits of
// fraction. The rows have room for whole groups of 32.
func fromRGB(luma, cb, cr, rgb []byte, n int) {
	if !hasVectors {
		fromRGBPlain(luma, cb, cr, rgb, n)
		return
	}
	_ = rgb[3*n-1]
	x := n &^ 31
	if len(rgb) < 3*x+4 {
		x = max(x-32, 0) // the assembly reads beyond its pixels
	}
	if x > 0 {
		_, _, _ = luma[x-1], cb[x-1], cr[x-1]
		fromRGBAsm(&luma[0], &cb[0], &cr[0], &rgb[0], x)
	}
	for ; x < n; x += 32 {
		var group [3*32 + 4]byte
		copy(group[:3*32], rgb[3*x:3*n])
		_, _, _ = luma[x+31], cb[x+31], cr[x+31]
		fromRGBAsm(&luma[x], &cb[x], &cr[x], &group[0], 32)
	}
}

// halve makes a row of chroma of one twice as wide, of two rows, or of both, as
// libjpeg does (jcsample.c): by the mean, rounded down and up in turns, but for
// two rows of the same width, where it is rounded up. The rows of src follow each
// other, and dst has a multiple of 32 samples.
func halve(dst, src []byte, across, down int) {
	n := len(dst)
	if !hasVectors || n == 0 || n%32 > 0 {
		halvePlain(dst, src, across, down)
		return
	}
	_ = src[n*across*down-1]
	switch {
	case down == 1:
		halveAcrossAsm(&dst[0], &src[0], nil, n)
	case across == 1:
		halveDownAsm(&dst[0], &src[0], &src[n], n)
	default:
		halveBothAsm(&dst[0], &src[0], &src[2*n], n)
	}
}
