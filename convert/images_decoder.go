package convert

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/augment"
)

// decodingBackend is a backend that decodes JPEGs of tasks by itself.
type decodingBackend interface {
	augment.Backend
	// Decoder names all that its pixels depend on; "" where it decodes nothing, and each task's
	// codec does.
	Decoder() string
}

// checkBackend says whether the backend can decode where it has to.
func (o *ImageOptions) checkBackend() error {
	if !o.BackendDecodes {
		return nil
	}
	if b, ok := o.Backend.(decodingBackend); !ok || b.Decoder() == "" {
		return optionError("ImageOptions.BackendDecodes", "the backend does not decode")
	}
	if o.Encode == Keep {
		return optionError("ImageOptions.BackendDecodes", "is for images that are decoded, and ImageOptions.Encode keep stores them unchanged")
	}
	return nil
}

// behind stands between the decoder of a backend and the codec's, which decodes what that
// doesn't.
const behind = "; "

// decoderName names the decoders that the set's bytes depend on.
func (s *imageSource) decoderName() string {
	if !s.decodes {
		return s.codec.Decoder()
	}
	return s.o.Backend.(decodingBackend).Decoder() + behind + s.codec.Decoder()
}

// backendDecodes says whether a set's decoder is a backend's.
func backendDecodes(decoder string) bool { return strings.Contains(decoder, behind) }

// otherBackend says how decoders differ, of which one at least is a backend's.
func otherBackend(was, now string) string {
	how := "it is another nvJPEG, another kind of GPU, or another ImageOptions.Decoder"
	switch {
	case !backendDecodes(was):
		how = "without ImageOptions.BackendDecodes it is the former"
	case !backendDecodes(now):
		how = "ImageOptions.Backend with ImageOptions.BackendDecodes selects the former, on a machine with such a GPU and nvJPEG"
	}
	return fmt.Sprintf("the decoder was %q, now it is %q (%s)", was, now, how)
}

// otherCodecs says what differs between the codecs of two sets, and what selects the former.
func otherCodecs(was, now codecs) string {
	switch {
	case backendDecodes(was.decoder) || backendDecodes(now.decoder):
		return otherBackend(was.decoder, now.decoder)
	case was.decoder == now.decoder:
		return fmt.Sprintf("the encoder was %q, now it is %q", was.encoder, now.encoder)
	case strings.Contains(was.decoder, "turbo"):
		return fmt.Sprintf("the decoder was %q, now it is %q (ImageOptions.Decoder turbo selects the former)", was.decoder, now.decoder)
	case strings.Contains(now.decoder, "turbo"):
		return fmt.Sprintf("the decoder was %q, now it is %q (ImageOptions.Decoder go selects the former)", was.decoder, now.decoder)
	}
	return fmt.Sprintf("the decoder was %q, now it is %q, which gives other pixels", was.decoder, now.decoder)
}

// decoderOf names who decoded an image: a part of a backend, or else the codec, whose decoder
// counts for JPEG and whose formats are decoded in one way each. It counts it, too.
func (s *imageSource) decoderOf(m *sampleWork) string {
	name := string(m.format)
	if m.format == augment.JPEG {
		name = s.codec.Decoder()
	}
	if m.input > 0 {
		name = m.task.Decoder
	}
	s.decoded.add(name)
	return name
}

// stranding stands in the identity of a sample behind its key, of which it can be no part.
const stranding = "\x00stranded"

// strand notes that an image was not decoded by whom it should have been, because a GPU
// failed. Its shard is then not known for what it would be, and made again by
// the next run that has a GPU.
func (s *imageSource) strand(identity []byte, m *sampleWork) []byte {
	if m.input == 0 || !m.task.FellBack {
		return identity
	}
	return append(append(identity, stranding...), s.key(m.sample)...)
}

// tally counts by name. A nil one counts nothing.
type tally struct {
	mu sync.Mutex
	by map[string]int64
}

// tally counts who decoded images, where there is a choice.
func (s *imageSource) tally() *tally {
	if !s.decodes {
		return nil
	}
	return &s.decoded
}

func (t *tally) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]int64{}
	}
	t.by[name]++
}

func (t *tally) counts() map[string]int64 {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.by)
}
