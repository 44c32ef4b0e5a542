package augment

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Scratch is memory for work on images, to be reused from image to image. Its zero value is ready.
// It is not safe for concurrent use. Codec is the codec of [JPEGArtefacts]; no other step needs
// one, and pixels depend on it. Trim frees the memory that is kept if it is more than 64 MiB.
type Scratch = workspace.Scratch

// Filter selects the weights of the pixels around a position. The zero value is Bilinear.
type Filter = resample.Filter

// The filters, in the words of tf.image.resize.
const (
	// Bilinear weighs by a triangle over one pixel to each side.
	Bilinear = resample.Bilinear
	// Nearest takes the one pixel whose area contains the position.
	Nearest = resample.Nearest
	// Area averages the rectangle of the source that a pixel covers, its edges by the share that is
	// covered.
	Area = resample.Area
	// Bicubic is Keys' cubic over two pixels to each side, with a = -0.5.
	Bicubic = resample.Bicubic
	// Lanczos3 is the windowed sinc over three pixels to each side.
	Lanczos3 = resample.Lanczos3
)

// ParseFilter returns the filter of a name: bilinear, nearest, area, bicubic or lanczos3.
func ParseFilter(name string) (Filter, error) { return resample.ParseFilter(name) }

// Resize sets dst to the image src resized to w by h pixels. dst gets src's channels and reuses its
// memory; it must not share memory with src. Pixel centres are at halves, as in Pillow, TensorFlow
// 2 and torchvision.
//
// With antialias, Bilinear, Bicubic and Lanczos3 give the bytes of Pillow 13's Image.resize, which
// rounds and clips to bytes between its two passes. Without it they follow tf.image.resize: to make
// an image smaller, they use a few pixels around each position and skip the others. Area and
// Nearest follow tf.image.resize, and antialias changes nothing for them. Compared with
// TensorFlow's floats, rounded and clipped to bytes, Nearest is equal and all others are within one
// level. TensorFlow's own antialias differs from Pillow's by the rounding and clipping in between:
// by one level for Bilinear, and where the result overshoots between very unlike neighbours, in
// less than a twentieth of the samples of noise, by up to 24 levels for Bicubic and 40 for
// Lanczos3.
//
// Sides of the result may be 1 to [MaxSide] pixels long, with 178,956,970 pixels in all. Sides of
// the source may be up to 1,048,576 pixels long.
//
// The arithmetic is in integers, with the same weights on every architecture, so the bytes are the
// same as well.
func Resize(dst, src *Image, w, h int, f Filter, antialias bool) error {
	return fit.Resize(dst, src, w, h, f, antialias)
}

// Fit selects how an image is fitted to a target of another shape. The zero value is Stretch.
type Fit = fit.Fit

// The ways to fit an image of any shape to a target of Width x Height.
const (
	// Stretch gives each side its target and loses the image's shape.
	Stretch = fit.Stretch
	// Crop covers the target and cuts the surplus equally from both sides.
	Crop = fit.Crop
	// Pad fits the image inside the target, in the middle, on PadColor.
	Pad = fit.Pad
	// Shorter covers the target and cuts nothing: with N x N, the shorter side becomes N.
	Shorter = fit.Shorter
	// Longer stays inside the target and pads nothing: with N x N, the longer side becomes N.
	Longer = fit.Longer
)

// ParseFit returns the fit of a name: stretch, crop, pad, shorter or longer.
func ParseFit(name string) (Fit, error) { return fit.ParseFit(name) }

// ResizeSpec configures a resize. Either Width and Height, the target in pixels, or Square is set.
// Fit selects how images of another shape are fitted. Square resizes the shorter side to this
// length and cuts a square of it from the middle. NoUpscale never enlarges. Filter is the filter of
// [Resize], and NoAntialias turns its antialias off. PadColor is the RGB colour of the padding.
//
// Apply resizes an image. Geometry describes the resize of images of one size, for Render, which
// resizes an image decoded at a part of its size as well, and for RenderPlanes and RenderRGB, which
// resize [Planes] if TakesPlanes. MinDecode returns the smallest size at which an image may be
// decoded. Validate returns an error if fields are out of range or contradict each other.
type ResizeSpec = fit.ResizeSpec

// ParseSize reads WxH, as in 224x224, into Width and Height of an otherwise zero spec, or N, as in
// 224, into its Square.
func ParseSize(text string) (ResizeSpec, error) { return fit.ParseSize(text) }

// Geometry describes a resize by [ResizeSpec] of images of one size, in pixels: the whole image is
// resized to ScaledWidth x ScaledHeight, and a window of that is put on a canvas. CropX and CropY
// are the position of the window in the resized image, WindowWidth and WindowHeight its size. Width
// and Height are the size of the result, PadX and PadY the position of the window in it.
// SourceWidth and SourceHeight are the image's. Box and Point return where the resize moves a [Box]
// and a [Point].
type Geometry = fit.Geometry

// Box is an axis-parallel box in an image, in pixels from its top left corner, with fractions. It
// covers XMin <= x < XMax and YMin <= y < YMax, so a whole image of w x h pixels is {0, 0, w, h}.
// Area returns its area, Clip the part of it within an image, and Orient its place in the upright
// image.
type Box = bitmap.Box

// Point is a place in an image, in pixels from its top left corner: X and Y, with fractions, as the
// sides of a [Box] are. An image of w x h pixels has the points from 0, 0 to w, h, both included.
// Orient moves it as Box.Orient moves a box.
type Point = bitmap.Point
