package operation

import "github.com/tfrec/tfrec/internal/codec/steps"

// mixOperations mix other images into an image. A policy has one of them at most, outside of
// groups. They have no sampler: DrawMixed draws them.
func mixOperations() []*Definition {
	const kind = "mix"
	alpha := Parameter{Name: "alpha", Initial: "1", min: 0.001, max: 1000, about: "the shares are drawn from Beta(alpha, alpha)"}
	return []*Definition{
		{
			Name: steps.MixUp, kind: kind, torchvision: "MixUp",
			about:      "blend the image with another one, which is resized to its size",
			Parameters: []Parameter{alpha, chance("1")},
		},
		{
			Name: steps.CutMix, kind: kind, torchvision: "CutMix",
			about:      "replace a random box by that of another image, which is resized to the size of the image",
			Parameters: []Parameter{alpha, chance("1")},
		},
		{
			Name: steps.Mosaic, kind: kind,
			about: "put the corners of four images together at a random point, each with its longer side resized to the size of the result",
			Parameters: []Parameter{
				{Name: "size", min: 2, max: 8192, integer: true, about: "width and height of the result, in pixels"},
				chance("1"),
			},
		},
	}
}

// Mixture draws how an image of w x h pixels is mixed with its partners, whose own draws are done.
func (o *Operation) Mixture(seed uint64, key string, copy, w, h int, partners []steps.Partner) steps.Mixture {
	s := steps.Mixture{Method: o.Settings.Of.Name, Partners: partners}
	var m MixDraw
	switch s.Method {
	case steps.MixUp:
		m = Mix{MixUp: o.Settings.Number("alpha")}.Draw(seed, key, copy, w, h)
	case steps.CutMix:
		m = Mix{CutMix: o.Settings.Number("alpha")}.Draw(seed, key, copy, w, h)
	default:
		r := RandomFor(seed, "mix\x00"+key, copy)
		s.Size = o.Settings.integer("size")
		s.Center = [2]int{r.integer(1, s.Size-1), r.integer(1, s.Size-1)}
		steps.Weigh(&s, w, h)
		return s
	}
	s.Lambda, partners[0].Weight = m.Lambda, 1-m.Lambda
	if b := m.Box; !b.Empty() {
		s.Box = [4]int{b.Min.X, b.Min.Y, b.Dx(), b.Dy()}
	}
	return s
}
