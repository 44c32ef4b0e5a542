//go:build (!amd64 && !arm64) || noasm

package jpeg

// idct8 makes neighbouring blocks at full size: 8 rows of 8 samples a block.
func idct8(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	idct8Plain(dst, stride, coefs, quant)
}

// idct4 is idct8 at half the size: 4 rows of 4 samples a block.
func idct4(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	idct4Plain(dst, stride, coefs, quant)
}

// idct2 is idct8 at a quarter of the size: 2 rows of 2 samples a block.
func idct2(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	idct2Plain(dst, stride, coefs, quant)
}
