//go:build (!amd64 && !arm64) || noasm

package jpeg

// fromRGB converts n pixels of RGB as libjpeg does (jccolor.c): in 16 bits of
// fraction. The rows have room for whole groups of 32.
func fromRGB(luma, cb, cr, rgb []byte, n int) { fromRGBPlain(luma, cb, cr, rgb, n) }

// halve makes a row of chroma of one twice as wide, of two rows, or of both, as
// libjpeg does (jcsample.c): by the mean, rounded down and up in turns, but for
// two rows of the same width, where it is rounded up. The rows of src follow each
// other, and dst has a multiple of 32 samples.
func halve(dst, src []byte, across, down int) { halvePlain(dst, src, across, down) }
