package sniff

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/internal/codec/jpeg"
)

// The sentinels that errors about images wrap.
var (
	// ErrDamaged means that an image is damaged. All decoders agree on which ones are.
	ErrDamaged = jpeg.ErrDamaged
	// ErrUnsupported means that no available decoder reads the image's coding.
	ErrUnsupported = jpeg.ErrUnsupported
	// ErrTooManyPixels means that an image announces more pixels than
	// [imagefile.CodecOptions.MaxPixels], a longer side than [bitmap.MaxSourceSide], or far more
	// pixels than a file of its size can contain.
	ErrTooManyPixels = errors.New("too many pixels")
	// ErrNotImage means that the bytes are not in a supported format.
	ErrNotImage = errors.New("not an image")
)

// Recovered makes a panic over an image an error. It is deferred.
func Recovered(f Format, err *error) {
	if p := recover(); p != nil {
		*err = Damaged(f, "the decoder crashed: %v", p)
	}
}

// Damaged returns an error that wraps [ErrDamaged] and begins with the format.
func Damaged(f Format, format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, named(f, fmt.Sprintf(format, args...)))
}

// Unsupported returns an error that wraps [ErrUnsupported] and begins with the format.
func Unsupported(f Format, format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, named(f, fmt.Sprintf(format, args...)))
}

// named puts a format in front of a text, unless a decoder has done so.
func named(f Format, text string) string {
	prefix := string(f) + ": "
	return prefix + strings.TrimPrefix(text, prefix)
}
