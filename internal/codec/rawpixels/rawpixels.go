package rawpixels

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// Values of image/format of images that are stored as samples.
const (
	Uint8   = "raw"     // a byte for each sample
	Float32 = "float32" // a little-endian float32 for each sample
)

// SampleBytes returns the size of a sample, by image/format; 0 for encoded images.
func SampleBytes(format string) int {
	switch format {
	case Uint8:
		return 1
	case Float32:
		return 4
	}
	return 0
}

// ErrNoSize means that a record does not state the size of its image.
var ErrNoSize = errors.New("is not one integer")

// Size is the size of an image. All of its numbers are 1 or more.
type Size struct{ Height, Width, Channels int }

// Keys are the keys of the features that state a Size: height, width, channels.
type Keys [3]string

// Image has the keys for imagekey.Encoded.
var Image = Keys{imagekey.Height, imagekey.Width, imagekey.Channels}

// KeysFor returns the keys with the prefix of an image's key: a/height for a/encoded.
func KeysFor(key string) Keys {
	prefix := key[:strings.LastIndexByte(key, '/')+1]
	return Keys{prefix + "height", prefix + "width", prefix + "channels"}
}

// Of returns the size of a record's image, which has one channel or three, and is stored as samples
// of the format in this many bytes.
func Of(features *tfrecord.Features, format string, bytes int) (Size, error) {
	s, err := Stated(features, Image)
	if err == nil {
		err = s.Check(format, bytes)
	}
	if err == nil && s.Channels != 1 && s.Channels != 3 {
		err = fmt.Errorf("%s is %d: want 1 or 3", imagekey.Channels, s.Channels)
	}
	return s, err
}

// Stated returns the size that a record states. Memory for an image of this size must not be
// allocated before Check. The error unwraps to ErrNoSize if a feature is missing, or is not one
// integer.
func Stated(features *tfrecord.Features, keys Keys) (s Size, err error) {
	for i, n := range []*int{&s.Height, &s.Width, &s.Channels} {
		f, _ := features.Get(keys[i])
		stated, ok := f.Int64()
		if !ok || f.Len() != 1 {
			return Size{}, fmt.Errorf("%s %w", keys[i], ErrNoSize)
		}
		if *n = int(stated); stated < 1 || int64(*n) != stated {
			return Size{}, fmt.Errorf("%s is %d: want 1 or more", keys[i], stated)
		}
	}
	return s, nil
}

// Check returns an error unless an image of this size takes this many bytes in the format, which must
// be one of samples.
func (s Size) Check(format string, bytes int) error {
	rest := bytes
	for _, n := range []int{SampleBytes(format), s.Channels, s.Width, s.Height} { // a product could overflow
		if rest%n != 0 {
			rest = 0
		}
		rest /= n
	}
	if rest != 1 {
		return fmt.Errorf("%s of %s samples are not %d x %d pixels of %s", plural.Of(bytes, "byte"), format, s.Width, s.Height, plural.Of(s.Channels, "channel"))
	}
	return nil
}
