package operation

import "github.com/tfrec/tfrec/internal/codec/steps"

// degradeOperations are the operations that blur, sharpen and erase.
func degradeOperations() []*Definition {
	const kind = "degrade"
	return []*Definition{
		{
			Name: "sharpness", kind: kind, torchvision: "RandomAdjustSharpness",
			about: "mix with the smoothed image, or away from it",
			Parameters: []Parameter{
				{Name: "factor", kind: kindSpan, max: steps.MaxFactor, about: "0 is smooth, 1 the image, 2 sharper"},
				chance("0.5"),
			},
			Sampler: factorStep("factor", func(f float64) steps.Step { return steps.Sharpness{Factor: f} }),
		},
		{
			Name: "gaussian_blur", kind: kind, torchvision: "GaussianBlur",
			about: "blur with a Gaussian kernel",
			Parameters: []Parameter{
				{Name: "kernel", kind: kindPair, min: 1, max: 255, integer: true, odd: true, about: "size of the kernel along x and y, in pixels"},
				{Name: "sigma", kind: kindSpan, Initial: "0.1..2", min: 0.001, max: 1000, about: "standard deviation of the kernel, in pixels"},
				chance("1"),
			},
			Sampler: func(s Settings, _ []*Operation) sampler {
				kernel := s.get("kernel")
				return func(d *Drawing) {
					sigma := d.from(s.span("sigma"))
					d.add(steps.GaussianBlur{Kernel: [2]int{int(kernel.x.lo), int(kernel.y.lo)}, Sigma: [2]float64{sigma, sigma}})
				}
			},
		},
		{
			Name: "gaussian_noise", kind: kind, torchvision: "GaussianNoise",
			about: "add Gaussian noise to each sample",
			Parameters: []Parameter{
				{Name: "sigma", kind: kindSpan, Initial: "0.1", max: 10, about: "standard deviation, as a fraction of 255 levels"},
				{Name: "mean", Initial: "0", min: -10, max: 10, about: "mean, as a fraction of 255 levels"},
				chance("1"),
			},
			Sampler: func(s Settings, _ []*Operation) sampler {
				return func(d *Drawing) {
					d.add(steps.GaussianNoise{Mean: s.Number("mean"), Sigma: d.from(s.span("sigma")), Seed: d.random.seed()})
				}
			},
		},
		{
			Name: "random_erasing", kind: kind, torchvision: "RandomErasing",
			about: "replace a random box by a colour or by noise",
			Parameters: []Parameter{
				chance("0.5"),
				{Name: "scale", kind: kindSpan, Initial: "0.02..0.33", min: 1e-6, max: 1, about: "share of the image's area"},
				{Name: "ratio", kind: kindSpan, Initial: "0.3..3.3", min: 1e-6, max: 1e6, about: "aspect ratio of the box, height by width"},
				{Name: "value", kind: kindColor, Initial: "0", max: 255, integer: true, words: []string{"random"}, about: "colour; random: uniform noise"},
			},
			Sampler: randomErasing,
		},
		{
			Name: "jpeg", kind: kind, torchvision: "JPEG",
			about: "encode as JPEG with 4:2:0 subsampling and decode again",
			Parameters: []Parameter{
				{Name: "quality", kind: kindSpan, min: 1, max: 100, integer: true, about: "JPEG quality"},
				chance("1"),
			},
			Sampler: func(s Settings, _ []*Operation) sampler {
				return func(d *Drawing) { d.add(steps.JPEGArtefacts{Quality: d.whole(s.span("quality"))}) }
			},
		},
	}
}

// randomErasing adds nothing when no box will fit: as torchvision's, it has to
// be smaller than the image on both sides.
func randomErasing(s Settings, _ []*Operation) sampler {
	scale, ratio, value := s.span("scale"), s.span("ratio"), s.get("value")
	ratio = span{1 / ratio.hi, 1 / ratio.lo} // of width to height
	return func(d *Drawing) {
		x, y, w, h, ok := d.randomBox(scale, ratio, func(w, h int) bool {
			return w > 0 && w < d.Width && h > 0 && h < d.Height
		})
		if !ok {
			return
		}
		e := steps.Erase{X: x, Y: y, W: w, H: h, Value: value.color}
		if value.word != "" {
			e.Noise, e.Seed = true, d.random.seed()
		}
		d.add(e)
	}
}
