package operation

// randAugmentChanges are the choices of RandAugment and TrivialAugment.
var randAugmentChanges = [...]change{
	changeNothing, changeShearX, changeShearY, changeTranslateX, changeTranslateY, changeRotate,
	changeBrightness, changeColor, changeContrast, changeSharpness,
	changePosterize, changeSolarize, changeAutoContrast, changeEqualize,
}

// randAugment is Cubuk, Zoph, Shlens and Le, "RandAugment: Practical automated
// data augmentation with a reduced search space" (2019), with torchvision's
// operations and ranges.
func randAugment() *Definition {
	return &Definition{
		Name: "rand_augment", kind: "policy", torchvision: "RandAugment",
		about: "n of 14 operations, all with strength m",
		Parameters: []Parameter{
			{Name: "n", Initial: "2", min: 0, max: 100, integer: true, about: "how many, one after another; an operation may repeat"},
			{Name: "m", Initial: "9", min: 0, max: 999, integer: true, about: "strength, from 0 to bins-1"},
			binsOf(), transformFilter("nearest"), fillColor(), chance("1"),
		},
		Check: func(s Settings, _ int) (string, string) {
			if s.integer("m") >= s.integer("bins") {
				return "m", "want less than bins, of which there are " + formatNumber(s.Number("bins"))
			}
			return "", ""
		},
		Sampler: func(s Settings, _ []*Operation) sampler {
			n, m := s.integer("n"), s.integer("m")
			c := newChanger(s, usualSpace, s.integer("bins"))
			return func(d *Drawing) {
				c := c.to(d)
				for range n {
					c.add(d, randAugmentChanges[d.random.below(len(randAugmentChanges))], m)
				}
			}
		},
	}
}

// trivialAugment is Müller and Hutter, "TrivialAugment: Tuning-free Yet
// State-of-the-Art Data Augmentation" (2021), in torchvision's wide form.
func trivialAugment() *Definition {
	return &Definition{
		Name: "trivial_augment", kind: "policy", torchvision: "TrivialAugmentWide",
		about:      "one of 14 operations with a random strength",
		Parameters: []Parameter{binsOf(), transformFilter("nearest"), fillColor(), chance("1")},
		Sampler: func(s Settings, _ []*Operation) sampler {
			c := newChanger(s, wideSpace, s.integer("bins"))
			return func(d *Drawing) {
				what := randAugmentChanges[d.random.below(len(randAugmentChanges))]
				c.to(d).add(d, what, d.random.below(c.bins))
			}
		},
	}
}
