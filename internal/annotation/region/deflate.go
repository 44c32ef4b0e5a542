package region

import (
	"encoding/binary"
	"math/bits"
)

// Symbols and limits of deflate. Symbols below 256 are bytes, and those after it matches.
const (
	endOfBlock  = 256
	firstMatch  = 257
	fourth      = 259 // symbol from endOfBlock on; from here on they have longer codes
	lastMatch   = 285
	minMatch    = 3
	maxMatch    = 258
	maxDistance = 1 << 15
)

// The matches that a deflater has in progress: runs of a byte, and rows like the one above.
const (
	zeros = iota
	ones
	rows
)

// deflater compresses the rows of a mask as one block with a code that suits them: 1 bit for the
// longest match, 3 for the bytes 0 and 1, 6 for the end and the two shortest matches, 7 for the
// others, and none for other bytes. There are two distances, of 1 bit: 1, and the length of a row.
type deflater struct {
	dst         []byte
	bits        uint64 // not yet in dst, the first is the lowest
	bitCount    int
	kind        uint8 // zeros, ones or rows in progress
	length      int   // of these, in bytes
	repeats     bool  // rows are of a length that can be a distance
	rowDistance int   // the code of the length of a row
	rowBits     int   // how many
}

// begin writes what comes before the contents, of rows of n bytes.
func (d *deflater) begin(n int) {
	d.repeats = minMatch <= n && n <= maxDistance
	n = min(max(n, minMatch), maxDistance) - 1
	extra := bits.Len(uint(n)) - 2
	distance := 2*(extra+1) + n>>extra&1
	d.rowDistance, d.rowBits = 1|n&(1<<extra-1)<<1, 1+extra

	d.write(1|2<<1, 3) // the last block, which has its own codes
	d.write(lastMatch-endOfBlock, 5)
	d.write(distance, 5)
	// The lengths of codes have codes themselves, of 3 bits each: for the lengths 0, 1, 3, 6 and 7,
	// for repetition, and for zeros. The order is deflate's: 16, 17, 18, 0, 8, 7, ... 14, 1.
	const used = "111101010000010001"
	d.write(len(used)-4, 4)
	for _, is := range used {
		d.write(int(is-'0')*3, 3)
	}
	const zero, one, three, six, seven, sixMore, manyZeros = 0, 4, 2, 6, 1, 5 | 3<<3, 7 // from the lowest bit
	d.write(three, 3)
	d.write(three, 3)
	d.write(manyZeros|(138-11)<<3, 10)
	d.write(manyZeros|(254-138-11)<<3, 10)
	for range fourth - endOfBlock {
		d.write(six, 3)
	}
	d.write(seven, 3)
	for range 4 {
		d.write(sixMore, 5)
	}
	d.write(seven, 3)
	d.write(one, 3)
	d.write(one, 3)
	for range distance - 1 {
		d.write(zero, 3)
	}
	d.write(one, 3)
}

// add adds n bytes of zeros, ones or rows; of rows at least minMatch.
func (d *deflater) add(kind uint8, n int) {
	if kind != d.kind {
		d.flush()
		d.kind = kind
	}
	d.length += n
}

// end completes the block and returns the bytes.
func (d *deflater) end() []byte {
	d.flush()
	d.symbol(endOfBlock)
	for ; d.bitCount > 0; d.bitCount -= 8 {
		d.dst = append(d.dst, uint8(d.bits))
		d.bits >>= 8
	}
	return d.dst
}

// flush writes the matches in progress.
func (d *deflater) flush() {
	n := d.length
	d.length = 0
	if d.kind != rows {
		for ; n > 0; n-- {
			d.write(1|int(d.kind)<<2, 3) // the codes are 100 and 101, the highest bit first
			if n > minMatch {
				n--
				break
			}
		}
	}
	for n > 0 {
		length := min(n, maxMatch)
		if left := n - length; 0 < left && left < minMatch {
			length -= minMatch - left
		}
		d.match(length)
		n -= length
	}
}

// match writes a match of n bytes.
func (d *deflater) match(n int) {
	if n == maxMatch {
		d.write(0, 1)
	} else {
		n -= minMatch
		extra := max(bits.Len(uint(n))-3, 0)
		d.symbol(firstMatch + 4*extra + n>>extra)
		d.write(n&(1<<extra-1), extra)
	}
	if d.kind == rows {
		d.write(d.rowDistance, d.rowBits)
	} else {
		d.write(0, 1)
	}
}

// symbol writes the end or a match that is not the longest. Codes of one length follow each other.
func (d *deflater) symbol(s int) {
	if s < fourth {
		d.write(int(bits.Reverse8(uint8(0b110000+s-endOfBlock)<<2)), 6)
	} else {
		d.write(int(bits.Reverse8(uint8(0b1100110+s-fourth)<<1)), 7)
	}
}

// write writes the lowest n bits of v, which has no others.
func (d *deflater) write(v, n int) {
	d.bits |= uint64(v) << d.bitCount
	if d.bitCount += n; d.bitCount >= 32 {
		d.dst = binary.LittleEndian.AppendUint32(d.dst, uint32(d.bits))
		d.bits >>= 32
		d.bitCount -= 32
	}
}
