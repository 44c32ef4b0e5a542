package augment

// colorOperations are the operations that change the levels of pixels without moving them.
func colorOperations() []*definition {
	const kind = "color"
	factor := func(name, initial, about string) parameter {
		return parameter{name: name, kind: kindAround1, initial: initial, max: maxFactor, about: about}
	}
	hue := func(initial string) parameter {
		return parameter{name: "hue", kind: kindAround0, initial: initial, min: -0.5, max: 0.5, about: "rotation of the hue, as a fraction of the colour wheel"}
	}
	return []*definition{
		{
			name: "brightness", kind: kind, torchvision: "ColorJitter(brightness)",
			about:      "mix with black, or away from it",
			parameters: []parameter{factor("brightness", "", "0 is black, 1 the image, 2 twice as bright"), chance("1")},
			sampler:    factorStep("brightness", func(f float64) Step { return Brightness{f} }),
		},
		{
			name: "contrast", kind: kind, torchvision: "ColorJitter(contrast)",
			about:      "mix with the image's mean luminance, or away from it",
			parameters: []parameter{factor("contrast", "", "0 is the mean alone, 1 the image"), chance("1")},
			sampler:    factorStep("contrast", func(f float64) Step { return Contrast{f} }),
		},
		{
			name: "saturation", kind: kind, torchvision: "ColorJitter(saturation)",
			about:      "mix with the image in gray, or away from it",
			parameters: []parameter{factor("saturation", "", "0 is gray, 1 the image"), chance("1")},
			sampler:    factorStep("saturation", func(f float64) Step { return Saturation{f} }),
		},
		{
			name: "hue", kind: kind, torchvision: "ColorJitter(hue)",
			about:      "rotate the hue",
			parameters: []parameter{hue(""), chance("1")},
			sampler:    factorStep("hue", func(f float64) Step { return Hue{f} }),
		},
		{
			name: "color_jitter", kind: kind, torchvision: "ColorJitter",
			about: "brightness, contrast, saturation and hue in random order; those at their default are skipped",
			parameters: []parameter{
				factor("brightness", "0", "as for brightness"),
				factor("contrast", "0", "as for contrast"),
				factor("saturation", "0", "as for saturation"),
				hue("0"),
				chance("1"),
			},
			sampler: colorJitter,
		},
		{
			name: "gamma", kind: kind, torchvision: "functional.adjust_gamma",
			about: "raise the levels, as fractions of 255, to a power",
			parameters: []parameter{
				{name: "gamma", kind: kindSpan, max: 100, about: "the power: over 1 makes shadows darker"},
				{name: "gain", initial: "1", max: 100, about: "what the result is multiplied by"},
				chance("1"),
			},
			sampler: func(s settings, _ []*operation) sampler {
				return func(d *drawing) { d.add(Gamma{Gamma: d.from(s.span("gamma")), Gain: s.number("gain")}) }
			},
		},
		{
			name: "grayscale", kind: kind, torchvision: "RandomGrayscale",
			about:      "take the luminance for all channels",
			parameters: []parameter{chance("0.1")},
			sampler:    always(Grayscale{}),
		},
		{
			name: "invert", kind: kind, torchvision: "RandomInvert",
			about:      "replace each level by 255 minus it",
			parameters: []parameter{chance("0.5")},
			sampler:    always(Invert{}),
		},
		{
			name: "posterize", kind: kind, torchvision: "RandomPosterize",
			about: "keep the highest bits of each level",
			parameters: []parameter{
				{name: "bits", kind: kindSpan, max: 8, integer: true, about: "how many bits are kept"},
				chance("0.5"),
			},
			sampler: func(s settings, _ []*operation) sampler {
				return func(d *drawing) { d.add(Posterize{d.whole(s.span("bits"))}) }
			},
		},
		{
			name: "solarize", kind: kind, torchvision: "RandomSolarize",
			about: "invert the levels from a threshold on",
			parameters: []parameter{
				{name: "threshold", kind: kindSpan, max: 256, about: "the lowest level that is inverted"},
				chance("0.5"),
			},
			sampler: factorStep("threshold", func(f float64) Step { return Solarize{f} }),
		},
		{
			name: "equalize", kind: kind, torchvision: "RandomEqualize",
			about:      "spread the levels so that all are as frequent, each channel by itself",
			parameters: []parameter{chance("0.5")},
			sampler:    always(Equalize{}),
		},
		{
			name: "autocontrast", kind: kind, torchvision: "RandomAutocontrast",
			about:      "stretch the levels from the darkest to the brightest over 0 to 255, each channel by itself",
			parameters: []parameter{chance("0.5")},
			sampler:    always(AutoContrast{}),
		},
	}
}

// factorStep draws a parameter and adds a step with it.
func factorStep(name string, step func(float64) Step) func(settings, []*operation) sampler {
	return func(s settings, _ []*operation) sampler {
		factor := s.span(name)
		return func(d *drawing) { d.add(step(d.from(factor))) }
	}
}

func colorJitter(s settings, _ []*operation) sampler {
	type change struct {
		of   span
		step func(float64) Step
	}
	changes := [4]change{
		{s.span("brightness"), func(f float64) Step { return Brightness{f} }},
		{s.span("contrast"), func(f float64) Step { return Contrast{f} }},
		{s.span("saturation"), func(f float64) Step { return Saturation{f} }},
		{s.span("hue"), func(f float64) Step { return Hue{f} }},
	}
	none := [4]float64{1, 1, 1, 0}
	return func(d *drawing) {
		order := [4]int{0, 1, 2, 3}
		for i := range order {
			j := d.random.integer(i, len(order)-1)
			order[i], order[j] = order[j], order[i]
		}
		for _, i := range order {
			if c := changes[i]; c.of != (span{none[i], none[i]}) {
				d.add(c.step(d.from(c.of)))
			}
		}
	}
}
