package sniff

import (
	"bytes"
	"fmt"

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

// PNGSignature is how a PNG begins.
const PNGSignature = "\x89PNG\r\n\x1a\n"

// Sniff detects the format from the first bytes. It does not check the rest.
func Sniff(data []byte) Format {
	begins := func(s string) bool { return bytes.HasPrefix(data, []byte(s)) }
	switch {
	case jpeg.IsJPEG(data):
		return JPEG
	case begins(PNGSignature):
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

// Describe names what data holds if it is not an image.
func Describe(data []byte) string {
	switch n := min(len(data), 16); {
	case n == 0:
		return "the file is empty"
	case n < 3:
		return fmt.Sprintf("the file has %d bytes only", n)
	default:
		return fmt.Sprintf("it begins with %q", data[:n])
	}
}
