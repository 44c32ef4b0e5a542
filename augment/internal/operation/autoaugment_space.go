package operation

import (
	"math"

	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/exact"
)

// change is an operation of the learned policies, by the name that the paper
// gave it.
type change uint8

const (
	changeNothing change = iota
	changeShearX
	changeShearY
	changeTranslateX
	changeTranslateY
	changeRotate
	changeBrightness
	changeColor
	changeContrast
	changeSharpness
	changePosterize
	changeSolarize
	changeAutoContrast
	changeEqualize
	changeInvert
)

// signed reports whether the change has either sign.
func (c change) signed() bool { return c >= changeShearX && c <= changeSharpness }

// changeSpace holds the strength of each change at its last bin.
type changeSpace struct {
	shear     float64 // tangent of the angle
	translate float64 // pixels; 0: 150/331 of the side
	rotate    float64 // degrees
	factor    float64 // added to or subtracted from 1
	posterize float64 // bits that are lost
}

// The spaces of torchvision's AutoAugment and RandAugment, and of its TrivialAugmentWide.
var (
	usualSpace = changeSpace{shear: 0.3, rotate: 30, factor: 0.9, posterize: 4}
	wideSpace  = changeSpace{shear: 0.99, translate: 32, rotate: 135, factor: 0.99, posterize: 6}
)

// changer draws changes of a space.
type changer struct {
	changeSpace
	bins          int
	filter        resample.Filter
	fill          [3]uint8
	width, height int // of the image before any change
}

// add draws the direction of a change of the strength of a bin, 0 to bins-1,
// and adds its step.
func (c *changer) add(d *Drawing, what change, bin int) {
	sign := 1.0
	if what.signed() && d.random.Chance(0.5) {
		sign = -1
	}
	// at is the strength, of which most is the last bin's.
	at := func(most float64) float64 { return float64(float64(sign*most)*float64(bin)) / float64(c.bins-1) }
	pixels := func(side int) int {
		if c.translate > 0 {
			return int(at(c.translate))
		}
		return int(at(float64(150.0 / 331 * float64(side)))) // whole pixels, towards 0
	}
	affine := steps.Affine{Scale: 1, Filter: c.filter, Fill: c.fill}
	switch what {
	case changeShearX:
		affine.Shear[0], affine.Corner = degreesOf(at(c.shear)), true
		d.add(affine)
	case changeShearY:
		affine.Shear[1], affine.Corner = degreesOf(at(c.shear)), true
		d.add(affine)
	case changeTranslateX:
		affine.Translate[0] = pixels(c.width)
		d.add(affine)
	case changeTranslateY:
		affine.Translate[1] = pixels(c.height)
		d.add(affine)
	case changeRotate:
		d.add(steps.Rotate{Angle: at(c.rotate), Filter: c.filter, Fill: c.fill})
	case changeBrightness:
		d.add(steps.Brightness{Factor: 1 + at(c.factor)})
	case changeColor:
		d.add(steps.Saturation{Factor: 1 + at(c.factor)})
	case changeContrast:
		d.add(steps.Contrast{Factor: 1 + at(c.factor)})
	case changeSharpness:
		d.add(steps.Sharpness{Factor: 1 + at(c.factor)})
	case changePosterize:
		d.add(steps.Posterize{Bits: exact.Round(8 - at(c.posterize))})
	case changeSolarize:
		d.add(steps.Solarize{Threshold: 255 - at(255)})
	case changeAutoContrast:
		d.add(steps.AutoContrast{})
	case changeEqualize:
		d.add(steps.Equalize{})
	case changeInvert:
		d.add(steps.Invert{})
	}
}

// degreesOf returns the angle of a tangent within ±1, with the same bits
// everywhere.
func degreesOf(tangent float64) float64 {
	// The angle is halved three times, and then small enough for the series.
	t := tangent
	for range 3 {
		t /= 1 + math.Sqrt(1+float64(t*t))
	}
	t2 := float64(t * t)
	sum := 0.0
	for k := 19.0; k >= 1; k -= 2 {
		sum = 1/k - float64(sum*t2)
	}
	return float64(float64(8*float64(t*sum)) * (180 / math.Pi))
}

// newChanger returns the settings that the learned operations share.
func newChanger(s Settings, space changeSpace, bins int) changer {
	return changer{changeSpace: space, bins: bins, filter: s.filter("filter"), fill: s.color("fill")}
}

// to returns the changer for the current size of the image.
func (c changer) to(d *Drawing) *changer {
	c.width, c.height = d.Width, d.Height
	return &c
}

// binsOf returns the parameter for the number of strengths.
func binsOf() Parameter {
	return Parameter{Name: "bins", Initial: "31", min: 2, max: 1000, integer: true, about: "how many strengths there are, from nothing to the strongest"}
}

// learnedOperations are the policies that others found.
func learnedOperations() []*Definition {
	return []*Definition{autoAugment(), randAugment(), trivialAugment()}
}
