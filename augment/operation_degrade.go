package augment

// degradeOperations are the operations that blur, sharpen and erase.
func degradeOperations() []*definition {
	const kind = "degrade"
	return []*definition{
		{
			name: "sharpness", kind: kind, torchvision: "RandomAdjustSharpness",
			about: "mix with the smoothed image, or away from it",
			parameters: []parameter{
				{name: "factor", kind: kindSpan, max: maxFactor, about: "0 is smooth, 1 the image, 2 sharper"},
				chance("0.5"),
			},
			sampler: factorStep("factor", func(f float64) Step { return Sharpness{f} }),
		},
		{
			name: "gaussian_blur", kind: kind, torchvision: "GaussianBlur",
			about: "blur with a Gaussian kernel",
			parameters: []parameter{
				{name: "kernel", kind: kindPair, min: 1, max: 255, integer: true, odd: true, about: "size of the kernel along x and y, in pixels"},
				{name: "sigma", kind: kindSpan, initial: "0.1..2", min: 0.001, max: 1000, about: "standard deviation of the kernel, in pixels"},
				chance("1"),
			},
			sampler: func(s settings, _ []*operation) sampler {
				kernel := s.get("kernel")
				return func(d *drawing) {
					sigma := d.from(s.span("sigma"))
					d.add(GaussianBlur{Kernel: [2]int{int(kernel.x.lo), int(kernel.y.lo)}, Sigma: [2]float64{sigma, sigma}})
				}
			},
		},
		{
			name: "gaussian_noise", kind: kind, torchvision: "GaussianNoise",
			about: "add Gaussian noise to each sample",
			parameters: []parameter{
				{name: "sigma", kind: kindSpan, initial: "0.1", max: 10, about: "standard deviation, as a fraction of 255 levels"},
				{name: "mean", initial: "0", min: -10, max: 10, about: "mean, as a fraction of 255 levels"},
				chance("1"),
			},
			sampler: func(s settings, _ []*operation) sampler {
				return func(d *drawing) {
					d.add(GaussianNoise{Mean: s.number("mean"), Sigma: d.from(s.span("sigma")), Seed: d.random.seed()})
				}
			},
		},
		{
			name: "random_erasing", kind: kind, torchvision: "RandomErasing",
			about: "replace a random box by a colour or by noise",
			parameters: []parameter{
				chance("0.5"),
				{name: "scale", kind: kindSpan, initial: "0.02..0.33", min: 1e-6, max: 1, about: "share of the image's area"},
				{name: "ratio", kind: kindSpan, initial: "0.3..3.3", min: 1e-6, max: 1e6, about: "aspect ratio of the box, height by width"},
				{name: "value", kind: kindColor, initial: "0", max: 255, integer: true, words: []string{"random"}, about: "colour; random: uniform noise"},
			},
			sampler: randomErasing,
		},
		{
			name: "jpeg", kind: kind, torchvision: "JPEG",
			about: "encode as JPEG with 4:2:0 subsampling and decode again",
			parameters: []parameter{
				{name: "quality", kind: kindSpan, min: 1, max: 100, integer: true, about: "JPEG quality"},
				chance("1"),
			},
			sampler: func(s settings, _ []*operation) sampler {
				return func(d *drawing) { d.add(JPEGArtefacts{d.whole(s.span("quality"))}) }
			},
		},
	}
}

// randomErasing adds nothing when no box will fit: as torchvision's, it has to
// be smaller than the image on both sides.
func randomErasing(s settings, _ []*operation) sampler {
	scale, ratio, value := s.span("scale"), s.span("ratio"), s.get("value")
	ratio = span{1 / ratio.hi, 1 / ratio.lo} // of width to height
	return func(d *drawing) {
		x, y, w, h, ok := d.randomBox(scale, ratio, func(w, h int) bool {
			return w > 0 && w < d.width && h > 0 && h < d.height
		})
		if !ok {
			return
		}
		e := Erase{X: x, Y: y, W: w, H: h, Value: value.color}
		if value.word != "" {
			e.Noise, e.Seed = true, d.random.seed()
		}
		d.add(e)
	}
}
