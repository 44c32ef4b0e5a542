package exact

import (
	"math"
	"strconv"
	"testing"
)

// near fails if a differs from b by more than a number of b's last bits.
func near(t *testing.T, what string, x, a, b, bits float64) {
	t.Helper()
	if unit := math.Nextafter(math.Abs(b), math.Inf(1)) - math.Abs(b); !(math.Abs(a-b) <= bits*unit) {
		t.Errorf("%s(%v) = %v, want %v", what, x, a, b)
	}
}

func TestFloatFunctions(t *testing.T) {
	for i := -20000; i <= 20000; i++ {
		x := float64(i) * 0.0137
		sin, cos := SinCos(x)
		near(t, "sin", x, sin, math.Sin(x), 3)
		near(t, "cos", x, cos, math.Cos(x), 3)
		near(t, "tan", x, Tan(x), math.Tan(x), 4)
		if want, _ := strconv.ParseFloat(strconv.FormatFloat(sin, 'f', 15, 64), 64); Round15(sin) != want {
			t.Errorf("round15(%v) = %v, want %v", sin, Round15(sin), want)
		}
		near(t, "exp", x, Exp(x), math.Exp(x), 4)
		if x > 0 {
			near(t, "log", x, Log(x), math.Log(x), 4)
			near(t, "pow", x, Pow(x/300, 1.7), math.Pow(x/300, 1.7), 64)
		}
	}
	for _, c := range [][2]float64{
		{Exp(-1000), 0}, {Exp(1000), math.Inf(1)}, {Exp(0), 1}, {Exp(-745), math.SmallestNonzeroFloat64},
		{Pow(0, 0), 1}, {Pow(0, 2), 0}, {Pow(0.3, 0), 1}, {Pow(1, 99), 1}, {Log(1), 0},
	} {
		if c[0] != c[1] {
			t.Errorf("%v, want %v", c[0], c[1])
		}
	}
}

// The bits are the same on every architecture.
func TestFloatFunctionsFrozen(t *testing.T) {
	sum := uint64(0)
	add := func(x float64) { sum = sum*0x9e3779b97f4a7c15 + math.Float64bits(x) }
	for i := range 2000 {
		x := float64(float64(i)*0.0137) - 9 // rounded in between also where the processor can add at once
		sin, cos := SinCos(x)
		add(sin)
		add(cos)
		add(Tan(x))
		add(Exp(x))
		add(Log(float64(i+1) * 0.003))
		add(Pow(float64(i)/2000, 1.7))
	}
	if sum != 0xa742310684bb59d2 {
		t.Errorf("other bits: %#x", sum)
	}
}
