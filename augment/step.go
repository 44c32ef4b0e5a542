package augment

// Step is one operation with exact parameters: nothing about it is random any
// more. The fields of its type are the parameters. The types are those of this
// package, such as [HFlip] and [Rotate]. A [Draw] applies steps, and writes and reads
// them as JSON, so that a record can say what was done to its image:
//
//	draw := augment.Draw{Steps: []augment.Step{augment.HFlip{}, augment.Rotate{Angle: 12.5}}}
//	err := draw.Apply(&dst, &src, nil)
//
// A step is a pure function of its parameters and the image: the same bytes
// on any machine. Its arithmetic is in integers, or every floating-point
// product is converted explicitly so that no architecture fuses it.
//
// The bytes are those that torchvision.transforms.v2 makes of Pillow images,
// with Pillow 13, where it has the operation: all of them, but for [GaussianBlur]
// and [Affine], of whose samples fewer than one in a thousand may be off by one
// level, and but for what is random ([GaussianNoise], the noise of [Erase]) or the
// codec's ([JPEGArtefacts]). [ResizeTo] and [ResizedCrop] are as near to Pillow as
// [Resize] is.
type Step interface {
	// op is the operation's name in JSON and in a policy, such as "hflip".
	op() string
	// size returns the size of the result for an image of w x h pixels.
	size(w, h int) (int, int)
	// validate refuses parameters that the step cannot use.
	validate() error
	// apply makes dst the result for src, reusing dst's memory. dst and src
	// must not share memory. src is not changed. Both have 1 or 3 channels;
	// dst gets as many as src has. scratch may be nil.
	apply(dst, src *Image, scratch *Scratch) error
}
