package boxes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Any share of a side comes back as the same float32, and numbers with few decimals as they were.
func TestPixels(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		side := 1 + rnd.IntN(20_000)
		decimals := rnd.IntN(3)
		scale := math.Pow10(decimals)
		x := math.Round(rnd.Float64()*float64(side)*scale) / scale
		v, d := pixels(float32(x/float64(side)), side)
		if v != x && side < 8000 || d > decimals || float32(v/float64(side)) != float32(x/float64(side)) {
			t.Fatalf("%v of %d: %v with %d decimals", x, side, v, d)
		}
		share := rnd.Float32()
		if v, d = pixels(share, side); float32(v/float64(side)) != share || d > 8 {
			t.Fatalf("%v of %d: %v with %d decimals", share, side, v, d)
		}
	}
	for _, share := range []float32{0, 1e-40, -1e-40, 1e30, -2.5, 1} {
		v, d := pixels(share, 100)
		if d > maxDecimals || math.Abs(v-float64(share)*100) > math.Abs(v)*1e-6+1e-9 {
			t.Errorf("%v: %v with %d decimals", share, v, d)
		}
	}
}
