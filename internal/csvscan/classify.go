package csvscan

import "math"

// class is what a field looks like, whatever its column.
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

// classify classifies a field by its spelling alone. Numbers with blanks around them are text, so
// that nothing is lost.
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
	return classText
}

// classifyOdd returns odd when the rest of the field, leading zeros aside, is a
// number, and otherwise classText.
func classifyOdd(field []byte, rest int, odd class) class {
	for rest < len(field)-1 && field[rest] == '0' && field[rest+1]-'0' <= 9 {
		rest++
	}
	if rest < len(field) && (field[rest] == '-' || field[rest] == '+') {
		return classText
	}
	if classify(field[rest:]) == classText {
		return classText
	}
	return odd
}

// fitsInt64 says whether 19 digits, the first not 0, are in range.
func fitsInt64(digits []byte, neg bool) bool {
	if neg {
		return string(digits) <= "9223372036854775808"
	}
	return string(digits) <= "9223372036854775807"
}

// isExponent says whether s is an exponent, such as e-07.
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

// isSpecial says whether s is inf, infinity or nan, in any case.
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

// losesFloat32 says whether a field that classify calls classWideFloat can't be inferred from its
// float32.
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

// hasNonZero says whether a digit before the exponent isn't 0.
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
