package jpeg

import (
	"fmt"
	"image"
)

// Format is how the samples of a decoded image are in memory.
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

// Request says what Decode shall give.
type Request struct {
	Format Format // Gray or RGB
	Denom  int    // 1, 2, 4 or 8: decode at 1/Denom
	// Trusted says that the image was checked before and found undamaged. With Part, all backends
	// may then miss damage after the part.
	Trusted bool
	// Part is what is wanted of the image, in pixels at full size; empty for all. Planes may
	// hold anything elsewhere, pixels are made in any case.
	Part image.Rectangle
	// Spare, if not nil, are processors that may help with a large image.
	// The pixels and the verdict are the same.
	Spare Spare
}

// part is the part of an image that is searched for damage, empty for all.
func (r Request) part(data []byte, h *Header) image.Rectangle {
	if r.Trusted && h.Huffman() && !h.Progressive() && h.Plausible(len(data)) {
		return r.Part
	}
	return image.Rectangle{}
}

// damageChecker is a decoder whose verdict on damage is that of [Check], which is not asked then.
type damageChecker interface{ checks() }

// decoder is one backend. One that isn't a damageChecker sees only images that have been checked:
// that it forgives damage does not matter, and its own verdict counts for arithmetic coding alone,
// of which [Check] sees too little.
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

// encoder is what writes JPEG: each the same bytes.
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

// Subsampling is how much smaller the chroma planes are.
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
