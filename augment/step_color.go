package augment

// Brightness mixes the picture with black, as Pillow's ImageEnhance.Brightness
// and torchvision's adjust_brightness.
type Brightness struct {
	// Factor is 0 for black, 1 for the picture as it is, above for brighter.
	Factor float64 `json:"factor"`
}

// Op returns "brightness".
func (s Brightness) Op() string { return "brightness" }

// Size returns w and h.
func (s Brightness) Size(w, h int) (int, int) { return w, h }

// Validate refuses factors below 0 or above a million.
func (s Brightness) Validate() error { return checkFactor(s.Op(), s.Factor) }

// MarshalJSON writes the step for [UnmarshalStep].
func (s Brightness) MarshalJSON() ([]byte, error) {
	type fields Brightness
	return marshalStep(s.Op(), fields(s))
}

// Apply is [Step.Apply].
func (s Brightness) Apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Brightness) recolor(r *recoloring) {
	var b blender
	b.fill(s.Factor)
	t := b.from(0)
	r.look(&t)
}

// Contrast mixes the picture with the mean of its luminance, as Pillow's
// ImageEnhance.Contrast and torchvision's adjust_contrast.
type Contrast struct {
	// Factor is 0 for plain gray, 1 for the picture as it is, above for more
	// contrast.
	Factor float64 `json:"factor"`
}

// Op returns "contrast".
func (s Contrast) Op() string { return "contrast" }

// Size returns w and h.
func (s Contrast) Size(w, h int) (int, int) { return w, h }

// Validate refuses factors below 0 or above a million.
func (s Contrast) Validate() error { return checkFactor(s.Op(), s.Factor) }

// MarshalJSON writes the step for [UnmarshalStep].
func (s Contrast) MarshalJSON() ([]byte, error) {
	type fields Contrast
	return marshalStep(s.Op(), fields(s))
}

// Apply is [Step.Apply].
func (s Contrast) Apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Contrast) recolor(r *recoloring) {
	var b blender
	b.fill(s.Factor)
	t := b.from(r.meanLuminance())
	r.look(&t)
}

// meanLuminance is the mean level of the picture in grayscale, rounded.
func (r *recoloring) meanLuminance() uint8 {
	sum := uint64(0)
	r.rows(func(row []uint8) {
		if r.from.Channels == 3 {
			luminanceRow(r.gray, row)
			row = r.gray
		}
		sum += sumOf(row)
	})
	n := uint64(r.from.Width) * uint64(r.from.Height)
	return uint8((2*sum + n) / (2 * n))
}

// Saturation mixes the picture with its grayscale twin, as Pillow's
// ImageEnhance.Color and torchvision's adjust_saturation. A grayscale picture
// stays as it is.
type Saturation struct {
	// Factor is 0 for grayscale, 1 for the picture as it is, above for more
	// colour.
	Factor float64 `json:"factor"`
}

// Op returns "saturation".
func (s Saturation) Op() string { return "saturation" }

// Size returns w and h.
func (s Saturation) Size(w, h int) (int, int) { return w, h }

// Validate refuses factors below 0 or above a million.
func (s Saturation) Validate() error { return checkFactor(s.Op(), s.Factor) }

// MarshalJSON writes the step for [UnmarshalStep].
func (s Saturation) MarshalJSON() ([]byte, error) {
	type fields Saturation
	return marshalStep(s.Op(), fields(s))
}

// Apply is [Step.Apply].
func (s Saturation) Apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Saturation) recolor(r *recoloring) {
	if r.from.Channels == 3 {
		r.pixels(colorMix).mix.fill(s.Factor)
	}
}

// Grayscale gives each pixel its luminance, by the weights of [ToGray], in as
// many channels as it has.
type Grayscale struct{}

// Op returns "grayscale".
func (s Grayscale) Op() string { return "grayscale" }

// Size returns w and h.
func (s Grayscale) Size(w, h int) (int, int) { return w, h }

// Validate returns nil.
func (s Grayscale) Validate() error { return nil }

// MarshalJSON writes the step for [UnmarshalStep].
func (s Grayscale) MarshalJSON() ([]byte, error) { return marshalStep(s.Op(), struct{}{}) }

// Apply is [Step.Apply].
func (s Grayscale) Apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Grayscale) recolor(r *recoloring) {
	if r.from.Channels == 3 {
		r.pixels(colorGray)
	}
}
