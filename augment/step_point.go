package augment

import "fmt"

// levels is what each of the 256 levels becomes.
type levels [256]uint8

// andThen makes each level what another table makes of it.
func (t *levels) andThen(next *levels) {
	for v, to := range t {
		t[v] = next[to]
	}
}

// channelLevels is a table for each channel.
type channelLevels [3]levels

// Invert makes each level v 255-v.
type Invert struct{}

// Op returns "invert".
func (s Invert) Op() string { return "invert" }

// Size returns w and h.
func (s Invert) Size(w, h int) (int, int) { return w, h }

// Validate returns nil.
func (s Invert) Validate() error { return nil }

// MarshalJSON writes the step for [UnmarshalStep].
func (s Invert) MarshalJSON() ([]byte, error) { return marshalStep(s.Op(), struct{}{}) }

// Apply is [Step.Apply].
func (s Invert) Apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Invert) recolor(r *recoloring) {
	var t levels
	for v := range t {
		t[v] = uint8(255 - v)
	}
	r.look(&t)
}

// Posterize keeps the highest bits of each level and clears the others, as
// Pillow's ImageOps.posterize.
type Posterize struct {
	// Bits is how many bits are kept, 0 to 8.
	Bits int `json:"bits"`
}

// Op returns "posterize".
func (s Posterize) Op() string { return "posterize" }

// Size returns w and h.
func (s Posterize) Size(w, h int) (int, int) { return w, h }

// Validate refuses what isn't 0 to 8 bits.
func (s Posterize) Validate() error {
	if s.Bits < 0 || s.Bits > 8 {
		return fmt.Errorf("%s: %d bits: want 0 to 8", s.Op(), s.Bits)
	}
	return nil
}

// MarshalJSON writes the step for [UnmarshalStep].
func (s Posterize) MarshalJSON() ([]byte, error) {
	type fields Posterize
	return marshalStep(s.Op(), fields(s))
}

// Apply is [Step.Apply].
func (s Posterize) Apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Posterize) recolor(r *recoloring) {
	var t levels
	for v := range t {
		t[v] = uint8(v >> (8 - s.Bits) << (8 - s.Bits))
	}
	r.look(&t)
}

// Solarize inverts the levels that aren't below a threshold, as Pillow's
// ImageOps.solarize.
type Solarize struct {
	// Threshold is the lowest level that is inverted, 0 to 256.
	Threshold float64 `json:"threshold"`
}

// Op returns "solarize".
func (s Solarize) Op() string { return "solarize" }

// Size returns w and h.
func (s Solarize) Size(w, h int) (int, int) { return w, h }

// Validate refuses a threshold that isn't 0 to 256.
func (s Solarize) Validate() error { return checkRange(s.Op(), "threshold", s.Threshold, 0, 256) }

// MarshalJSON writes the step for [UnmarshalStep].
func (s Solarize) MarshalJSON() ([]byte, error) {
	type fields Solarize
	return marshalStep(s.Op(), fields(s))
}

// Apply is [Step.Apply].
func (s Solarize) Apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Solarize) recolor(r *recoloring) {
	var t levels
	for v := range t {
		t[v] = uint8(v)
		if float64(v) >= s.Threshold {
			t[v] = uint8(255 - v)
		}
	}
	r.look(&t)
}

// Gamma makes each level v, from 0 to 1, Gain times v to the power of Gamma, as
// torchvision's adjust_gamma does with Pillow pictures.
type Gamma struct {
	// Gamma below 1 makes dark levels lighter, above 1 darker; 0 to 1000.
	Gamma float64 `json:"gamma"`
	// Gain is the factor, 0 to 1000; 1 is none.
	Gain float64 `json:"gain"`
}

// Op returns "gamma".
func (s Gamma) Op() string { return "gamma" }

// Size returns w and h.
func (s Gamma) Size(w, h int) (int, int) { return w, h }

// Validate refuses numbers out of range.
func (s Gamma) Validate() error {
	if err := checkRange(s.Op(), "gamma", s.Gamma, 0, 1000); err != nil {
		return err
	}
	return checkRange(s.Op(), "gain", s.Gain, 0, 1000)
}

// MarshalJSON writes the step for [UnmarshalStep].
func (s Gamma) MarshalJSON() ([]byte, error) {
	type fields Gamma
	return marshalStep(s.Op(), fields(s))
}

// Apply is [Step.Apply].
func (s Gamma) Apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Gamma) recolor(r *recoloring) {
	var t levels
	for v := range t {
		// The 0.999 lets only what is a whole 1 become 255, and the fraction be cut off.
		t[v] = uint8(min(float64(float64(255.999*s.Gain)*pow(float64(v)/255, s.Gamma)), 255))
	}
	r.look(&t)
}
