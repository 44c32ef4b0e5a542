package policy

import (
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/augment/internal/operation"
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// Mixes reports whether the policy has an operation that mixes images, such as mixup. The mixing of
// batches by a [operation.Mix] does not count.
func (p *Policy) Mixes() bool { return p.mix >= 0 }

// Partners returns how many images are mixed into variant copy of the image with that key: 1, or 3
// for a mosaic; 0 without a mixing operation, or if it is not applied to the variant. It depends
// only on the arguments.
func (p *Policy) Partners(seed uint64, key string, copy int) int {
	if !p.Mixes() {
		return 0
	}
	o := p.operations[p.mix]
	if !operation.RandomFor(seed, "mixed\x00"+key, copy).Chance(o.P) {
		return 0
	}
	return steps.PartnersOf(o.Settings.Of.Name)
}

// DrawMixed is [Policy.DrawBoxes] for an image with partners, as many as [Policy.Partners] returns:
// their Key, Width, Height and Boxes. The operations before the mixing one draw for each partner by
// itself. The draw has a [steps.Mixture], whose Partners await their Image. Without partners the
// image is not mixed.
func (p *Policy) DrawMixed(seed uint64, key string, copy, w, h int, boxes []bitmap.Box, partners []steps.Partner) steps.Draw {
	d := operation.NewDrawing(operation.RandomFor(seed, key, copy), w, h, boxes)
	for i, o := range p.operations {
		if i != p.mix {
			o.Draw(d)
			continue
		}
		if len(partners) != steps.PartnersOf(o.Settings.Of.Name) {
			continue
		}
		drawn := slices.Clone(partners)
		for k := range drawn {
			one := &drawn[k]
			pd := operation.NewDrawing(operation.RandomFor(seed, "partner\x00"+strconv.Itoa(k)+"\x00"+key, copy), one.Width, one.Height, one.Boxes)
			operation.DrawAll(p.operations[:i], pd)
			one.Width, one.Height = max(one.Width, 1), max(one.Height, 1)
			one.Draw = steps.Draw{Steps: pd.Steps}
		}
		d.Mix(o.Mixture(seed, key, copy, d.Width, d.Height, drawn))
	}
	return steps.Draw{Steps: d.Steps}
}

// checkMix returns the index of the first mixing operation, -1 for none, and an error if there is a
// second.
func checkMix(calls []call) (at int, err error) {
	at = -1
	for i := range calls {
		if steps.PartnersOf(calls[i].name.text) == 0 {
			continue
		}
		if at >= 0 {
			return -1, calls[i].name.wrong("a policy mixes images once: %s is before it", calls[at].name.text)
		}
		at = i
	}
	return at, nil
}
