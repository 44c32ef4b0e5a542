//go:build (!amd64 && !arm64) || noasm

package recolor

// LuminanceRow makes a row of gray of one of RGB. dst may be the beginning of src, or before it.
func LuminanceRow(dst, src []uint8) { luminanceRowPlain(dst, src) }

// saturateRow mixes the pixels of a row with their luminance. dst may be src.
func saturateRow(dst, src []uint8, b *Blender) { saturateRowPlain(dst, src, b) }

// turnRow turns the hues of a row. dst may be src.
func turnRow(dst, src []uint8, turn uint8) { hueTables().turnRowPlain(dst, src, turn) }
