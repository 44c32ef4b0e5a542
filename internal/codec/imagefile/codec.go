package imagefile

import (
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/tiff"
	"github.com/tfrec/tfrec/internal/codec/webp"
)

// DefaultMaxPixels is the largest number of pixels of an image that Pillow reads: half a gibibyte
// of them at three bytes each.
const DefaultMaxPixels = 178_956_970

// CodecOptions configure a [Codec]. The zero value is the default.
type CodecOptions struct {
	// Decoder is "auto" (also ""), "turbo" or "go". Auto uses the built-in decoder if its assembly
	// runs (amd64 with AVX2), and libjpeg-turbo for what that does not read; on other machines it
	// uses libjpeg-turbo. If libjpeg-turbo cannot be loaded, or TFREC_NO_TURBO=1 is set, auto does
	// without it. Turbo requires libjpeg-turbo; go never uses it.
	Decoder string
	// MaxPixels is the most that an image may announce; 0 means DefaultMaxPixels. A file of any
	// size may announce a quarter of it, and more up to 8,192 pixels for each of its bytes (fax
	// coding in TIFF: 65,536).
	MaxPixels int64
	// AllowArithmetic reads JPEGs in arithmetic coding if libjpeg-turbo is available. Default: they
	// are unsupported, since damage in them cannot be detected: missing data also decode to
	// something.
	AllowArithmetic bool
	// FloatRange, if not nil, has the samples that are black and white in images of floats (TIFF),
	// the smaller one first. Those between become the nearest of the levels between them, those
	// outside the range the nearer end, and NaN is damage. Default: floats are unsupported, since
	// their range is not in the file.
	FloatRange *[2]float64
	// Background, if not nil, is the colour after images with transparency. Without it alpha is
	// dropped and the colours under it show, as with Pillow's convert("RGB").
	Background *[3]uint8
}

// Codec reads and writes images. It is safe for concurrent use.
type Codec struct {
	jpeg       *jpeg.Set
	maxPixels  int64
	background *[3]uint8
	floatRange *tiff.Range
	scratch    sync.Pool // of *Image
	webp       sync.Pool // of *webp.Decoder
}

// NewCodec finds the decoders. It returns an error for an unknown decoder, and if libjpeg-turbo is
// requested but cannot be loaded; the error then explains how to install it.
func NewCodec(o CodecOptions) (*Codec, error) {
	var choice jpeg.Choice
	switch o.Decoder {
	case "", "auto":
		choice = jpeg.Auto
	case "turbo":
		choice = jpeg.Turbo
	case "go":
		choice = jpeg.Go
	default:
		return nil, fmt.Errorf("decoder %q: give auto, turbo or go", o.Decoder)
	}
	if o.MaxPixels < 0 {
		return nil, fmt.Errorf("a limit of %d pixels: give 0 for the default, or more", o.MaxPixels)
	}
	set, err := jpeg.Open(choice)
	if err != nil {
		return nil, err
	}
	floats, err := tiff.NewRange(o.FloatRange)
	if err != nil {
		return nil, err
	}
	set.Arithmetic = o.AllowArithmetic
	c := &Codec{jpeg: set, maxPixels: o.MaxPixels, background: o.Background, floatRange: floats}
	if c.maxPixels == 0 {
		c.maxPixels = DefaultMaxPixels
	}
	c.scratch.New = func() any { return new(bitmap.Image) }
	c.webp.New = func() any { return new(webp.Decoder) }
	return c, nil
}

// KeptBytes is the size of the largest buffer that is kept for the next image.
const KeptBytes = 64 << 20

// takeScratch takes an image from the pool, and keepScratch gives it back.
func (c *Codec) takeScratch() *bitmap.Image { return c.scratch.Get().(*bitmap.Image) }

func (c *Codec) keepScratch(im *bitmap.Image) {
	if cap(im.Pix) <= KeptBytes {
		c.scratch.Put(im)
	}
}

// Decoder names the preferred JPEG decoder with its version, such as "libjpeg-turbo 2.1.5" or
// "tfrec 1". Pixels depend on it.
func (c *Codec) Decoder() string { return c.jpeg.Decoder() }

// String describes everything that decides pixels and errors: the decoder and the options.
func (c *Codec) String() string {
	s := fmt.Sprintf("%s,max_pixels=%d,arithmetic=%t", c.Decoder(), c.maxPixels, c.jpeg.Arithmetic)
	if c.background != nil {
		s += fmt.Sprintf(",background=%v", *c.background)
	}
	if r := c.floatRange; r != nil {
		s += fmt.Sprintf(",floats=%v..%v", r.Black, r.White)
	}
	return s
}

// Encoder names the JPEG encoder, such as "libjpeg-turbo 2.1.5" or "tfrec 1". Their bytes are
// the same.
func (c *Codec) Encoder() string { return c.jpeg.Encoder() }

// Encodes returns an error unless [Codec.AppendJPEG] supports the subsampling.
func (c *Codec) Encodes(subsampling string) error {
	_, err := jpeg.ParseSubsampling(subsampling)
	return err
}

// AppendJPEG appends the image to dst as a JPEG. Quality is 1 to 100, subsampling "420", "422",
// "444", "440" or "gray", which drops the colours; a grayscale image has none to subsample.
func (c *Codec) AppendJPEG(dst []byte, im *bitmap.Image, quality int, subsampling string) ([]byte, error) {
	sub, err := jpeg.ParseSubsampling(subsampling)
	if err != nil {
		return dst, err
	}
	p := jpeg.Pixels{Pix: im.Pix, Width: im.Width, Height: im.Height, Stride: im.Stride, Format: jpeg.RGB}
	if im.Channels == 1 {
		p.Format, sub = jpeg.Gray, jpeg.SubGray
	}
	return c.jpeg.Append(dst, p, quality, sub)
}
