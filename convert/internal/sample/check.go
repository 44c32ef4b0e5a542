package sample

import (
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/optname"
)

// CheckMix returns an error if a policy mixes images and the listed images cannot be mixed.
func CheckMix(a *options.AugmentSpec, l *listing.Listing) error {
	if !a.Mixes() {
		return nil
	}
	if l.Carried.HasObjects() {
		return plan.OptionErrorf(optname.AugmentSpecPolicy, "%s mixes images, and the objects and masks of TFRecords cannot be mixed: drop these features first (%s)", a.Policy, optname.ReshapeDropFeatures)
	}
	if err := l.Carried.CheckMix(a.Policy.String()); err != nil {
		return err
	}
	draw := a.Policy.DrawMixed(0, "", 1, 1, 1, nil, make([]augment.Partner, 1))
	if s := MixtureOf(draw); l.Masks != nil && s != nil && s.Method == "mixup" {
		return plan.OptionErrorf(optname.AugmentSpecPolicy, "mixup cannot mix the classes of %s: use cutmix or mosaic", optname.AnnotationSpecMasks)
	}
	return nil
}

// NoteMirrors notes that mirrored keypoints keep their names, if it is not known which others they
// become.
func NoteMirrors(o *options.ImageOptions, l *listing.Listing) {
	unknown := l.Annotations != nil && l.Annotations.Keypoints.Count > 0 && l.Annotations.Flip == nil ||
		l.Carried != nil && l.Carried.Keypoints && !l.Carried.Mirrors
	if unknown && o.Augment.Mirrors() {
		o.Notef("the keypoints of mirrored images keep their names, as nothing says which is left and which is right: names with left and right do, and flip_idx of YOLO")
	}
}
