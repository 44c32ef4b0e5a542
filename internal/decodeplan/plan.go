// Package decodeplan decides how an image is decoded, given what is then done to it: to
// planes or to RGB, at which size, and which part. It is the same for images that are
// converted and for those that are read for training.
//
//	p := decodeplan.Spec{Codec: codec, Resize: &resize}.For(info, draw)
//	if p.Planes {
//		_, err = codec.DecodePlanes(&planes, data, p.Options)
//	} else {
//		_, err = codec.Decode(&image, data, p.Options)
//	}
package decodeplan

import (
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/jpeg"
)

// Spec is what all images of a set have in common.
type Spec struct {
	Codec *augment.Codec
	// Resize is done after what is drawn for an image. Default: nothing is.
	Resize *augment.ResizeSpec
	// Channels are those of the result: 1 or 3. Default: those of the image.
	Channels int
	// ExactPixels decodes at full size and to RGB or gray. Default: in planes, as the
	// image is stored, up to where it has its final size, and at a part of its size,
	// where what is done to it allows that.
	ExactPixels bool
	// Trusted and Spare are those of [augment.DecodeOptions].
	Trusted bool
	Spare   jpeg.Spare
}

// Plan is how an image is decoded.
type Plan struct {
	// Planes is for [augment.Codec.DecodePlanes]; without it, [augment.Codec.Decode]
	// decodes.
	Planes  bool
	Options augment.DecodeOptions
}

// For returns how an image is decoded to which draw is applied. It follows from the
// image's header, the Spec and draw alone.
func (s Spec) For(info augment.Info, draw augment.Draw) Plan {
	w, h := info.Oriented()
	p := Plan{
		Planes:  !s.ExactPixels && s.Channels != 1 && s.Codec.TakesPlanes(info),
		Options: augment.DecodeOptions{Channels: s.Channels, Trusted: s.Trusted, Spare: s.Spare},
	}
	o := &p.Options
	resizedOnly := len(draw.Steps) == 0 && s.Resize != nil
	switch {
	case p.Planes && draw.TakesPlanes():
		o.Part = draw.Part(w, h)
		o.MinWidth, o.MinHeight = draw.MinDecode(w, h)
	case p.Planes && resizedOnly && s.Resize.TakesPlanes():
		o.MinWidth, o.MinHeight = s.Resize.MinDecode(w, h)
	default:
		p.Planes = false
		if resizedOnly && !s.ExactPixels { // steps that are drawn are for the full size
			o.MinWidth, o.MinHeight = s.Resize.MinDecode(w, h)
		}
	}
	return p
}
