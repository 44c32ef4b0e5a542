package recolor

// Blender mixes two samples a and b into a + factor*(b-a), in the float32
// arithmetic of Pillow's Image.blend: the product rounded, then the sum, the
// fraction cut off and the rest clipped. By the difference 255+b-a it holds the
// product.
type Blender [511]float32

// Fill computes the products for a factor.
func (t *Blender) Fill(factor float64) {
	f := float32(factor)
	for i := range t {
		t[i] = float32(f * float32(i-255))
	}
}

// Factor returns the factor that t was filled with.
func (t *Blender) Factor() float32 { return t[256] }

// Mix returns the level between a and b, or beyond b for a factor over 1.
func (t *Blender) Mix(a, b uint8) uint8 {
	return uint8(min(max(int32(floats[a]+t[255+int(b)-int(a)]), 0), 255))
}

// floats are the levels, which are quicker looked up than converted.
var floats = func() (f [256]float32) {
	for v := range f {
		f[v] = float32(v)
	}
	return f
}()

// From is mix with one level a for all of b.
func (t *Blender) From(a uint8) (l Levels) {
	for b := range l {
		l[b] = t.Mix(a, uint8(b))
	}
	return l
}
