package rawpixels

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// parse returns the features of a record that states a size; values that are nil are left out.
func parse(t *testing.T, height, width, channels []int64) *tfrecord.Features {
	t.Helper()
	var b tfrecord.Builder
	for key, values := range map[string][]int64{imagekey.Height: height, imagekey.Width: width, imagekey.Channels: channels} {
		if values != nil {
			b.Int64(key, values...)
		}
	}
	e := new(tfrecord.Example)
	if err := e.Parse(b.Append(nil)); err != nil {
		t.Fatal(err)
	}
	return &e.Features
}

func TestOf(t *testing.T) {
	is := func(n ...int64) []int64 { return n }
	for name, c := range map[string]struct {
		height, width, channels []int64
		format                  string
		bytes                   int
		want                    string // of the error
		none                    bool   // it unwraps to ErrNoSize
	}{
		"gray":           {is(2), is(5), is(1), Uint8, 10, "", false},
		"colours":        {is(2), is(5), is(3), Uint8, 30, "", false},
		"floats":         {is(2), is(5), is(3), Float32, 120, "", false},
		"short":          {is(2), is(5), is(3), Uint8, 29, "29 bytes of raw samples are not 5 x 2 pixels of 3 channels", false},
		"multiple":       {is(2), is(5), is(3), Uint8, 60, "60 bytes of raw samples", false},
		"half a float":   {is(2), is(5), is(1), Float32, 42, "42 bytes of float32 samples", false},
		"bytes as float": {is(2), is(5), is(1), Float32, 10, "10 bytes of float32 samples", false},
		"empty":          {is(1), is(1), is(1), Uint8, 0, "0 bytes of raw samples are not 1 x 1 pixels of 1 channel", false},
		"channels":       {is(2), is(5), is(4), Uint8, 40, "image/channels is 4: want 1 or 3", false},
		"zero":           {is(0), is(5), is(3), Uint8, 0, "image/height is 0: want 1 or more", false},
		"negative":       {is(2), is(-5), is(3), Uint8, 30, "image/width is -5: want 1 or more", false},
		"overflow":       {is(1 << 32), is(1 << 31), is(2), Uint8, 0, "0 bytes of raw samples", false},
		"largest":        {is(math.MaxInt64), is(math.MaxInt64), is(1), Uint8, 1, "1 byte of raw samples", false},
		"missing":        {is(2), nil, is(3), Uint8, 30, "image/width is not one integer", true},
		"two":            {is(2, 2), is(5), is(3), Uint8, 30, "image/height is not one integer", true},
	} {
		s, err := Of(parse(t, c.height, c.width, c.channels), c.format, c.bytes)
		switch {
		case c.want == "":
			if want := (Size{int(c.height[0]), int(c.width[0]), int(c.channels[0])}); err != nil || s != want {
				t.Errorf("%s: %v, %v, want %v", name, s, err, want)
			}
		case err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNoSize) != c.none:
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestCheck compares with arithmetic that cannot overflow.
func TestCheck(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		draw := func() int { return 1 + rnd.IntN(1<<(1+rnd.IntN(40))) }
		s, format := Size{draw(), draw(), 1 + rnd.IntN(4)}, Uint8
		if rnd.IntN(2) == 0 {
			format = Float32
		}
		want := big.NewInt(int64(SampleBytes(format)))
		for _, n := range []int{s.Height, s.Width, s.Channels} {
			want.Mul(want, big.NewInt(int64(n)))
		}
		bytes := int(want.Int64()) // the low bits, if it overflows
		if rnd.IntN(2) == 0 {
			bytes += rnd.IntN(3)
		}
		if fits := want.Cmp(big.NewInt(int64(bytes))) == 0; (s.Check(format, bytes) == nil) != fits {
			t.Fatalf("%v of %s in %d bytes: %v, want %v", s, format, bytes, s.Check(format, bytes), fits)
		}
	}
}

func TestKeysFor(t *testing.T) {
	for key, want := range map[string]Keys{
		imagekey.Encoded:   Image,
		"left/eye/encoded": {"left/eye/height", "left/eye/width", "left/eye/channels"},
		"pixels":           {"height", "width", "channels"},
	} {
		if got := KeysFor(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestSampleBytes(t *testing.T) {
	for format, want := range map[string]int{Uint8: 1, Float32: 4, "jpeg": 0, "": 0, "RAW": 0} {
		if got := SampleBytes(format); got != want {
			t.Errorf("%q: %d, want %d", format, got, want)
		}
	}
}
