package operation

import "slices"

// likely is a change of AutoAugment's: with a probability, and of a strength of
// 0 to 9 where the change has one.
type likely struct {
	what change
	p    float64
	bin  int
}

// autoAugmentBins is the number of strengths in AutoAugment.
const autoAugmentBins = 10

// autoAugmentNames are the data sets that policies were learned on.
var autoAugmentNames = []string{"imagenet", "cifar10", "svhn"}

// autoAugmentPolicies are the policies of Cubuk, Zoph, Mané, Vasudevan and Le,
// "AutoAugment: Learning Augmentation Policies from Data" (2018), as torchvision
// has them: pairs of changes, of which an image gets one pair.
var autoAugmentPolicies = [...][][2]likely{
	imageNetPolicy, cifar10Policy, svhnPolicy,
}

// autoAugment draws one pair of changes of a learned policy.
func autoAugment() *Definition {
	return &Definition{
		Name: "auto_augment", kind: "policy", torchvision: "AutoAugment",
		about: "one of 25 pairs of operations found best for a data set",
		Parameters: []Parameter{
			{Name: "policy", kind: kindWord, Initial: "imagenet", words: autoAugmentNames, about: "the data set"},
			transformFilter("nearest"), fillColor(), chance("1"),
		},
		Sampler: func(s Settings, _ []*Operation) sampler {
			pairs := autoAugmentPolicies[slices.Index(autoAugmentNames, s.get("policy").word)]
			c := newChanger(s, usualSpace, autoAugmentBins)
			return func(d *Drawing) {
				c := c.to(d)
				for _, l := range pairs[d.random.below(len(pairs))] {
					if d.random.Chance(l.p) {
						c.add(d, l.what, l.bin)
					}
				}
			}
		},
	}
}

var imageNetPolicy = [][2]likely{
	{{changePosterize, 0.4, 8}, {changeRotate, 0.6, 9}},
	{{changeSolarize, 0.6, 5}, {changeAutoContrast, 0.6, 0}},
	{{changeEqualize, 0.8, 0}, {changeEqualize, 0.6, 0}},
	{{changePosterize, 0.6, 7}, {changePosterize, 0.6, 6}},
	{{changeEqualize, 0.4, 0}, {changeSolarize, 0.2, 4}},
	{{changeEqualize, 0.4, 0}, {changeRotate, 0.8, 8}},
	{{changeSolarize, 0.6, 3}, {changeEqualize, 0.6, 0}},
	{{changePosterize, 0.8, 5}, {changeEqualize, 1, 0}},
	{{changeRotate, 0.2, 3}, {changeSolarize, 0.6, 8}},
	{{changeEqualize, 0.6, 0}, {changePosterize, 0.4, 6}},
	{{changeRotate, 0.8, 8}, {changeColor, 0.4, 0}},
	{{changeRotate, 0.4, 9}, {changeEqualize, 0.6, 0}},
	{{changeEqualize, 0, 0}, {changeEqualize, 0.8, 0}},
	{{changeInvert, 0.6, 0}, {changeEqualize, 1, 0}},
	{{changeColor, 0.6, 4}, {changeContrast, 1, 8}},
	{{changeRotate, 0.8, 8}, {changeColor, 1, 2}},
	{{changeColor, 0.8, 8}, {changeSolarize, 0.8, 7}},
	{{changeSharpness, 0.4, 7}, {changeInvert, 0.6, 0}},
	{{changeShearX, 0.6, 5}, {changeEqualize, 1, 0}},
	{{changeColor, 0.4, 0}, {changeEqualize, 0.6, 0}},
	{{changeEqualize, 0.4, 0}, {changeSolarize, 0.2, 4}},
	{{changeSolarize, 0.6, 5}, {changeAutoContrast, 0.6, 0}},
	{{changeInvert, 0.6, 0}, {changeEqualize, 1, 0}},
	{{changeColor, 0.6, 4}, {changeContrast, 1, 8}},
	{{changeEqualize, 0.8, 0}, {changeEqualize, 0.6, 0}},
}

var cifar10Policy = [][2]likely{
	{{changeInvert, 0.1, 0}, {changeContrast, 0.2, 6}},
	{{changeRotate, 0.7, 2}, {changeTranslateX, 0.3, 9}},
	{{changeSharpness, 0.8, 1}, {changeSharpness, 0.9, 3}},
	{{changeShearY, 0.5, 8}, {changeTranslateY, 0.7, 9}},
	{{changeAutoContrast, 0.5, 0}, {changeEqualize, 0.9, 0}},
	{{changeShearY, 0.2, 7}, {changePosterize, 0.3, 7}},
	{{changeColor, 0.4, 3}, {changeBrightness, 0.6, 7}},
	{{changeSharpness, 0.3, 9}, {changeBrightness, 0.7, 9}},
	{{changeEqualize, 0.6, 0}, {changeEqualize, 0.5, 0}},
	{{changeContrast, 0.6, 7}, {changeSharpness, 0.6, 5}},
	{{changeColor, 0.7, 7}, {changeTranslateX, 0.5, 8}},
	{{changeEqualize, 0.3, 0}, {changeAutoContrast, 0.4, 0}},
	{{changeTranslateY, 0.4, 3}, {changeSharpness, 0.2, 6}},
	{{changeBrightness, 0.9, 6}, {changeColor, 0.2, 8}},
	{{changeSolarize, 0.5, 2}, {changeInvert, 0, 0}},
	{{changeEqualize, 0.2, 0}, {changeAutoContrast, 0.6, 0}},
	{{changeEqualize, 0.2, 0}, {changeEqualize, 0.6, 0}},
	{{changeColor, 0.9, 9}, {changeEqualize, 0.6, 0}},
	{{changeAutoContrast, 0.8, 0}, {changeSolarize, 0.2, 8}},
	{{changeBrightness, 0.1, 3}, {changeColor, 0.7, 0}},
	{{changeSolarize, 0.4, 5}, {changeAutoContrast, 0.9, 0}},
	{{changeTranslateY, 0.9, 9}, {changeTranslateY, 0.7, 9}},
	{{changeAutoContrast, 0.9, 0}, {changeSolarize, 0.8, 3}},
	{{changeEqualize, 0.8, 0}, {changeInvert, 0.1, 0}},
	{{changeTranslateY, 0.7, 9}, {changeAutoContrast, 0.9, 0}},
}

var svhnPolicy = [][2]likely{
	{{changeShearX, 0.9, 4}, {changeInvert, 0.2, 0}},
	{{changeShearY, 0.9, 8}, {changeInvert, 0.7, 0}},
	{{changeEqualize, 0.6, 0}, {changeSolarize, 0.6, 6}},
	{{changeInvert, 0.9, 0}, {changeEqualize, 0.6, 0}},
	{{changeEqualize, 0.6, 0}, {changeRotate, 0.9, 3}},
	{{changeShearX, 0.9, 4}, {changeAutoContrast, 0.8, 0}},
	{{changeShearY, 0.9, 8}, {changeInvert, 0.4, 0}},
	{{changeShearY, 0.9, 5}, {changeSolarize, 0.2, 6}},
	{{changeInvert, 0.9, 0}, {changeAutoContrast, 0.8, 0}},
	{{changeEqualize, 0.6, 0}, {changeRotate, 0.9, 3}},
	{{changeShearX, 0.9, 4}, {changeSolarize, 0.3, 3}},
	{{changeShearY, 0.8, 8}, {changeInvert, 0.7, 0}},
	{{changeEqualize, 0.9, 0}, {changeTranslateY, 0.6, 6}},
	{{changeInvert, 0.9, 0}, {changeEqualize, 0.6, 0}},
	{{changeContrast, 0.3, 3}, {changeRotate, 0.8, 4}},
	{{changeInvert, 0.8, 0}, {changeTranslateY, 0, 2}},
	{{changeShearY, 0.7, 6}, {changeSolarize, 0.4, 8}},
	{{changeInvert, 0.6, 0}, {changeRotate, 0.8, 4}},
	{{changeShearY, 0.3, 7}, {changeTranslateX, 0.9, 3}},
	{{changeShearX, 0.1, 6}, {changeInvert, 0.6, 0}},
	{{changeSolarize, 0.7, 2}, {changeTranslateY, 0.6, 7}},
	{{changeShearY, 0.8, 4}, {changeInvert, 0.8, 0}},
	{{changeShearX, 0.7, 9}, {changeTranslateY, 0.8, 3}},
	{{changeShearY, 0.8, 5}, {changeAutoContrast, 0.7, 0}},
	{{changeShearX, 0.7, 2}, {changeInvert, 0.1, 0}},
}
