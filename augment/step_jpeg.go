package augment

import (
	"errors"
	"fmt"
)

// JPEGArtefacts encodes the picture as JPEG, with colours at half the
// resolution (4:2:0), and decodes it again, as torchvision's JPEG. The pixels
// are those of the encoder and decoder of [Scratch.Codec].
type JPEGArtefacts struct {
	// Quality is 1 to 100.
	Quality int `json:"quality"`
}

// Op returns "jpeg".
func (s JPEGArtefacts) Op() string { return "jpeg" }

// Size returns w and h.
func (s JPEGArtefacts) Size(w, h int) (int, int) { return w, h }

// Validate refuses qualities that aren't 1 to 100.
func (s JPEGArtefacts) Validate() error {
	if s.Quality < 1 || s.Quality > 100 {
		return fmt.Errorf("%s: quality %d: want 1 to 100", s.Op(), s.Quality)
	}
	return nil
}

// MarshalJSON writes the step for [UnmarshalStep].
func (s JPEGArtefacts) MarshalJSON() ([]byte, error) {
	type fields JPEGArtefacts
	return marshalStep(s.Op(), fields(s))
}

// Apply is [Step.Apply]. A scratch without codec is an error, and so is a
// picture with a side over 65,535 pixels, which JPEG can't hold, or with more
// pixels than the codec decodes.
func (s JPEGArtefacts) Apply(dst, src *Image, scratch *Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	if scratch == nil || scratch.Codec == nil {
		return fmt.Errorf("%s: %w", s.Op(), errNoCodec)
	}
	data, err := scratch.Codec.AppendJPEG(scratch.steps.bytes[:0], src, s.Quality, "420")
	scratch.steps.bytes = data[:0]
	if err == nil {
		_, err = scratch.Codec.Decode(dst, data, DecodeOptions{Channels: src.Channels})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Op(), err)
	}
	return nil
}

var errNoCodec = errors.New("no codec to encode and decode with: set Scratch.Codec")
