package backendtest

import "github.com/tfrec/tfrec/augment"

// step is any step for an image of w x h pixels, with parameters that matter at
// its size.
func (m *maker) step(w, h int) augment.Step {
	factor := func() float64 {
		if m.chance(0.1) {
			return []float64{0, 1, 1e6}[m.r.IntN(3)]
		}
		return 2.5 * m.r.Float64()
	}
	transform := []augment.Filter{augment.Nearest, augment.Bilinear, augment.Bicubic}[m.r.IntN(3)]
	if m.chance(0.03) {
		return m.perspective(w, h, transform)
	}
	switch m.r.IntN(26) {
	case 0:
		return augment.HFlip{}
	case 1:
		return augment.VFlip{}
	case 2:
		return augment.CropBox{X: m.r.IntN(2*w) - w/2, Y: m.r.IntN(2*h) - h/2, W: 1 + m.r.IntN(w+w/2), H: 1 + m.r.IntN(h+h/2), Fill: m.color()}
	case 3: // within the image
		return m.within(w, h)
	case 4, 5:
		b := m.within(w, h)
		return augment.ResizedCrop{X: b.X, Y: b.Y, W: b.W, H: b.H, Width: 1 + m.r.IntN(60), Height: 1 + m.r.IntN(60), Filter: m.filter(), Antialias: m.chance(0.7)}
	case 6:
		return augment.ResizeTo{Width: 1 + m.r.IntN(60), Height: 1 + m.r.IntN(60), Filter: m.filter(), Antialias: m.chance(0.7)}
	case 7:
		return augment.Rotate{Angle: float64(m.r.IntN(9)-4) * 90, Expand: m.chance(0.5), Filter: transform, Fill: m.color()}
	case 8:
		return augment.Rotate{Angle: 720*m.r.Float64() - 360, Expand: m.chance(0.5), Filter: transform, Fill: m.color()}
	case 9, 10:
		return augment.Affine{
			Angle: 90*m.r.Float64() - 45, Translate: [2]int{m.r.IntN(21) - 10, m.r.IntN(21) - 10}, Scale: 0.3 + 2*m.r.Float64(),
			Shear: [2]float64{60*m.r.Float64() - 30, 60*m.r.Float64() - 30}, Corner: m.chance(0.5), Filter: transform, Fill: m.color(),
		}
	case 11: // places far beyond 16 bits, and rows that stay rows
		return augment.Affine{Scale: []float64{0.0001, 0.5, 3}[m.r.IntN(3)], Angle: float64(m.r.IntN(2)) * 30, Filter: augment.Nearest, Fill: m.color()}
	case 12:
		return augment.Brightness{Factor: factor()}
	case 13:
		return augment.Contrast{Factor: factor()}
	case 14:
		return augment.Saturation{Factor: factor()}
	case 15:
		return augment.Hue{Factor: m.r.Float64() - 0.5}
	case 16:
		return augment.Grayscale{}
	case 17:
		return augment.Invert{}
	case 18:
		return augment.Posterize{Bits: m.r.IntN(9)}
	case 19:
		return augment.Solarize{Threshold: 256 * m.r.Float64()}
	case 20:
		return augment.Gamma{Gamma: 3 * m.r.Float64(), Gain: 2 * m.r.Float64()}
	case 21:
		if m.chance(0.5) {
			return augment.Equalize{}
		}
		return augment.AutoContrast{}
	case 22:
		return augment.Sharpness{Factor: factor()}
	case 23:
		return augment.Erase{X: m.r.IntN(2*w) - w/2, Y: m.r.IntN(2*h) - h/2, W: 1 + m.r.IntN(w), H: 1 + m.r.IntN(h), Value: m.color(), Noise: m.chance(0.5), Seed: m.r.Uint64()}
	case 24:
		return augment.GaussianBlur{Kernel: [2]int{1 + 2*m.r.IntN(8), 1 + 2*m.r.IntN(8)}, Sigma: [2]float64{0.1 + 2*m.r.Float64(), 0.1 + 2*m.r.Float64()}}
	default:
		if m.chance(0.1) {
			return augment.JPEGArtefacts{Quality: 1 + m.r.IntN(100)}
		}
		return augment.GaussianNoise{Mean: 0.2*m.r.Float64() - 0.1, Sigma: 0.3 * m.r.Float64(), Seed: m.r.Uint64()}
	}
}

// perspective moves the corners of the image inwards by up to a third of its sides.
func (m *maker) perspective(w, h int, filter augment.Filter) augment.Step {
	x, y := func() int { return m.r.IntN(1 + w/3) }, func() int { return m.r.IntN(1 + h/3) }
	return augment.Perspective{Corners: [4][2]int{{x(), y()}, {w - x(), y()}, {w - x(), h - y()}, {x(), h - y()}}, Filter: filter, Fill: m.color()}
}

// within is a box within the image.
func (m *maker) within(w, h int) augment.CropBox {
	b := augment.CropBox{W: 1 + m.r.IntN(w), H: 1 + m.r.IntN(h)}
	b.X, b.Y = m.r.IntN(w-b.W+1), m.r.IntN(h-b.H+1)
	return b
}
