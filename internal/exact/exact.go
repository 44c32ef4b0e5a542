package exact

import "math"

// What package math computes may differ in the last bit from one architecture
// to the next, and Go may fuse a product with a sum there. The functions here
// are the same everywhere and within a bit or so of the exact result, mostly the
// number next to it; each product is converted.

// pi/2 in three parts of 33 bits, so that a product with a small number is exact.
const (
	halfPi1 = 0x1.921fb54400000p+0
	halfPi2 = 0x1.0b4611a600000p-34
	halfPi3 = 0x1.3198a2e037073p-69
)

// split is a number in two parts, of which high is the sum rounded.
type split struct{ high, low float64 }

// splitOf returns a+b, for b not larger than a.
func splitOf(a, b float64) split {
	sum := a + b
	return split{sum, b - (sum - a)}
}

func (s split) negative() split { return split{-s.high, -s.low} }

// sinCosSplit returns the sine and cosine of x radians to more than float64's
// precision, for x up to some 10,000.
func sinCosSplit(x float64) (sin, cos split) {
	n := math.RoundToEven(x / (math.Pi / 2))
	r := x - float64(n*halfPi1)
	tail := float64(n * halfPi2)
	high := r - tail
	tail = ((r - high) - tail) - float64(n*halfPi3)
	r = high + tail
	tail = (high - r) + tail // r+tail is x less n quarter turns, to twice the precision
	r2 := float64(r * r)

	// Taylor's series as far as it matters for r up to pi/4.
	s, c := 0.0, 0.0
	for k := 19.0; k >= 3; k -= 2 {
		s = float64((1+s)*r2) / -(k * (k - 1))
		c = float64((1+c)*r2) / -((k + 1) * k)
	}
	// sin = r*(1+s) and cos = 1 - r2/2*(1+c), but for the tail and what r2 lost.
	half := float64(0.5 * r2)
	lost := math.FMA(r, r, -r2)
	sin = splitOf(r, float64(r*s)+float64(tail*(1-half)))
	cos = splitOf(1, -half)
	cos = splitOf(cos.high, cos.low-(float64(half*c)+float64(0.5*lost)+float64(r*tail)))

	switch int(n) & 3 {
	case 1:
		sin, cos = cos, sin.negative()
	case 2:
		sin, cos = sin.negative(), cos.negative()
	case 3:
		sin, cos = cos.negative(), sin
	}
	return sin, cos
}

// SinCos returns the sine and cosine of x radians.
func SinCos(x float64) (sin, cos float64) {
	s, c := sinCosSplit(x)
	return s.high, c.high
}

// Tan returns the tangent of x radians.
func Tan(x float64) float64 {
	s, c := sinCosSplit(x)
	t := s.high / c.high
	rest := math.FMA(-t, c.high, s.high) + (s.low - float64(t*c.low))
	return t + rest/c.high
}

// Radians converts as Python's math.radians does.
func Radians(degrees float64) float64 { return float64(degrees * (math.Pi / 180)) }

// Round15 rounds to 15 decimals as Python's round(x, 15) does, for |x| up to 1.
func Round15(x float64) float64 {
	const scale = 1e15
	p := float64(x * scale)
	lost := math.FMA(x, scale, -p)
	n := math.RoundToEven(p)
	switch rest := (p - n) + lost; {
	case rest > 0.5:
		n++
	case rest < -0.5:
		n--
	}
	return n / scale
}

// Exp returns e to the power of x.
func Exp(x float64) float64 {
	const (
		ln2High = 0x1.62e42fee00000p-1
		ln2Low  = 0x1.a39ef35793c76p-33
	)
	if x < -745 {
		return 0
	}
	if x > 709 {
		return math.Inf(1)
	}
	n := math.RoundToEven(x / math.Ln2)
	r := (x - float64(n*ln2High)) - float64(n*ln2Low)
	sum := 0.0
	for k := 14.0; k >= 2; k-- {
		sum = float64((1+sum)*r) / k
	}
	return math.Ldexp(1+float64(r*(1+sum)), int(n))
}

// Log returns the natural logarithm of x, which must be over 0 and finite.
func Log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	// ln m = 2 artanh((m-1)/(m+1))
	t := (m - 1) / (m + 1)
	t2 := float64(t * t)
	sum := 0.0
	for k := 25.0; k >= 3; k -= 2 {
		sum = float64((1/k + sum) * t2)
	}
	return float64(float64(e)*math.Ln2) + float64(2*t) + float64(2*float64(t*sum))
}

// Pow returns x to the power of y, for neither below 0.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x == 0:
		return 0
	}
	return Exp(float64(y * Log(x)))
}

// Round rounds halves to the even neighbour, as Python does.
func Round(x float64) int { return int(math.RoundToEven(x)) }
