package csvscan

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unsafe"

	"github.com/tfrec/tfrec/internal/swar"
)

// ParseInt64 parses a decimal integer of the int64 range: an optional sign
// and digits, with blanks around them. It reports false for anything else.
func ParseInt64(field []byte) (int64, bool) {
	if n := len(field); n > 0 && n <= 18 {
		i, neg := 0, field[0] == '-'
		if neg {
			i = 1
		}
		var v int64
		for ; i < n; i++ {
			d := field[i] - '0'
			if d > 9 {
				break
			}
			v = v*10 + int64(d)
		}
		if i == n && (!neg || n > 1) {
			if neg {
				v = -v
			}
			return v, true
		}
	}
	v, err := strconv.ParseInt(text(trimBlanks(field)), 10, 64)
	return v, err == nil
}

// ParseBool parses true and false, in any case and with blanks around them, as 1 and 0. It reports
// false for anything else.
func ParseBool(field []byte) (int64, bool) {
	field = trimBlanks(field)
	if !isBool(field) {
		return 0, false
	}
	return int64(5 - len(field)), true
}

// isBool reports whether a field without blanks around it is true or false.
func isBool(field []byte) bool {
	switch len(field) {
	case len("true"):
		return field[0]|0x20 == 't' && bytes.EqualFold(field, []byte("true"))
	case len("false"):
		return field[0]|0x20 == 'f' && bytes.EqualFold(field, []byte("false"))
	}
	return false
}

// ParseIntOrBool parses a field of a column of integers, with ParseInt64 or else ParseBool.
func ParseIntOrBool(field []byte) (int64, bool) {
	if v, ok := ParseInt64(field); ok {
		return v, true
	}
	return ParseBool(field)
}

// Powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseFloat64 parses a decimal number, "inf", "infinity" or "nan" (in any
// case, with an optional sign), with blanks around it, to the nearest float64.
// A number that is too large becomes an infinity and one that is too small 0,
// as in Python. It reports false for anything else, hexadecimal included.
func ParseFloat64(field []byte) (float64, bool) {
	// The fast path of W. D. Clinger, "How to Read Floating Point Numbers
	// Accurately" (1990): an integer below 2^53 and a power of ten up to 22
	// are exact as float64, so that one division rounds correctly.
	n, i := len(field), 0
	if n == 0 {
		return 0, false
	}
	var sign uint64
	if field[0] == '-' {
		sign, i = 1<<63, 1
	}
	start := i
	var mant uint64
	for ; i < n; i++ {
		d := field[i] - '0'
		if d > 9 {
			break
		}
		mant = mant*10 + uint64(d)
	}
	digits, frac := i-start, 0
	if i < n && field[i] == '.' {
		i++
		frac = n - i
		if frac <= 8 && cap(field)-i >= 8 {
			word, ok := eightDigits(field[i:i+8:cap(field)], frac)
			if !ok {
				return parseFloatSlow(trimBlanks(field))
			}
			mant, i = mant*intPow10[frac]+word, n
		} else {
			for ; i < n; i++ {
				d := field[i] - '0'
				if d > 9 {
					return parseFloatSlow(trimBlanks(field))
				}
				mant = mant*10 + uint64(d)
			}
		}
		digits += frac
	}
	if i == n && digits > 0 && digits <= 19 && mant < 1<<53 {
		v := float64(mant) / pow10[frac]
		return math.Float64frombits(math.Float64bits(v) | sign), true
	}
	return parseFloatSlow(trimBlanks(field))
}

// ParseFloat32 is ParseFloat64 for a float32. A number beyond the range of a float32 does not fit: it
// would become an infinity, which "inf" is by itself.
func ParseFloat32(field []byte) (v float32, fits, ok bool) {
	x, ok := ParseFloat64(field)
	v = float32(x)
	return v, !math.IsInf(float64(v), 0) || !bytes.ContainsAny(field, "0123456789"), ok
}

// intPow10 are the powers of ten that scale the digits before up to eight more.
var intPow10 = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// notDigits marks with its top bit each of the first n bytes (n up to 8) that is not a digit;
// nibbles are those bytes less '0', the last of them on top.
func notDigits(eight []byte, n int) (marks, nibbles uint64) {
	nibbles = (binary.LittleEndian.Uint64(eight) ^ '0'*swar.Ones) << (64 - 8*n) // all of it when n is 0
	return ((nibbles&swar.Lows + (0x80-10)*swar.Ones) | nibbles) & swar.Highs, nibbles
}

// eightDigits returns the number that the first n of eight bytes spell, and
// whether they are digits. The sums of neighbours, taken three times, are from
// D. Lemire, "Quickly parsing eight digits" (2018).
func eightDigits(eight []byte, n int) (uint64, bool) {
	marks, v := notDigits(eight, n)
	v = v*10 + v>>8
	v = (v&0x000000ff000000ff*(100+1000000<<32) + v>>16&0x000000ff000000ff*(1+10000<<32)) >> 32
	return v, marks == 0
}

// parseFloatSlow is the judge of ParseFloat64, and takes what that leaves.
func parseFloatSlow(field []byte) (float64, bool) {
	unsigned := field
	if len(unsigned) > 0 && (unsigned[0] == '-' || unsigned[0] == '+') {
		unsigned = unsigned[1:]
	}
	if len(unsigned) == 0 {
		return 0, false
	}
	for _, c := range unsigned {
		// strconv takes hexadecimal floats and underscores; a table has none.
		if c == 'x' || c == 'X' || c == '_' {
			return 0, false
		}
	}
	if isSpecial(unsigned) && (unsigned[0] == 'n' || unsigned[0] == 'N') {
		return math.NaN(), true
	}
	v, err := strconv.ParseFloat(text(field), 64)
	if err != nil && !isRange(err) {
		return 0, false
	}
	return v, true
}

// isRange reports whether err is strconv's for a number out of range, whose value is an infinity.
func isRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

// text is field as a string for a call that doesn't keep it.
func text(field []byte) string {
	return unsafe.String(unsafe.SliceData(field), len(field))
}

// trimBlanks drops spaces and tabs around a field.
func trimBlanks(field []byte) []byte {
	for len(field) > 0 && (field[0] == ' ' || field[0] == '\t') {
		field = field[1:]
	}
	for n := len(field); n > 0 && (field[n-1] == ' ' || field[n-1] == '\t'); n-- {
		field = field[:n-1]
	}
	return field
}
