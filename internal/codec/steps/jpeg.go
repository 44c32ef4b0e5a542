package steps

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// JPEGArtefacts encodes the image as JPEG, with colours at half the resolution (4:2:0), and decodes
// it again, as torchvision's JPEG does. It uses the encoder and decoder of Codec in
// [workspace.Scratch]. It returns an error if the scratch has no codec, or if the image has a side
// over 65,535 pixels, the limit of JPEG, or more pixels than the codec decodes.
type JPEGArtefacts struct {
	// Quality is 1 to 100.
	Quality int `json:"quality"`
}

func (s JPEGArtefacts) op() string { return "jpeg" }

func (s JPEGArtefacts) size(w, h int) (int, int) { return w, h }

func (s JPEGArtefacts) validate() error {
	if s.Quality < 1 || s.Quality > 100 {
		return fmt.Errorf("%s: quality %d: want 1 to 100", s.op(), s.Quality)
	}
	return nil
}

func (s JPEGArtefacts) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	if scratch == nil || scratch.Codec == nil {
		return fmt.Errorf("%s: %w", s.op(), errNoCodec)
	}
	data, err := scratch.Codec.AppendJPEG(workspace.Of(scratch).Steps.Bytes[:0], src, s.Quality, "420")
	workspace.Of(scratch).Steps.Bytes = data[:0]
	if err == nil {
		_, err = scratch.Codec.Decode(dst, data, imagefile.DecodeOptions{Channels: src.Channels})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.op(), err)
	}
	return nil
}

var errNoCodec = errors.New("no codec to encode and decode with: set Scratch.Codec")
