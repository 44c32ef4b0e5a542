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
	if err := begin(s, dst, src); err != nil {
		return err
	}
	var b blender
	b.fill(s.Factor)
	t := b.from(0)
	t.apply(dst, src)
	return nil
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
	if err := begin(s, dst, src); err != nil {
		return err
	}
	var b blender
	b.fill(s.Factor)
	t := b.from(meanLuminance(src))
	t.apply(dst, src)
	return nil
}

// meanLuminance is the mean level of the picture in grayscale, rounded.
func meanLuminance(im *Image) uint8 {
	sum := uint64(0)
	for y := range im.Height {
		row := im.Row(y)
		if im.Channels == 1 {
			for _, v := range row {
				sum += uint64(v)
			}
			continue
		}
		for ; len(row) >= 3; row = row[3:] {
			sum += uint64(luminance(row[0], row[1], row[2]))
		}
	}
	n := uint64(im.Width) * uint64(im.Height)
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
	if err := begin(s, dst, src); err != nil {
		return err
	}
	if src.Channels == 1 {
		copyRows(dst, src)
		return nil
	}
	var b blender
	b.fill(s.Factor)
	for y := range src.Height {
		from, to := src.Row(y), dst.Row(y)
		for ; len(from) >= 3 && len(to) >= 3; from, to = from[3:], to[3:] {
			red, green, blue := from[0], from[1], from[2]
			gray := luminance(red, green, blue)
			to[0], to[1], to[2] = b.mix(gray, red), b.mix(gray, green), b.mix(gray, blue)
		}
	}
	return nil
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
	if err := begin(s, dst, src); err != nil {
		return err
	}
	if src.Channels == 1 {
		copyRows(dst, src)
		return nil
	}
	for y := range src.Height {
		from, to := src.Row(y), dst.Row(y)
		for ; len(from) >= 3 && len(to) >= 3; from, to = from[3:], to[3:] {
			gray := luminance(from[0], from[1], from[2])
			to[0], to[1], to[2] = gray, gray, gray
		}
	}
	return nil
}
