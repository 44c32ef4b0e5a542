package convert

import (
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/objects"
)

// decoderName identifies the decoders that the set's bytes depend on.
func (s *sampleMaker) decoderName() string {
	if !s.decodes {
		return s.codec.Decoder()
	}
	return s.o.Backend.(options.DecodingBackend).Decoder() + plan.Behind + s.codec.Decoder()
}

// encoderName names what the stored bytes depend on besides the pixels, of images and of masks of
// classes.
func (s *sampleMaker) encoderName() string {
	var names []string
	png := s.o.Annotations.HasMasks() || s.carried != nil && s.carried.Seen[objects.KeySegmentation] != nil
	switch s.o.Encode.Format {
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
func (s *sampleMaker) decoderOf(m *sampleWork) string {
	name := string(m.info.Format)
	if m.info.Format == augment.JPEG {
		name = s.codec.Decoder()
	}
	if m.input > 0 {
		name = m.task.Decoder
	}
	s.decoded.Add(name)
	return name
}

// stranding follows the key in a sample's identity; no key contains it.
const stranding = "\x00stranded"

// strand records that an image was not decoded by the intended decoder because a GPU failed. The
// fingerprint of its shard then differs, and the next run that has a GPU makes it again.
func (s *sampleMaker) strand(identity []byte, m *sampleWork) []byte {
	if m.input == 0 || !m.task.FellBack {
		return identity
	}
	return append(append(identity, stranding...), s.key(m.sample)...)
}

// tally counts images by decoder, if there is a choice.
func (s *sampleMaker) tally() *plan.Tally {
	if !s.decodes {
		return nil
	}
	return &s.decoded
}
