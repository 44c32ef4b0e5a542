package jpeg

import (
	"fmt"
	"image"
)

// Format is the memory layout of a decoded image.
type Format uint8

// The formats. All are interleaved, rows from the top, one byte a sample.
const (
	Gray Format = iota // one byte a pixel: the luminance component
	RGB                // three
	// cmyk is four bytes a pixel, inverted: 255 is not an ink. Backends convert ColorCMYK and
	// ColorYCCK to it.
	cmyk
)

// Bytes is the number of bytes a pixel.
func (f Format) Bytes() int { return [...]int{1, 3, 4}[f] }

// Request selects the result of Decode.
type Request struct {
	Format Format // Gray or RGB
	Denom  int    // 1, 2, 4 or 8: decode at 1/Denom
	// Trusted asserts that the image was checked before and found undamaged. With Part, all
	// backends may then miss damage after the part.
	Trusted bool
	// Part is the required part of the image, in pixels at full size; empty for all. Planes are
	// undefined elsewhere; pixels are always decoded.
	Part image.Rectangle
	// Spare, if not nil, are processors that may help with a large image.
	// The pixels and the verdict are the same.
	Spare Spare
}

// part returns the part of the image that is searched for damage, empty for all.
func (r Request) part(data []byte, h *Header) image.Rectangle {
	if r.Trusted && h.Huffman() && !h.Progressive() && h.Plausible(len(data)) {
		return r.Part
	}
	return image.Rectangle{}
}

// damageChecker is a decoder that finds the same damage as [Check], which is then not called.
type damageChecker interface{ checks() }

// decoder is a backend. If it isn't a damageChecker, its images are checked first: it may forgive
// damage, and its own verdict counts only for arithmetic coding, which [Check] cannot follow.
type decoder interface {
	// name is the decoder and its version.
	name() string
	// supports says, from the header alone, whether the decoder reads such images in that
	// format and reduction.
	supports(h *Header, r Request) bool
	// decode writes the image to dst, rows stride bytes apart. Errors are in plain words;
	// a decoder may panic instead.
	decode(dst []byte, stride int, data []byte, h *Header, r Request) error
}

// encoder writes JPEG. All encoders write the same bytes.
type encoder interface {
	// name is the encoder and its version.
	name() string
	append(dst []byte, p Pixels, quality int, s Subsampling) ([]byte, error)
	// appendPlanes writes planes that have been checked.
	appendPlanes(dst []byte, p *Planar, quality int) ([]byte, error)
}

// Pixels is an image to encode.
type Pixels struct {
	Pix           []byte
	Width, Height int
	Stride        int    // bytes from one row to the next
	Format        Format // Gray or RGB
}

// Subsampling is the size of the chroma planes relative to the luma plane.
type Subsampling uint8

// The subsamplings, by their usual names. SubGray drops the colours.
const (
	Sub420 Subsampling = iota
	Sub422
	Sub444
	Sub440
	SubGray
)

var subsamplings = [...]string{Sub420: "420", Sub422: "422", Sub444: "444", Sub440: "440", SubGray: "gray"}

// String is the name that [ParseSubsampling] takes.
func (s Subsampling) String() string { return subsamplings[s] }

// ParseSubsampling takes 420, 422, 444, 440 or gray.
func ParseSubsampling(name string) (Subsampling, error) {
	for s, n := range subsamplings {
		if n == name {
			return Subsampling(s), nil
		}
	}
	return 0, fmt.Errorf("subsampling %q: give 420, 422, 444, 440 or gray", name)
}
