//go:build !noasm

package augment

// useColorAssembly reports whether the assembly runs here. Tests turn it off.
var useColorAssembly = true

// luminanceRow makes a row of gray of one of RGB. dst may be the beginning of src, or before it.
func luminanceRow(dst, src []uint8) {
	whole := len(dst) / 16 * 16
	if !useColorAssembly || whole == 0 {
		luminanceRowPlain(dst, src)
		return
	}
	_ = src[3*len(dst)-1]
	luminanceRowNEON(&dst[0], &src[0], whole)
	luminanceRowPlain(dst[whole:], src[3*whole:])
}

// saturateRow mixes the pixels of a row with their luminance. dst may be src.
func saturateRow(dst, src []uint8, b *blender) {
	whole := len(src) / 24 * 24 // bytes of eight pixels at a time
	if !useColorAssembly || whole == 0 {
		saturateRowPlain(dst, src, b)
		return
	}
	_ = dst[len(src)-1]
	saturateRowNEON(&dst[0], &src[0], b.factor(), whole/3)
	saturateRowPlain(dst[whole:], src[whole:], b)
}

// turnRow turns the hues of a row. dst may be src.
func turnRow(dst, src []uint8, turn uint8) { hueTables().turnRowPlain(dst, src, turn) }
