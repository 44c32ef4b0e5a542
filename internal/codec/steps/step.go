package steps

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Step is one operation with exact parameters and no randomness. The fields of its type are the
// parameters. All types are defined in this package, such as [HFlip] and [Rotate]. A [Draw] applies
// steps, and writes and reads them as JSON, so that a record can document the changes to its image:
//
//	draw := steps.Draw{Steps: []steps.Step{steps.HFlip{}, steps.Rotate{Angle: 12.5}}}
//	err := draw.Apply(&dst, &src, nil)
//
// A step is a pure function of its parameters and the image: the same bytes on any machine. Its
// arithmetic is in integers, or every floating-point product is converted explicitly so that no
// architecture fuses it.
//
// The bytes equal torchvision.transforms.v2's on Pillow images, with Pillow 13, for operations that
// it has. Exceptions are [GaussianBlur] and [Affine], where fewer than one sample in a thousand may
// be off by one level, random samples ([GaussianNoise], the noise of [Erase]) and the pixels of the
// codec ([JPEGArtefacts]). [ResizeTo] and [ResizedCrop] are as close to Pillow as [fit.Resize].
type Step interface {
	// op is the operation's name in JSON and in a policy, such as "hflip".
	op() string
	// size returns the size of the result for an image of w x h pixels.
	size(w, h int) (int, int)
	// validate returns an error for parameters that the step cannot use.
	validate() error
	// apply makes dst the result for src, reusing dst's memory. dst and src
	// must not share memory. src is not changed. Both have 1 or 3 channels;
	// dst gets as many as src has. scratch may be nil.
	apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error
}

// Op returns the name of a step's operation in JSON and in a policy, such as "hflip".
func Op(s Step) string { return s.op() }

// Size returns the size of a step's result for an image of w x h pixels.
func Size(s Step, w, h int) (int, int) { return s.size(w, h) }

// Validate returns an error for parameters that the step cannot use.
func Validate(s Step) error { return s.validate() }
