package jpeg

import (
	"encoding/binary"
	"sync"
)

// standardQuant are the quantisation tables of ITU-T T.81, annex K.1, for luminance
// and chrominance, in natural order.
var standardQuant = [2][64]uint16{
	{
		16, 11, 10, 16, 24, 40, 51, 61,
		12, 12, 14, 19, 26, 58, 60, 55,
		14, 13, 16, 24, 40, 57, 69, 56,
		14, 17, 22, 29, 51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77,
		24, 35, 55, 64, 81, 104, 113, 92,
		49, 64, 78, 87, 103, 121, 120, 101,
		72, 92, 95, 98, 112, 100, 103, 99,
	},
	{
		17, 18, 24, 47, 99, 99, 99, 99,
		18, 21, 26, 66, 99, 99, 99, 99,
		24, 26, 56, 99, 99, 99, 99, 99,
		47, 66, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
	},
}

// scaled is a standard table for a quality from 1 to 100, by libjpeg's formula
// (jcparam.c): 50 is the table itself, 100 is all ones.
func scaled(table *[64]uint16, quality int) (t [64]uint16) {
	percent := 200 - 2*quality
	if quality < 50 {
		percent = 5000 / quality
	}
	for i, q := range table {
		t[i] = uint16(max(1, min((int(q)*percent+50)/100, 255)))
	}
	return t
}

// appendHeader appends the segments before the entropy-coded data, as libjpeg writes them: a JFIF
// header 1.01 without density, the tables, the frame and the scan. The second quantisation table is
// not written for grayscale.
func appendHeader(dst []byte, w, h int, quant *[2][64]uint16, sub Subsampling) []byte {
	components := 3
	if sub == SubGray {
		components = 1
	}
	dst = append(dst, 0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0)
	for id := range (components + 1) / 2 {
		dst = append(dst, 0xFF, markerDQT, 0, 67, byte(id))
		for k := range 64 {
			dst = append(dst, byte(quant[id][naturalOrder[k]]))
		}
	}
	dst = append(dst, 0xFF, 0xC0, 0, byte(8+3*components), 8)
	dst = binary.BigEndian.AppendUint16(dst, uint16(h))
	dst = binary.BigEndian.AppendUint16(dst, uint16(w))
	dst = append(dst, byte(components))
	across, down := sub.Factors()
	factors := byte(across<<4 | down)
	for i := range byte(components) {
		dst = append(dst, i+1, factors, min(i, 1))
		factors = 0x11
	}
	for id := range (components + 1) / 2 {
		for class, table := range standardTables[id] {
			dst = append(dst, 0xFF, markerDHT)
			dst = binary.BigEndian.AppendUint16(dst, uint16(3+len(table)))
			dst = append(append(dst, byte(class<<4|id)), table...)
		}
	}
	dst = append(dst, 0xFF, markerSOS, 0, byte(6+2*components), byte(components))
	for i := range byte(components) {
		dst = append(dst, i+1, min(i, 1)*0x11)
	}
	return append(dst, 0, 63, 0)
}

// bitCode is the code of a coefficient. Its bits are code plus the coefficient: code holds the
// shifted Huffman code and, for negative coefficients, an offset that makes the sum the bits that
// follow it.
type bitCode struct{ code, length uint32 }

// blockCodes are the codes of a component's coefficients.
type blockCodes struct {
	// ac has for each run of up to 15 zeros before a coefficient a code for each of its [classes].
	// Entries that no coefficient uses have other codes: the end of the block at 0, an empty one at
	// pastEnd, and 16 zeros at sixteen.
	ac [16 * 32]bitCode
	// dc has a code for each class of a difference.
	dc [32]bitCode
}

// Places in blockCodes.ac.
const (
	endOfBlockCode = 0
	pastEnd        = 1 * 32
	sixteen        = 15 * 32
)

// standardCodes returns the codes for luminance and chrominance.
var standardCodes = sync.OnceValue(func() *[2]blockCodes {
	t := new([2]blockCodes)
	for id := range t {
		for class, table := range standardTables[id] {
			code, symbols := uint32(0), table[16:]
			for i, n := range table[:16] {
				length := uint32(i + 1)
				for _, s := range symbols[:n] {
					run, size := int(s>>4), uint32(s&15)
					positive := bitCode{code << size, length + size}
					negative := bitCode{positive.code + 1<<size - 1, positive.length}
					at := t[id].ac[32*run:]
					if class == 0 {
						at = t[id].dc[:]
					}
					at[2*size] = positive
					if size > 0 {
						at[2*size+1] = negative
					}
					code++
				}
				symbols = symbols[n:]
				code <<= 1
			}
		}
	}
	return t
})

// maxCoefficient is more than a coefficient, or a difference of two, can be.
const maxCoefficient = 2048

// classes give for coefficients from -maxCoefficient on twice their number of
// bits, and one more for those below zero.
var classes = func() (t [2 * maxCoefficient]uint8) {
	for size := range 12 {
		for v := 1 << size >> 1; v < 1<<size; v++ {
			t[maxCoefficient+v] = uint8(2 * size)
			t[maxCoefficient-v] = uint8(2*size + 1)
		}
	}
	t[0] = 2*11 + 1 // not in use: no code is that long
	t[maxCoefficient] = 0
	return t
}()
