package csvscan

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tfrec/tfrec/internal/swar"
)

// maxPlain is the longest chunk whose separators are listed before its rows
// are read: a longer one has a row of several megabytes.
const maxPlain = 4 * ChunkSize

// separators appends to dst the positions in data of delimiters and control characters below 0x0e.
// Those are \n and \r, and few others in text, which users of the list must skip. Listing all of a
// chunk before reading its rows needs no branch that depends on the data except for fields below
// three bytes; a branch at the end of each field would be mispredicted half the time.
func separators(dst []uint32, data []byte, delim byte) []uint32 {
	delims := uint64(delim) * swar.Ones
	at := 0
	for at+8 <= len(data) {
		// Room for the worst case of a block, so that stores need no growth.
		block := min(len(data)-at, 4096) &^ 7
		n := len(dst)
		dst = slices.Grow(dst, block+2)
		out := dst[:cap(dst)]
		for end := at + block; at < end; at += 8 {
			w := binary.LittleEndian.Uint64(data[at:])
			x := w ^ delims
			m := ^((x&swar.Lows + swar.Lows) | x) & swar.Highs // bytes of x that are 0
			m |= ^((w&swar.Lows + (0x80-0x0e)*swar.Ones) | w) & swar.Highs
			count := bits.OnesCount64(m)
			pair := out[n : n+2]
			pair[0] = uint32(at + bits.TrailingZeros64(m)>>3)
			m &= m - 1
			pair[1] = uint32(at + bits.TrailingZeros64(m)>>3)
			if count > 2 {
				for i := n + 2; i < n+count; i++ {
					m &= m - 1
					out[i] = uint32(at + bits.TrailingZeros64(m)>>3)
				}
			}
			n += count
		}
		dst = out[:n]
	}
	for ; at < len(data); at++ {
		if c := data[at]; c == delim || c < 0x0e {
			dst = append(dst, uint32(at))
		}
	}
	return dst
}
