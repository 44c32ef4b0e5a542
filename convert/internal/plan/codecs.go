package plan

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/optname"
)

// Codecs identify the JPEG codecs that the bytes depend on.
type Codecs struct{ Decoder, Encoder string }

// ofBackend separates the decoder of a backend from the decoder of the codec.
const ofBackend = "; "

// BackendDecoder returns the decoder of a set whose images a backend decodes, as far as it can, and a
// codec the rest.
func BackendDecoder(backend, codec string) string { return backend + ofBackend + codec }

// backendDecodes reports whether a set's decoder is a backend's.
func backendDecodes(decoder string) bool { return strings.Contains(decoder, ofBackend) }

// otherBackend describes how decoders differ, at least one of which is a backend's.
func otherBackend(was, now string) string {
	how := fmt.Sprintf("it is another nvJPEG, another kind of GPU, or another %s", optname.CodecOptionsDecoder)
	switch {
	case !backendDecodes(was):
		how = fmt.Sprintf("without %s it is the former", optname.ImageOptionsBackendDecodes)
	case !backendDecodes(now):
		how = fmt.Sprintf("%s selects the former, on a machine with such a GPU and nvJPEG", optname.ImageOptionsBackend.With(optname.ImageOptionsBackendDecodes))
	}
	return fmt.Sprintf("the decoder was %q, now it is %q (%s)", was, now, how)
}

// otherCodecs describes how the codecs of two sets differ, and how to select the former.
func otherCodecs(was, now Codecs) string {
	switch {
	case backendDecodes(was.Decoder) || backendDecodes(now.Decoder):
		return otherBackend(was.Decoder, now.Decoder)
	case was.Decoder == now.Decoder:
		return fmt.Sprintf("the encoder was %q, now it is %q", was.Encoder, now.Encoder)
	case strings.Contains(was.Decoder, "turbo"):
		return fmt.Sprintf("the decoder was %q, now it is %q (%s turbo selects the former)", was.Decoder, now.Decoder, optname.CodecOptionsDecoder)
	case strings.Contains(now.Decoder, "turbo"):
		return fmt.Sprintf("the decoder was %q, now it is %q (%s go selects the former)", was.Decoder, now.Decoder, optname.CodecOptionsDecoder)
	}
	return fmt.Sprintf("the decoder was %q, now it is %q, which gives other pixels", was.Decoder, now.Decoder)
}

// Tally counts by name. A nil one does nothing.
type Tally struct {
	mu sync.Mutex
	by map[string]int64
}

// Add counts one more of a name.
func (t *Tally) Add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]int64{}
	}
	t.by[name]++
}

func (t *Tally) counts() map[string]int64 {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.by)
}
