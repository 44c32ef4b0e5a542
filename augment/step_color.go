package augment

// Brightness mixes the image with black, as Pillow's ImageEnhance.Brightness
// and torchvision's adjust_brightness.
type Brightness struct {
	// Factor is 0 for black, 1 for the unchanged image, above for brighter.
	Factor float64 `json:"factor"`
}

func (s Brightness) op() string { return "brightness" }

func (s Brightness) size(w, h int) (int, int) { return w, h }

func (s Brightness) validate() error { return checkFactor(s.op(), s.Factor) }

func (s Brightness) apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Brightness) recolor(r *recoloring) {
	var b blender
	b.fill(s.Factor)
	t := b.from(0)
	r.look(&t)
}

// Contrast mixes the image with the mean of its luminance, as Pillow's
// ImageEnhance.Contrast and torchvision's adjust_contrast.
type Contrast struct {
	// Factor is 0 for plain gray, 1 for the unchanged image, above for more contrast.
	Factor float64 `json:"factor"`
}

func (s Contrast) op() string { return "contrast" }

func (s Contrast) size(w, h int) (int, int) { return w, h }

func (s Contrast) validate() error { return checkFactor(s.op(), s.Factor) }

func (s Contrast) apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Contrast) recolor(r *recoloring) {
	var b blender
	b.fill(s.Factor)
	t := b.from(r.meanLuminance())
	r.look(&t)
}

// meanLuminance is the mean level of the image in grayscale, rounded.
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

// Saturation mixes the image with its grayscale version, as Pillow's ImageEnhance.Color and
// torchvision's adjust_saturation. A grayscale image is unchanged.
type Saturation struct {
	// Factor is 0 for grayscale, 1 for the unchanged image, above for more colour.
	Factor float64 `json:"factor"`
}

func (s Saturation) op() string { return "saturation" }

func (s Saturation) size(w, h int) (int, int) { return w, h }

func (s Saturation) validate() error { return checkFactor(s.op(), s.Factor) }

func (s Saturation) apply(dst, src *Image, scratch *Scratch) error {
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

func (s Grayscale) op() string { return "grayscale" }

func (s Grayscale) size(w, h int) (int, int) { return w, h }

func (s Grayscale) validate() error { return nil }

func (s Grayscale) apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Grayscale) recolor(r *recoloring) {
	if r.from.Channels == 3 {
		r.pixels(colorGray)
	}
}
