// Package number converts the numbers of typed tables that Go has no type for: decimals and floats
// of 16 bits.
package number

import (
	"math"
	"math/big"
	"strconv"
)

// Decimal is Unscaled * 10^-Scale.
type Decimal struct {
	Unscaled *big.Int
	Scale    int // 0 or more
}

// Small returns a Decimal of 64 bits.
func Small(unscaled int64, scale int) Decimal {
	return Decimal{Unscaled: big.NewInt(unscaled), Scale: scale}
}

// AppendText appends the decimal with all digits of its scale: -12.50 for -1250 and 2.
func (d Decimal) AppendText(b []byte) []byte {
	if d.Unscaled.Sign() < 0 {
		b = append(b, '-')
	}
	digits := new(big.Int).Abs(d.Unscaled).Append(nil, 10)
	for range d.Scale - len(digits) + 1 {
		digits = append([]byte{'0'}, digits...)
	}
	point := len(digits) - d.Scale
	b = append(b, digits[:point]...)
	if d.Scale > 0 {
		b = append(append(b, '.'), digits[point:]...)
	}
	return b
}

// Float64 returns the nearest float, as Python's float(Decimal) does.
func (d Decimal) Float64() float64 {
	// Both are exact, so the quotient is rounded once.
	if d.Scale <= 22 && d.Unscaled.IsInt64() {
		if v := d.Unscaled.Int64(); -1<<53 <= v && v <= 1<<53 {
			return float64(v) / pow10[d.Scale]
		}
	}
	v, _ := strconv.ParseFloat(string(d.AppendText(nil)), 64) // of digits; infinite if out of range
	return v
}

var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// Half returns the IEEE 754 float of 16 bits as one of 32, exactly.
func Half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 0: // zero and subnormal
		v := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(v))
	case 31: // infinite and not a number
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
