package augment

import (
	"bytes"

	"github.com/tfrec/tfrec/internal/codec/jpeg"
)

// Format is an image format, detected from the content. The empty Format means none.
type Format string

// The formats that are read.
const (
	JPEG Format = "jpeg"
	PNG  Format = "png"
	GIF  Format = "gif"
	BMP  Format = "bmp"
	WebP Format = "webp"
	TIFF Format = "tiff"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// Sniff detects the format from the first bytes. It does not check the rest.
func Sniff(data []byte) Format {
	begins := func(s string) bool { return bytes.HasPrefix(data, []byte(s)) }
	switch {
	case jpeg.IsJPEG(data):
		return JPEG
	case begins(pngSignature):
		return PNG
	case begins("GIF87a"), begins("GIF89a"):
		return GIF
	case begins("BM"):
		return BMP
	case begins("RIFF") && len(data) >= 12 && string(data[8:12]) == "WEBP":
		return WebP
	case begins("II*\x00"), begins("MM\x00*"):
		return TIFF
	}
	return ""
}
