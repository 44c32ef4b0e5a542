package options

import (
	"cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/optname"
)

// EncodeSpec configures the stored form of images.
type EncodeSpec struct {
	// Format of the stored image. Default: Keep, or JPEG if an option changes pixels.
	Format Encoding
	// Channels of the stored image: 1, 3, or 0 to keep the channels of the source (3 for Raw and
	// Float32, whose shape must not vary).
	Channels int
	// Quality of JPEG, 1 to 100. Default: 95.
	Quality int
	// Subsampling of the JPEG chroma: "420", "422", "440" or "444". Default: "420".
	Subsampling string
	// Normalize has the values that Float32 subtracts and divides by. Default: 0 and 1, so that
	// values are in 0..1.
	Normalize augment.Normalize
	// NoCheck stores images under Keep without decoding them to check for damage.
	NoCheck bool
}

// Encoding is the form of a stored image.
type Encoding string

// The encodings. Raw is uint8, Float32 is normalised little-endian float32;
// both are arrays of height x width x channels.
const (
	Keep    Encoding = "keep" // RGB and grayscale JPEG and PNG unchanged, others as PNG
	JPEG    Encoding = "jpeg"
	PNG     Encoding = "png"
	Raw     Encoding = "raw"
	Float32 Encoding = "float32"
)

// complete fills in defaults and returns an error for invalid fields.
func (e *EncodeSpec) complete(changesPixels bool) error {
	if changesPixels {
		e.Format = cmp.Or(e.Format, JPEG)
	}
	e.Format = cmp.Or(e.Format, Keep)
	if e.Format != JPEG && (e.Quality != 0 || e.Subsampling != "") {
		return plan.OptionErrorf(optname.EncodeSpecQuality, "%s and %s are for %s jpeg, not for %s", optname.EncodeSpecQuality, optname.EncodeSpecSubsampling, optname.EncodeSpecFormat, e.Format)
	}
	e.Quality = cmp.Or(e.Quality, 95)
	e.Subsampling = cmp.Or(e.Subsampling, "420")
	switch e.Format {
	case Keep:
		if changesPixels {
			return plan.OptionErrorf(optname.EncodeSpecFormat, "keep stores images unchanged, so it cannot be combined with an option that changes pixels (%s, %s, %s, %s)", optname.ImageOptionsResize, optname.AugmentSpecPolicy, optname.EncodeSpecChannels, optname.CodecOptionsBackground)
		}
	case Raw, Float32:
		e.Channels = cmp.Or(e.Channels, 3)
		if e.Format == Float32 {
			for c := range e.Normalize.Std {
				e.Normalize.Std[c] = cmp.Or(e.Normalize.Std[c], 1)
			}
		}
	case JPEG, PNG:
	default:
		return plan.OptionErrorf(optname.EncodeSpecFormat, "%q: want jpeg, png, raw, float32 or keep", e.Format)
	}
	switch {
	case e.Quality < 1 || e.Quality > 100:
		return plan.OptionErrorf(optname.EncodeSpecQuality, "%d is not between 1 and 100", e.Quality)
	case e.Channels != 0 && e.Channels != 1 && e.Channels != 3:
		return plan.OptionErrorf(optname.EncodeSpecChannels, "%d: want 1 or 3", e.Channels)
	case e.Format != Float32 && e.Normalize != (augment.Normalize{}):
		return plan.OptionErrorf(optname.NormalizeMean, "%s and %s are for %s float32", optname.NormalizeMean, optname.NormalizeStd, optname.EncodeSpecFormat)
	case e.Format == Float32 && e.Normalize.Validate() != nil:
		return plan.OptionErrorf(optname.NormalizeStd, "%v", e.Normalize.Validate())
	case e.NoCheck && e.Format != Keep:
		return plan.OptionErrorf(optname.EncodeSpecNoCheck, "is for %s keep: any other encoding decodes the image", optname.EncodeSpecFormat)
	}
	return nil
}
