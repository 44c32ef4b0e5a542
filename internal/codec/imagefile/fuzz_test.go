package imagefile

import (
	"errors"
	"math/bits"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// seeds adds the small ones of the odd and hostile images whose names match a pattern.
func seeds(f *testing.F, pattern string) {
	var files []string
	for _, dir := range []string{"pictures", "hostile"} {
		found, err := filepath.Glob("../../../testdata/" + dir + "/" + pattern)
		if err != nil || len(found) == 0 {
			f.Fatal("no images", err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) <= 8<<10 || strings.Contains(file, "hostile") {
			f.Add(data)
		}
	}
}

// FuzzStat feeds anything to the sniffer and the header parsers.
func FuzzStat(f *testing.F) {
	seeds(f, "*.*")
	c, err := NewCodec(CodecOptions{Decoder: "go"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := c.Stat(data)
		if info.Format != sniff.Sniff(data) {
			t.Errorf("%q and %q", info.Format, sniff.Sniff(data))
		}
		if err != nil {
			mustWrap(t, err)
			return
		}
		high, pixels := bits.Mul64(uint64(info.Width), uint64(info.Height))
		if info.Width < 1 || info.Height < 1 || info.Width > bitmap.MaxSourceSide || info.Height > bitmap.MaxSourceSide || high != 0 || pixels > DefaultMaxPixels ||
			info.Memory() < int64(pixels) || info.Memory() > maxMemoryPerPixel*int64(pixels)+maxMemoryFree+257*int64(len(data)) ||
			info.Orientation < 1 || info.Orientation > 8 || info.Channels != 1 && info.Channels != 3 {
			t.Errorf("%+v", info)
		}
	})
}

// allocated is how many bytes were allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// FuzzDecode feeds anything to the decoders: pixels of the size announced, or an error that
// wraps a sentinel, and no more memory than the header says.
func FuzzDecode(f *testing.F) {
	seeds(f, "*.*")
	c, err := NewCodec(CodecOptions{MaxPixels: 1 << 18})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var im bitmap.Image
		before := allocated()
		info, err := c.Decode(&im, data, DecodeOptions{})
		// What readers, tables and blocks need in addition to pixels.
		if taken, most := allocated()-before, uint64(info.Memory()+8<<20)+300*uint64(len(data)); taken > most {
			t.Errorf("%s of %dx%d: %d bytes were allocated, want at most %d", info.Format, info.Width, info.Height, taken, most)
		}
		if err != nil {
			mustWrap(t, err)
			return
		}
		if w, h := info.Oriented(); im.Width != w || im.Height != h || im.Channels != info.Channels || len(im.Pix) != w*h*im.Channels {
			t.Errorf("%+v came out as %dx%dx%d", info, im.Width, im.Height, im.Channels)
		}
	})
}

func mustWrap(t *testing.T, err error) {
	t.Helper()
	for _, sentinel := range []error{sniff.ErrDamaged, sniff.ErrUnsupported, sniff.ErrTooManyPixels, sniff.ErrNotImage} {
		if errors.Is(err, sentinel) {
			return
		}
	}
	t.Errorf("%v wraps no sentinel", err)
}

// The most that decoding needs, as docs/security.md says: a number of bytes for each pixel, and
// some for the whole blocks of narrow JPEGs.
const (
	maxMemoryPerPixel = 24
	maxMemoryFree     = 32 << 20
)
