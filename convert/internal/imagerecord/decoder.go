package imagerecord

import (
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/manifest"
)

// DecoderName identifies the decoders that the set's bytes depend on.
func (s *Maker) DecoderName() string {
	if !s.Decodes {
		return s.codec.Decoder()
	}
	return plan.BackendDecoder(s.Options.Backend.(options.DecodingBackend).Decoder(), s.codec.Decoder())
}

// EncoderName identifies the encoders of the stored bytes, of images and of masks of
// classes.
func (s *Maker) EncoderName() string {
	var names []string
	png := s.Options.Annotations.HasMasks() || s.Carried != nil && s.Carried.Seen[objects.KeySegmentation] != nil
	switch s.Options.Encode.Format {
	case options.JPEG:
		names = append(names, s.codec.Encoder())
	case options.PNG, options.Keep:
		png = true
	}
	if png {
		names = append(names, augment.PNGEncoder())
	}
	return strings.Join(names, "; ")
}

// decoderOf names the decoder of an image: a part of a backend, or else the codec, whose decoder
// matters for JPEG and which decodes any other format in one way. It also counts it.
func (s *Maker) decoderOf(m *Work) string {
	name := string(m.info.Format)
	if m.info.Format == augment.JPEG {
		name = s.codec.Decoder()
	}
	if m.input > 0 {
		name = m.Task.Decoder
	}
	s.decoded.Add(name)
	return name
}

// stranding follows the key in a sample's identity; no key contains it.
const stranding = "\x00stranded"

// strand records that an image was not decoded by the intended decoder because a GPU failed. The
// fingerprint of its shard then differs, and the next run that has a GPU makes it again.
func (s *Maker) strand(identity []byte, m *Work) []byte {
	if m.input == 0 || !m.Task.FellBack {
		return identity
	}
	return append(append(identity, stranding...), s.Key(m.Sample)...)
}

// Tally counts images by decoder, if there is a choice.
func (s *Maker) Tally() *plan.Tally {
	if !s.Decodes {
		return nil
	}
	return &s.decoded
}

// Describe implements plan.Source.
func (s *Maker) Describe(m *manifest.Manifest) { s.Set.Describe(m, s.Decodes) }
