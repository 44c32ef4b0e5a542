package operation

import (
	"fmt"
	"image"
	"math"
)

// Mix configures how the images of a batch are mixed with one another, and their labels with them:
// by MixUp, a weighted sum of two images (Zhang et al.: mixup: Beyond Empirical Risk Minimization,
// 2017), or by CutMix, a box of one image in the other (Yun et al.: CutMix: Regularization Strategy
// to Train Strong Classifiers with Localizable Features, 2019). The draws have the distribution of
// torchvision.transforms.v2.MixUp and CutMix. The zero value mixes nothing.
type Mix struct {
	// MixUp and CutMix are the alpha of each method: it draws from Beta(alpha, alpha). 0.001 to
	// 1000; 0 turns the method off. If both are given, each batch draws one of the two with equal
	// probability.
	MixUp, CutMix float64
}

// MixDraw is the decision of a [Mix] for one batch.
type MixDraw struct {
	// Lambda is the share of an image, and of its label, in the mixture, from 0 to 1; the other
	// image has the share 1 - Lambda. With CutMix it is the share of the area outside of the Box.
	Lambda float64
	// Box, in pixels, is replaced by CutMix. It is empty for MixUp, and for a CutMix that changes
	// nothing, whose Lambda is 1.
	Box image.Rectangle
}

// Validate returns an error for an alpha out of range.
func (m Mix) Validate() error {
	for _, alpha := range []float64{m.MixUp, m.CutMix} {
		if alpha != 0 && !(alpha >= 0.001 && alpha <= 1000) {
			return fmt.Errorf("mix: alpha %v: want 0.001 to 1000, or 0 for none", alpha)
		}
	}
	return nil
}

// Draw returns how a batch of images of w by h pixels is mixed. It depends only on the arguments
// and is independent of the draws of a [policy.Policy] with the same arguments.
func (m Mix) Draw(seed uint64, key string, epoch, w, h int) MixDraw {
	if m == (Mix{}) {
		return MixDraw{Lambda: 1}
	}
	r := RandomFor(seed, "mix\x00"+key, epoch)
	if m.CutMix == 0 || m.MixUp != 0 && r.Chance(0.5) {
		return MixDraw{Lambda: r.beta(m.MixUp)}
	}
	side := 0.5 * math.Sqrt(1-r.beta(m.CutMix))
	x, y := r.below(w), r.below(h)
	dx, dy := int(float64(side*float64(w))), int(float64(side*float64(h)))
	box := image.Rect(x-dx, y-dy, x+dx, y+dy).Intersect(image.Rect(0, 0, w, h))
	return MixDraw{Lambda: 1 - float64(box.Dx()*box.Dy())/float64(w*h), Box: box}
}
