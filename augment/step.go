package augment

import "github.com/tfrec/tfrec/internal/codec/steps"

// Step is one operation with exact parameters and no randomness. The fields of its type are the
// parameters. The types of all steps are in this package, such as [HFlip] and [Rotate]. A [Draw]
// applies steps, and writes and reads them as JSON, so that a record can document the changes to
// its image:
//
//	draw := augment.Draw{Steps: []augment.Step{augment.HFlip{}, augment.Rotate{Angle: 12.5}}}
//	err := draw.Apply(&dst, &src, nil)
//
// A step is a pure function of its parameters and the image: the same bytes on any machine. Its
// arithmetic is in integers, or every floating-point product is converted explicitly so that no
// architecture fuses it.
//
// The bytes equal torchvision.transforms.v2's on Pillow images, with Pillow 13, for operations that
// it has. Exceptions are [GaussianBlur] and [Affine], where fewer than one sample in a thousand may
// be off by one level, random samples ([GaussianNoise], the noise of [Erase]) and the pixels of the
// codec ([JPEGArtefacts]). [ResizeTo] and [ResizedCrop] are as close to Pillow as [Resize].
type Step = steps.Step

// Draw is the decision of a [Policy] for one image: Steps with exact parameters, in their order.
// Records store its JSON, an array of steps. The zero value leaves an image unchanged.
//
// Apply applies the steps to an [Image]. ApplyPlanes applies them to [Planes] if TakesPlanes;
// MinDecode and Part then say how much of the image must be decoded. Size, AreaScale, Box and Point
// return what becomes of the image's size, of areas, of a [Box] and of a [Point], and Mirrors
// whether left and right change places. Mask returns the draw for a mask of the image, and Of the
// steps for one image of a [Mixture].
type Draw = steps.Draw

// CropBox cuts a box out of the image. X and Y are its top left corner, which may be negative, W
// and H its size, at most [MaxSide]. Fill is the colour outside of the image, in RGB.
type CropBox = steps.CropBox

// ResizedCrop cuts a box out of the image and resizes it, as torchvision's resized_crop: the filter
// does not see pixels around the box. X and Y are its top left corner, W and H its size, and it
// must be within the image. Width and Height are the size of the result; Filter and Antialias are
// parameters of [Resize].
type ResizedCrop = steps.ResizedCrop

// ResizeTo resizes the image with [Resize] to Width x Height, ignoring its shape. Filter and
// Antialias are its parameters.
type ResizeTo = steps.ResizeTo

// HFlip swaps left and right.
type HFlip = steps.HFlip

// VFlip swaps top and bottom.
type VFlip = steps.VFlip

// Rotate rotates the image around its middle, with the bytes of Pillow's Image.rotate and
// torchvision's rotate. Angle is in degrees, counter-clockwise. Expand makes the result large
// enough for the whole rotated image. Filter is Nearest, Bilinear or Bicubic; the zero value is
// Bilinear, torchvision's default Nearest. Fill is the colour of pixels from outside the image, in
// RGB.
type Rotate = steps.Rotate

// Affine rotates, shears, scales and then moves the image, which keeps its size. The bytes equal
// torchvision's affine on Pillow images. Angle is in degrees, clockwise (unlike [Rotate]'s).
// Translate is the distance to the right and down, in pixels. Scale is the enlargement, 0.0001 to
// 10000. Shear is in degrees, along x and along y, between -90 and 90. Corner makes the top left
// corner the fixed point, in the place of the middle. Filter and Fill are Rotate's.
type Affine = steps.Affine

// Perspective tilts the image: its corners move, and lines stay straight. The size does not change.
// The bytes equal Pillow's Image.transform with PERSPECTIVE. Corners are the new positions of the
// image's corners, in pixels: top left, top right, bottom right and bottom left. They must form a
// convex quadrilateral. Filter and Fill are [Rotate]'s.
type Perspective = steps.Perspective

// Brightness mixes the image with black, as Pillow's ImageEnhance.Brightness. Factor is 0 for
// black, 1 for the unchanged image, above for brighter.
type Brightness = steps.Brightness

// Contrast mixes the image with the mean of its luminance, as Pillow's ImageEnhance.Contrast.
// Factor is 0 for plain gray, 1 for the unchanged image, above for more contrast.
type Contrast = steps.Contrast

// Saturation mixes the image with its grayscale version, as Pillow's ImageEnhance.Color. Factor is
// 0 for grayscale, 1 for the unchanged image, above for more colour. A grayscale image is
// unchanged.
type Saturation = steps.Saturation

// Hue rotates the colours of the image on the colour wheel, through Pillow's HSV of 8 bits a
// channel as torchvision's adjust_hue does with Pillow images: the bytes are the same, including
// the losses of converting to HSV and back. Factor is the part of a full turn, -0.5 to 0.5.
type Hue = steps.Hue

// Grayscale gives each pixel its luminance, by the weights of [ToGray], in as many channels as it
// has.
type Grayscale = steps.Grayscale

// Invert makes each level v 255-v.
type Invert = steps.Invert

// Posterize keeps the highest bits of each level and clears the others, as Pillow's
// ImageOps.posterize. Bits is the number of bits that are kept, 0 to 8.
type Posterize = steps.Posterize

// Solarize inverts the levels that aren't below a threshold, as Pillow's ImageOps.solarize.
// Threshold is the lowest level that is inverted, 0 to 256.
type Solarize = steps.Solarize

// Gamma makes each level v, from 0 to 1, Gain times v to the power of Gamma, as torchvision's
// adjust_gamma does with Pillow images. Both are 0 to 1000.
type Gamma = steps.Gamma

// Equalize spreads the levels of each channel so that all occur about as often, as Pillow's
// ImageOps.equalize and torchvision's equalize.
type Equalize = steps.Equalize

// AutoContrast stretches the levels of each channel so that the darkest becomes 0 and the lightest
// 255, as Pillow's ImageOps.autocontrast and torchvision's autocontrast.
type AutoContrast = steps.AutoContrast

// Sharpness mixes the image with a smoothed one, as Pillow's ImageEnhance.Sharpness. Factor is 0
// for the smoothed image, 1 for the unchanged image, above for a sharper one. Pixels at the edge
// stay unchanged.
type Sharpness = steps.Sharpness

// GaussianBlur weighs the pixels around each by a bell curve, as torchvision's gaussian_blur does.
// Kernel is the number of pixels that are weighed along x and along y, both odd, 1 to 255. Sigma is
// the curve's standard deviation along x and along y, in pixels, 0.001 to 1000.
type GaussianBlur = steps.GaussianBlur

// GaussianNoise adds to each sample a random number of a normal distribution, its fraction cut off,
// as torchvision's gaussian_noise does to bytes, and clips the sum. Mean, -10 to 10, and Sigma, 0
// to 10, are fractions of the full range of 255 levels. Seed distinguishes one noise from the next.
type GaussianNoise = steps.GaussianNoise

// Erase replaces a box by a colour, as torchvision's erase, or by noise. X and Y are the top left
// corner of the box, in pixels, W and H its size; parts outside the image are ignored. Value is the
// colour, in RGB. Noise uses random samples instead of Value, uniformly distributed and determined
// by Seed.
type Erase = steps.Erase

// JPEGArtefacts encodes the image as JPEG, with colours at half the resolution (4:2:0), and decodes
// it again, as torchvision's JPEG does, with the Codec of a [Scratch]. Quality is 1 to 100.
type JPEGArtefacts = steps.JPEGArtefacts

// Mixture is the [Step] that mixes Partners into the image. Method is "mixup", "cutmix" or
// "mosaic": the op in JSON. Lambda is the weight of the image itself, 0 to 1. Box is the area that
// the partner of a cutmix replaces: x, y, width and height in pixels. Size is the width and height
// of a mosaic, and Center where its images meet. Partners are resized with Bilinear and antialias.
type Mixture = steps.Mixture

// Partner is an image that is mixed into another one. Key names it. Weight is its share of the
// mixture and of its label, 0 to 1. Width and Height are its size before Draw, upright, in pixels.
// Draw is applied to it before it is mixed, and Boxes are the boxes of its objects before that.
// Image is the result of Draw; only Draw.Apply needs it. Policy.DrawMixed sets Weight and Draw.
type Partner = steps.Partner
