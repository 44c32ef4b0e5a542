//go:build !noasm

package recolor

import "golang.org/x/sys/cpu"

// useAssembly reports whether the assembly runs here. Tests turn it off.
var useAssembly = cpu.X86.HasAVX2

//go:generate sh -c "cd _generate && go run rows.go -out ../rows_amd64.s -stubs ../rows_stubs_amd64.go -pkg recolor"

// LuminanceRow makes a row of gray of one of RGB. dst may be the beginning of src, or before it.
func LuminanceRow(dst, src []uint8) {
	whole := len(dst) / 16 * 16
	if !useAssembly || whole == 0 {
		luminanceRowPlain(dst, src)
		return
	}
	_ = src[3*len(dst)-1]
	luminanceRowAVX2(&dst[0], &src[0], whole)
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
	saturateRowAVX2(&dst[0], &src[0], b.Factor(), whole/3)
	saturateRowPlain(dst[whole:], src[whole:], b)
}

// turnRow turns the hues of a row. dst may be src.
func turnRow(dst, src []uint8, turn uint8) {
	t := hueTables()
	whole := len(src) / 24 * 24
	if !useAssembly || whole == 0 {
		t.turnRowPlain(dst, src, turn)
		return
	}
	_ = dst[len(src)-1]
	turnRowAVX2(&dst[0], &src[0], &t.place[0][0][0], &t.saturation[0][0], &t.at[0], &t.spokes[0], uint32(turn), whole/3)
	t.turnRowPlain(dst[whole:], src[whole:], turn)
}
