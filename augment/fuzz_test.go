package augment

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// seeds adds the small ones of the odd pictures.
func seeds(f *testing.F) {
	files, err := filepath.Glob("../testdata/pictures/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) <= 8<<10 {
			f.Add(data)
		}
	}
}

// FuzzStat feeds anything to the sniffer and the header parsers.
func FuzzStat(f *testing.F) {
	seeds(f)
	c, err := NewCodec(CodecOptions{Decoder: "go"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := c.Stat(data)
		if info.Format != Sniff(data) {
			t.Errorf("%q and %q", info.Format, Sniff(data))
		}
		if err != nil {
			mustWrap(t, err)
			return
		}
		if info.Width < 1 || info.Height < 1 || int64(info.Width)*int64(info.Height) > DefaultMaxPixels ||
			info.Orientation < 1 || info.Orientation > 8 || info.Channels != 1 && info.Channels != 3 {
			t.Errorf("%+v", info)
		}
	})
}

// FuzzDecode feeds anything to the decoders: pixels of the size announced, or an error that
// wraps a sentinel.
func FuzzDecode(f *testing.F) {
	seeds(f)
	c, err := NewCodec(CodecOptions{MaxPixels: 1 << 18})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var im Image
		info, err := c.Decode(&im, data, DecodeOptions{})
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
	for _, sentinel := range []error{ErrDamaged, ErrUnsupported, ErrTooManyPixels, ErrNotPicture} {
		if errors.Is(err, sentinel) {
			return
		}
	}
	t.Errorf("%v wraps no sentinel", err)
}
