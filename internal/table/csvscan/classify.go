package csvscan

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// class is the form of a field, whatever its column.
type class uint8

const (
	classText class = iota
	classInt
	classFloat
	classWideFloat   // may be out of float32's range: has an exponent or is long
	classLeadingZero // a number with leading zeros, which would be lost
	classPlus        // a number with a plus sign, which would be lost
	classHuge        // an integer that int64 doesn't hold
)

// classify classifies a field by its spelling alone, without the blanks around it.
func classify(field []byte) class {
	n, i := len(field), 0
	if n == 0 {
		return classText
	}
	if field[0] == '-' {
		i = 1
	}
	start := i
	for i < n && field[i]-'0' <= 9 {
		i++
	}
	digits := i - start
	if digits > 1 && field[start] == '0' {
		return classifyOdd(field, start, classLeadingZero)
	}
	if i == n {
		switch {
		case digits == 0:
			return classText
		case digits < 19 || digits == 19 && fitsInt64(field[start:], start > 0):
			return classInt
		}
		return classHuge
	}
	if field[i] == '.' {
		point := i
		i++
		if frac := n - i; frac <= 8 && cap(field)-i >= 8 {
			marks, _ := notDigits(field[i:i+8:cap(field)], frac)
			if marks == 0 {
				i = n
			}
		}
		for i < n && field[i]-'0' <= 9 {
			i++
		}
		digits += i - point - 1
		if i == n && digits > 0 {
			if n > 30 {
				return classWideFloat
			}
			return classFloat
		}
	}
	switch {
	case digits > 0:
		if isExponent(field[i:]) {
			return classWideFloat
		}
	case field[0] == '+':
		return classifyOdd(field, 1, classPlus)
	case isSpecial(field[start:]):
		return classFloat
	}
	if bare := trimBlanks(field); len(bare) < n {
		return classify(bare)
	}
	return classText
}

// classifyOdd returns odd when the rest of the field, leading zeros aside, is a
// number, and otherwise classText.
func classifyOdd(field []byte, rest int, odd class) class {
	for rest < len(field)-1 && field[rest] == '0' && field[rest+1]-'0' <= 9 {
		rest++
	}
	if rest < len(field) && strings.IndexByte("-+ \t", field[rest]) >= 0 {
		return classText
	}
	if classify(field[rest:]) == classText {
		return classText
	}
	return odd
}

// fitsInt64 reports whether 19 digits, the first not 0, are in range.
func fitsInt64(digits []byte, neg bool) bool {
	if neg {
		return string(digits) <= "9223372036854775808"
	}
	return string(digits) <= "9223372036854775807"
}

// isExponent reports whether s is an exponent, such as e-07.
func isExponent(s []byte) bool {
	if len(s) == 0 || s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	for _, c := range s {
		if c-'0' > 9 {
			return false
		}
	}
	return len(s) > 0
}

// isSpecial reports whether s is inf, infinity or nan, in any case.
func isSpecial(s []byte) bool {
	var word string
	switch len(s) {
	case 3:
		if word = "inf"; s[0]|0x20 == 'n' {
			word = "nan"
		}
	case 8:
		word = "infinity"
	default:
		return false
	}
	for i, c := range s {
		if c|0x20 != word[i] {
			return false
		}
	}
	return true
}

// maxLoss is the share of a value that may be lost on its way to a float32
// without a word. Rounding alone loses at most 6e-8; more means that the value
// left float32's range.
const maxLoss = 1e-6

// losesFloat32 reports whether float32 cannot hold a field of classWideFloat: it overflows,
// underflows, or loses more than maxLoss.
func losesFloat32(field []byte) bool {
	v, ok := ParseFloat64(field)
	if !ok || math.IsNaN(v) {
		return false
	}
	if v == 0 || math.IsInf(v, 0) {
		// Infinities have a class of their own, so this one has overflowed;
		// and a zero has, the other way, when there is a digit but 0.
		return v != 0 || hasNonZero(field)
	}
	back := float64(float32(v))
	return math.Abs(back-v) > maxLoss*math.Abs(v)
}

// maxExact is the longest number that float32 surely holds as it is written: seven bytes are at most
// seven digits, of an integer below 2^24, or six and a point.
const maxExact = 7

// isRounded reports whether the float32 of a number differs from it by half a unit of its last
// digit or more, so that its digits cannot be restored: 0.1 is not rounded, 40.7505681 is. A number
// with an exponent is rounded if its float32 is another one than its own shortest spelling.
func isRounded(field []byte, k class) bool {
	if len(field) <= maxExact || k == classFloat && fewDigits(field) {
		return false
	}
	field = trimBlanks(field)
	if k == classInt {
		i, _ := ParseInt64(field)
		f := float32(i)
		return f >= 1<<63 || int64(f) != i
	}
	v, ok := ParseFloat64(field)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return false
	}
	lost := math.Abs(float64(float32(v)) - v)
	if lost > maxLoss*math.Abs(v) {
		return false // outside float32's range: see losesFloat32
	}
	point := bytes.IndexByte(field, '.')
	if point < 0 || bytes.ContainsAny(field, "eE") {
		short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64)
		return err != nil || short != v
	}
	frac := len(bytes.TrimRight(field[point+1:], "0"))
	return lost*math.Pow10(frac) >= 0.5
}

// Rounds reports whether a number has digits that get lost in a float32, within whose range it is:
// see IsTiny for those below it.
func Rounds(number []byte) bool {
	return len(number) > maxExact && isRounded(number, classify(number))
}

// IsTiny reports whether a number that is not 0 is nearer to it than all normal numbers of a float32.
func IsTiny(number []byte) bool {
	v, ok := ParseFloat64(number)
	return ok && math.Abs(v) < 0x1p-126 && (v != 0 || hasNonZero(number))
}

// fewDigits reports quickly that a float of more than maxExact bytes without an exponent has digits
// that make an integer below 2^23, all of which float32 holds: half of its unit in the last place
// is at most 2^-24 of the value.
func fewDigits(field []byte) bool {
	n, at := len(field), 0 // indexes, as slicing would branch
	if field[0] == '-' {
		at = 1
	}
	whole := at
	if field[at] == '0' {
		whole++
	}
	first := field[whole]
	if first == '.' {
		first = field[whole+1]
	}
	n -= whole + 1 // the point
	return n < 7 || n == 7 && first <= '7'
}

// hasNonZero reports whether a digit before the exponent isn't 0.
func hasNonZero(field []byte) bool {
	for _, c := range field {
		if c|0x20 == 'e' {
			return false
		}
		if c >= '1' && c <= '9' {
			return true
		}
	}
	return false
}
