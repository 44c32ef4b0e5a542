package augment

// maxFactor bounds the factors of the colour steps: far beyond any use, and
// within what integers hold.
const maxFactor = 1e6

// blender mixes two samples a and b into a + factor*(b-a), in the float32
// arithmetic of Pillow's Image.blend: the product rounded, then the sum, the
// fraction cut off and the rest clipped. By the difference 255+b-a it holds the
// product.
type blender [511]float32

func (t *blender) fill(factor float64) {
	f := float32(factor)
	for i := range t {
		t[i] = float32(f * float32(i-255))
	}
}

// factor returns the factor that t was filled with.
func (t *blender) factor() float32 { return t[256] }

// mix returns the level between a and b, or beyond b for a factor over 1.
func (t *blender) mix(a, b uint8) uint8 {
	return uint8(min(max(int32(floats[a]+t[255+int(b)-int(a)]), 0), 255))
}

// floats are the levels, which are quicker looked up than converted.
var floats = func() (f [256]float32) {
	for v := range f {
		f[v] = float32(v)
	}
	return f
}()

// from is mix with one level a for all of b.
func (t *blender) from(a uint8) (l levels) {
	for b := range l {
		l[b] = t.mix(a, uint8(b))
	}
	return l
}

// checkFactor returns an error for factors that aren't 0 to a million.
func checkFactor(op string, factor float64) error {
	return checkRange(op, "factor", factor, 0, maxFactor)
}
