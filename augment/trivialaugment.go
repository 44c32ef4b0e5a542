package augment

// trivialAugment is Müller and Hutter, "TrivialAugment: Tuning-free Yet
// State-of-the-Art Data Augmentation" (2021), in torchvision's wide form.
func trivialAugment() *definition {
	return &definition{
		name: "trivial_augment", kind: "policy", torchvision: "TrivialAugmentWide",
		about:      "one of 14 operations with a random strength",
		parameters: []parameter{binsOf(), transformFilter(), fillColor(), chance("1")},
		sampler: func(s settings, _ []*operation) sampler {
			c := newChanger(s, wideSpace, s.integer("bins"))
			return func(d *drawing) {
				what := randAugmentChanges[d.random.below(len(randAugmentChanges))]
				c.to(d).add(d, what, d.random.below(c.bins))
			}
		},
	}
}
