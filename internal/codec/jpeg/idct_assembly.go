//go:build (amd64 || arm64) && !noasm

package jpeg

//go:generate sh -c "cd _generate && go run ./dct -out ../dct_amd64.s -stubs ../dct_stubs_amd64.go -pkg jpeg"
//go:generate sh -c "cd _generate && go run ./neon -out ../vectors_arm64.s -stubs ../vectors_stubs_arm64.go -pkg jpeg"

// idct8 makes neighbouring blocks at full size: 8 rows of 8 samples a block.
func idct8(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	if !hasVectors || len(coefs) == 0 {
		idct8Plain(dst, stride, coefs, quant)
		return
	}
	_ = dst[7*stride+8*len(coefs)-1]
	idct8Asm(&dst[0], stride, &coefs[0], quant, len(coefs))
}

// idct4 is idct8 at half the size: 4 rows of 4 samples a block.
func idct4(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	if !hasVectors || len(coefs) == 0 {
		idct4Plain(dst, stride, coefs, quant)
		return
	}
	_ = dst[3*stride+4*len(coefs)-1]
	idct4Asm(&dst[0], stride, &coefs[0], quant, len(coefs))
}

// idct2 is idct8 at a quarter of the size: 2 rows of 2 samples a block.
func idct2(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	if !hasVectors || len(coefs) == 0 {
		idct2Plain(dst, stride, coefs, quant)
		return
	}
	_ = dst[stride+2*len(coefs)-1]
	idct2Asm(&dst[0], stride, &coefs[0], quant, len(coefs))
}
