package augment

import "math"

// mixOperations mix other images into an image. A policy has one of them at most, outside of groups.
// They have no sampler: DrawMixed draws them.
func mixOperations() []*definition {
	const kind = "mix"
	alpha := parameter{name: "alpha", initial: "1", min: 0.001, max: 1000, about: "the shares are drawn from Beta(alpha, alpha)"}
	return []*definition{
		{
			name: mixUp, kind: kind, torchvision: "MixUp",
			about:      "blend the image with another one, which is resized to its size",
			parameters: []parameter{alpha, chance("1")},
		},
		{
			name: cutMix, kind: kind, torchvision: "CutMix",
			about:      "replace a random box by that of another image, which is resized to the size of the image",
			parameters: []parameter{alpha, chance("1")},
		},
		{
			name: mosaic, kind: kind,
			about: "put the corners of four images together at a random point, each with its longer side resized to the size of the result",
			parameters: []parameter{
				{name: "size", min: 2, max: 8192, integer: true, about: "width and height of the result, in pixels"},
				chance("1"),
			},
		},
	}
}

// checkMix returns the index of the first mixing operation, -1 for none, and an error if there is a
// second.
func checkMix(calls []call) (at int, err error) {
	at = -1
	for i := range calls {
		if partnersOf(calls[i].name.text) == 0 {
			continue
		}
		if at >= 0 {
			return -1, calls[i].name.wrong("a policy mixes images once: %s is before it", calls[at].name.text)
		}
		at = i
	}
	return at, nil
}

// mixture draws how an image of w x h pixels is mixed with its partners, whose own draws are done.
func (o *operation) mixture(seed uint64, key string, copy, w, h int, partners []Partner) Mixture {
	s := Mixture{Method: o.settings.of.name, Partners: partners}
	var m MixDraw
	switch s.Method {
	case mixUp:
		m = Mix{MixUp: o.settings.number("alpha")}.Draw(seed, key, copy, w, h)
	case cutMix:
		m = Mix{CutMix: o.settings.number("alpha")}.Draw(seed, key, copy, w, h)
	default:
		r := randomFor(seed, "mix\x00"+key, copy)
		s.Size = o.settings.integer("size")
		s.Center = [2]int{r.integer(1, s.Size-1), r.integer(1, s.Size-1)}
		s.weigh(w, h)
		return s
	}
	s.Lambda, partners[0].Weight = m.Lambda, 1-m.Lambda
	if b := m.Box; !b.Empty() {
		s.Box = [4]int{b.Min.X, b.Min.Y, b.Dx(), b.Dy()}
	}
	return s
}

// weigh sets the weights in a mosaic of an image of w x h pixels: the share of each image in the
// area that all images cover.
func (s *Mixture) weigh(w, h int) {
	var areas [4]float64
	total := 0.0
	for part := range areas {
		if part > 0 {
			p := &s.Partners[part-1]
			w, h = p.Draw.Size(p.Width, p.Height)
		}
		width, height, x, y := s.location(part, w, h, s.Size, s.Size)
		areas[part] = Box{float64(x), float64(y), float64(x + width), float64(y + height)}.Clip(s.Size, s.Size).Area()
		total += areas[part]
	}
	s.Lambda = 1
	for i := range s.Partners {
		s.Partners[i].Weight = areas[i+1] / total
		s.Lambda -= s.Partners[i].Weight
	}
	s.Lambda = math.Max(s.Lambda, 0)
}
