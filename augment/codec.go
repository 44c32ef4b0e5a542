package augment

import (
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/codec/tiff"
)

// The sentinels that errors about images wrap.
var (
	// ErrDamaged means that an image is damaged. All decoders agree on which ones are.
	ErrDamaged = sniff.ErrDamaged
	// ErrUnsupported means that no available decoder reads the image's coding.
	ErrUnsupported = sniff.ErrUnsupported
	// ErrTooManyPixels means that an image announces more pixels than CodecOptions.MaxPixels, a
	// longer side than [MaxSourceSide], or far more pixels than a file of its size can contain.
	ErrTooManyPixels = sniff.ErrTooManyPixels
	// ErrNotImage means that the bytes are not in a supported format.
	ErrNotImage = sniff.ErrNotImage
)

// Format is an image format, detected from the content. The empty Format means none.
type Format = sniff.Format

// The formats that are read.
const (
	JPEG = sniff.JPEG
	PNG  = sniff.PNG
	GIF  = sniff.GIF
	BMP  = sniff.BMP
	WebP = sniff.WebP
	TIFF = sniff.TIFF
)

// Sniff detects the format from the first bytes. It does not check the rest.
func Sniff(data []byte) Format { return sniff.Sniff(data) }

// DefaultMaxPixels is the largest number of pixels of an image that Pillow reads: half a gibibyte
// of them at three bytes each.
const DefaultMaxPixels = imagefile.DefaultMaxPixels

// CodecOptions configure a [Codec]. The zero value is the default. Decoder is "auto" (also ""),
// "turbo" or "go"; auto uses the built-in decoder if its assembly runs, and libjpeg-turbo for what
// that does not read. MaxPixels is the most that an image may announce; 0 means DefaultMaxPixels.
// AllowArithmetic reads JPEGs in arithmetic coding if libjpeg-turbo is available. FloatRange, if
// not nil, has the samples that are black and white in images of floats (TIFF). Background, if not
// nil, is the colour after images with transparency; without it alpha is dropped and the colours
// under it show.
type CodecOptions = imagefile.CodecOptions

// Codec reads and writes images. It is safe for concurrent use.
//
// Stat reads a header, Check detects damage, and Decode decodes an image upright. DecodePlanes
// decodes a JPEG to [Planes] if TakesPlanes allows it, and DecodeMask decodes a mask: an image
// whose samples are the classes of its pixels. AppendJPEG and AppendJPEGPlanes encode, Encodes
// checks a subsampling, and AppendDeepPNG turns an image of more than 8 bits a sample into a PNG of
// 16. Decoder and Encoder name the code that pixels and bytes depend on, and String describes all
// that decides pixels and errors.
type Codec = imagefile.Codec

// DecodeOptions configure decoding. The zero value decodes at full size, with the stored channels.
// Channels is 1 for grayscale, 3 for RGB, 0 for whichever the image is. MinWidth and MinHeight,
// both above 0, let a JPEG be decoded at 1/2, 1/4 or 1/8 of its size, if neither side of the
// upright result is then shorter than this. Trusted asserts that the bytes were checked for damage
// before and are unchanged. Part, unless empty, is the part of the image whose samples
// Codec.DecodePlanes must decode. Spare, if not nil, gives processors that may help to decode a
// large JPEG.
type DecodeOptions = imagefile.DecodeOptions

// Info describes an image by its header: Format; Width and Height in pixels, as stored; Channels, 1
// or 3; Orientation as EXIF has it. Oriented returns the size after orientation. Keepable reports
// whether the bytes may be stored unchanged: an RGB or grayscale JPEG or PNG without transparency,
// in a coding that every decoder reads. Deep reports whether samples have more than 8 bits, Floats
// whether they are floats, Alpha whether some pixels may be transparent, Mask whether
// Codec.DecodeMask reads the image, and Usual whether backends with a decoder may decode it. Memory
// is about the most bytes that Codec.Decode needs, and TensorFlow reports whether
// tf.io.decode_image opens images of this kind.
type Info = imagefile.Info

// NewCodec finds the decoders. It returns an error for an unknown decoder, and if libjpeg-turbo is
// requested but cannot be loaded; the error then explains how to install it.
func NewCodec(o CodecOptions) (*Codec, error) { return imagefile.NewCodec(o) }

// ParseFloatRange parses CodecOptions.FloatRange, such as "0,1".
func ParseFloatRange(s string) (*[2]float64, error) { return tiff.ParseRange(s) }
