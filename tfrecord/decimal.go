package tfrecord

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// appendDecimal appends the decimal digits of n, as strconv.AppendInt does, which is its reference:
// eight digits at a time.
func appendDecimal(dst []byte, n int64) []byte {
	const eight = 1e8
	switch {
	case n < 0 || n >= eight*eight:
		return strconv.AppendInt(dst, n, 10)
	case n < eight:
		digits := eightDigits(uint64(n))
		zeros := min(bits.TrailingZeros64(digits)/8, 7) // that it begins with, but for the last
		dst = binary.LittleEndian.AppendUint64(dst, (digits|asciiZeros)>>(8*zeros))
		return dst[:len(dst)-zeros]
	default:
		dst = appendDecimal(dst, n/eight)
		return binary.LittleEndian.AppendUint64(dst, eightDigits(uint64(n%eight))|asciiZeros)
	}
}

const asciiZeros = 0x3030303030303030

// eightDigits returns the eight decimal digits of n, which is less than 1e8, as bytes, the first one
// lowest. It halves the number of digits in each part of the word three times; the quotients are
// products with reciprocals, exact for numbers of so few digits.
func eightDigits(n uint64) uint64 {
	fours := n/10_000 | n%10_000<<32
	hundreds := fours * 10_486 >> 20 & 0x7F_0000_007F
	twos := hundreds | (fours-100*hundreds)<<16
	tens := twos * 103 >> 10 & 0x0F_000F_000F_000F
	return tens | (twos-10*tens)<<8
}
