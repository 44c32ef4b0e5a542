package recordscan

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/swar"
)

// Limits on the data kept of records, whatever they hold.
const (
	// MaxLabelName bounds the text of a label in bytes: longer values are not names.
	MaxLabelName = 256
	// MaxKey bounds the keys of features that are followed, in bytes.
	MaxKey = 4096
	// ManyFeatures is the number of features of a record for which memory is kept.
	ManyFeatures = 1 << 16
	// MaxFaults is the default limit on the faults listed for a file.
	MaxFaults = 1000
)

// textBytes is the size in bytes of the beginning of a value that is examined to decide whether it
// is text.
const textBytes = 4 << 10

// IsText reports whether the beginning of x is UTF-8 without NUL bytes.
func IsText(x []byte) bool {
	if len(x) <= shortText && isPlain(x) {
		return true
	}
	if len(x) > textBytes {
		x = x[:textBytes]
		for n := 0; n < utf8.UTFMax && len(x) > 0 && !utf8.RuneStart(x[len(x)-1]); n++ {
			x = x[:len(x)-1]
		}
		x = x[:len(x)-1] // the rune may be cut off
	}
	return utf8.Valid(x) && bytes.IndexByte(x, 0) < 0
}

// shortText is up to how many bytes isPlain is faster than two searches with vectors.
const shortText = 64

// isPlain reports whether x is ASCII without NUL bytes.
func isPlain(x []byte) bool {
	for len(x) >= 8 {
		v := binary.LittleEndian.Uint64(x)
		if ((v-swar.Ones)|v)&swar.Highs != 0 { // a byte is 0, or has its upper bit
			return false
		}
		x = x[8:]
	}
	for _, c := range x {
		if c-1 >= utf8.RuneSelf-1 {
			return false
		}
	}
	return true
}

// ImageFormat recognises the usual formats of images by their first bytes: "jpeg", "png", "gif",
// "webp", "bmp" or "tiff"; empty for other data.
func ImageFormat(b []byte) string {
	begins := func(prefix string) bool { return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix }
	switch {
	case begins("\xff\xd8\xff"):
		return "jpeg"
	case begins("\x89PNG\r\n\x1a\n"):
		return "png"
	case begins("GIF8"):
		return "gif"
	case len(b) > 12 && begins("RIFF") && string(b[8:12]) == "WEBP":
		return "webp"
	case BMPDepth(b) > 0:
		return "bmp"
	case begins("II*\x00"), begins("MM\x00*"):
		return "tiff"
	}
	return ""
}

// BMPDepth returns the number of bits of a pixel in a BMP; 0 for other data. Texts may begin with
// BM, too, so the header must have a known size, one plane and a known number of bits.
func BMPDepth(b []byte) int {
	if len(b) < 30 || string(b[:2]) != "BM" {
		return 0
	}
	planes, depth := binary.LittleEndian.Uint16(b[26:]), binary.LittleEndian.Uint16(b[28:])
	switch size := binary.LittleEndian.Uint32(b[14:]); {
	case size == 12:
		planes, depth = binary.LittleEndian.Uint16(b[22:]), binary.LittleEndian.Uint16(b[24:])
	case size < 40 || size > 1024:
		return 0
	}
	switch {
	case planes != 1:
		return 0
	case depth == 1, depth == 2, depth == 4, depth == 8, depth == 16, depth == 24, depth == 32:
		return int(depth)
	}
	return 0
}

// Span is the smallest and the largest of the numbers added to it.
type Span struct {
	Min, Max int64
	Any      bool // whether there are numbers
}

// Add adds a number.
func (s *Span) Add(n int64) {
	if !s.Any {
		*s = Span{n, n, true}
		return
	}
	s.Min, s.Max = min(s.Min, n), max(s.Max, n)
}

// Merge adds the numbers of another Span.
func (s *Span) Merge(t Span) {
	if t.Any {
		s.Add(t.Min)
		s.Add(t.Max)
	}
}
