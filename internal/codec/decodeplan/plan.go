// Package decodeplan decides how an image is decoded, given the steps that follow: to planes or to
// RGB, at which size, and which part. It is the same for images that are converted and for images
// that are read for training.
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
	"github.com/tfrec/tfrec/internal/codec/jpeg"
)

// Spec holds the settings that all images of a set share.
type Spec struct {
	Codec *augment.Codec
	// Resize is applied after the steps drawn for an image. Default: none.
	Resize *augment.ResizeSpec
	// Channels are the channels of the result: 1 or 3. Default: the image's.
	Channels int
	// ExactPixels decodes at full size and to RGB or gray. By default, the image stays in its
	// stored planes until it has its final size, and is decoded at a part of its size, if the steps
	// allow that.
	ExactPixels bool
	// Trusted and Spare are passed to [augment.DecodeOptions].
	Trusted bool
	Spare   jpeg.Spare
}

// Plan describes how an image is decoded.
type Plan struct {
	// Planes is for [augment.Codec.DecodePlanes]; without it, [augment.Codec.Decode]
	// decodes.
	Planes  bool
	Options augment.DecodeOptions
}

// For returns how to decode an image to which draw is applied. The plan depends only on the image's
// header, the Spec and draw.
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
