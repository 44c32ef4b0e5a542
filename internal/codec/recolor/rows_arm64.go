//go:build !noasm

package recolor

// useAssembly reports whether the assembly runs here. Tests turn it off.
var useAssembly = true

// LuminanceRow makes a row of gray of one of RGB. dst may be the beginning of src, or before it.
func LuminanceRow(dst, src []uint8) {
	whole := len(dst) / 16 * 16
	if !useAssembly || whole == 0 {
		luminanceRowPlain(dst, src)
		return
	}
	_ = src[3*len(dst)-1]
	luminanceRowNEON(&dst[0], &src[0], whole)
	luminanceRowPlain(dst[whole:], src[3*whole:])
}

// saturateRow mixes the pixels of a row with their luminance. dst may be src.
func saturateRow(dst, src []uint8, b *Blender) {
	whole := len(src) / 24 * 24 // bytes of eight pixels at a time
	if !useAssembly || whole == 0 {
		saturateRowPlain(dst, src, b)
		return
	}
	_ = dst[len(src)-1]
	saturateRowNEON(&dst[0], &src[0], b.Factor(), whole/3)
	saturateRowPlain(dst[whole:], src[whole:], b)
}

// turnRow turns the hues of a row. dst may be src.
func turnRow(dst, src []uint8, turn uint8) { hueTables().turnRowPlain(dst, src, turn) }
