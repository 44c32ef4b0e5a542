package operation

import "github.com/tfrec/tfrec/internal/codec/steps"

// colorOperations are the operations that change the levels of pixels without moving them.
func colorOperations() []*Definition {
	const kind = "color"
	factor := func(name, initial, about string) Parameter {
		return Parameter{Name: name, kind: kindAround1, Initial: initial, max: steps.MaxFactor, about: about}
	}
	hue := func(initial string) Parameter {
		return Parameter{Name: "hue", kind: kindAround0, Initial: initial, min: -0.5, max: 0.5, about: "rotation of the hue, as a fraction of the colour wheel"}
	}
	return []*Definition{
		{
			Name: "brightness", kind: kind, torchvision: "ColorJitter(brightness)",
			about:      "mix with black, or away from it",
			Parameters: []Parameter{factor("brightness", "", "0 is black, 1 the image, 2 twice as bright"), chance("1")},
			Sampler:    factorStep("brightness", func(f float64) steps.Step { return steps.Brightness{Factor: f} }),
		},
		{
			Name: "contrast", kind: kind, torchvision: "ColorJitter(contrast)",
			about:      "mix with the image's mean luminance, or away from it",
			Parameters: []Parameter{factor("contrast", "", "0 is the mean alone, 1 the image"), chance("1")},
			Sampler:    factorStep("contrast", func(f float64) steps.Step { return steps.Contrast{Factor: f} }),
		},
		{
			Name: "saturation", kind: kind, torchvision: "ColorJitter(saturation)",
			about:      "mix with the image in gray, or away from it",
			Parameters: []Parameter{factor("saturation", "", "0 is gray, 1 the image"), chance("1")},
			Sampler:    factorStep("saturation", func(f float64) steps.Step { return steps.Saturation{Factor: f} }),
		},
		{
			Name: "hue", kind: kind, torchvision: "ColorJitter(hue)",
			about:      "rotate the hue",
			Parameters: []Parameter{hue(""), chance("1")},
			Sampler:    factorStep("hue", func(f float64) steps.Step { return steps.Hue{Factor: f} }),
		},
		{
			Name: "color_jitter", kind: kind, torchvision: "ColorJitter",
			about: "brightness, contrast, saturation and hue in random order; those at their default are skipped",
			Parameters: []Parameter{
				factor("brightness", "0", "as for brightness"),
				factor("contrast", "0", "as for contrast"),
				factor("saturation", "0", "as for saturation"),
				hue("0"),
				chance("1"),
			},
			Sampler: colorJitter,
		},
		{
			Name: "gamma", kind: kind, torchvision: "functional.adjust_gamma",
			about: "raise the levels, as fractions of 255, to a power",
			Parameters: []Parameter{
				{Name: "gamma", kind: kindSpan, max: 100, about: "the power: over 1 makes shadows darker"},
				{Name: "gain", Initial: "1", max: 100, about: "what the result is multiplied by"},
				chance("1"),
			},
			Sampler: func(s Settings, _ []*Operation) sampler {
				return func(d *Drawing) { d.add(steps.Gamma{Gamma: d.from(s.span("gamma")), Gain: s.Number("gain")}) }
			},
		},
		{
			Name: "grayscale", kind: kind, torchvision: "RandomGrayscale",
			about:      "take the luminance for all channels",
			Parameters: []Parameter{chance("0.1")},
			Sampler:    always(steps.Grayscale{}),
		},
		{
			Name: "invert", kind: kind, torchvision: "RandomInvert",
			about:      "replace each level by 255 minus it",
			Parameters: []Parameter{chance("0.5")},
			Sampler:    always(steps.Invert{}),
		},
		{
			Name: "posterize", kind: kind, torchvision: "RandomPosterize",
			about: "keep the highest bits of each level",
			Parameters: []Parameter{
				{Name: "bits", kind: kindSpan, max: 8, integer: true, about: "how many bits are kept"},
				chance("0.5"),
			},
			Sampler: func(s Settings, _ []*Operation) sampler {
				return func(d *Drawing) { d.add(steps.Posterize{Bits: d.whole(s.span("bits"))}) }
			},
		},
		{
			Name: "solarize", kind: kind, torchvision: "RandomSolarize",
			about: "invert the levels from a threshold on",
			Parameters: []Parameter{
				{Name: "threshold", kind: kindSpan, max: 256, about: "the lowest level that is inverted"},
				chance("0.5"),
			},
			Sampler: factorStep("threshold", func(f float64) steps.Step { return steps.Solarize{Threshold: f} }),
		},
		{
			Name: "equalize", kind: kind, torchvision: "RandomEqualize",
			about:      "spread the levels so that all are as frequent, each channel by itself",
			Parameters: []Parameter{chance("0.5")},
			Sampler:    always(steps.Equalize{}),
		},
		{
			Name: "autocontrast", kind: kind, torchvision: "RandomAutocontrast",
			about:      "stretch the levels from the darkest to the brightest over 0 to 255, each channel by itself",
			Parameters: []Parameter{chance("0.5")},
			Sampler:    always(steps.AutoContrast{}),
		},
	}
}

// factorStep draws a parameter and adds a step with it.
func factorStep(name string, step func(float64) steps.Step) func(Settings, []*Operation) sampler {
	return func(s Settings, _ []*Operation) sampler {
		factor := s.span(name)
		return func(d *Drawing) { d.add(step(d.from(factor))) }
	}
}

func colorJitter(s Settings, _ []*Operation) sampler {
	type change struct {
		of   span
		step func(float64) steps.Step
	}
	changes := [4]change{
		{s.span("brightness"), func(f float64) steps.Step { return steps.Brightness{Factor: f} }},
		{s.span("contrast"), func(f float64) steps.Step { return steps.Contrast{Factor: f} }},
		{s.span("saturation"), func(f float64) steps.Step { return steps.Saturation{Factor: f} }},
		{s.span("hue"), func(f float64) steps.Step { return steps.Hue{Factor: f} }},
	}
	none := [4]float64{1, 1, 1, 0}
	return func(d *Drawing) {
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
