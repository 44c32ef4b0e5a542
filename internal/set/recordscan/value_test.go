package recordscan

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestIsText(t *testing.T) {
	long := strings.Repeat("x", textBytes-1)
	for text, want := range map[string]bool{
		"":                      true,
		"naïve":                 true,
		"a\x00b":                false,
		"\xff":                  false,
		long + "é":              true, // cut in the middle of the rune
		long + "x\xff":          true, // only the beginning is looked at
		long[1:] + "\xff" + "x": false,
	} {
		if got := IsText([]byte(text)); got != want {
			t.Errorf("%.20q of %d bytes: %v", text, len(text), got)
		}
	}
}

// Short values are checked by words.
func TestIsTextOfShortValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []string{"\x00", "\x01", "\x7f", "\x80", "\xff", "é", "\xe2\x82", "😀"}
	yes := 0
	for range 100_000 {
		x := bytes.Repeat([]byte{'a' + byte(rng.IntN(26))}, rng.IntN(shortText+10))
		for range rng.IntN(3) {
			x = append(x[:rng.IntN(len(x)+1)], append([]byte(odd[rng.IntN(len(odd))]), x[rng.IntN(len(x)+1):]...)...)
		}
		want := utf8.Valid(x) && bytes.IndexByte(x, 0) < 0
		if got := IsText(x); got != want {
			t.Fatalf("%q: %v, want %v", x, got, want)
		}
		if want {
			yes++
		}
	}
	if yes < 20_000 || yes > 80_000 {
		t.Errorf("%d of 100000 values are text", yes)
	}
}

func TestImageFormat(t *testing.T) {
	for data, want := range map[string]string{
		"\xff\xd8\xff\xe0":           "jpeg",
		"\x89PNG\r\n\x1a\n":          "png",
		"GIF89a":                     "gif",
		"RIFF\x04\x00\x00\x00WEBPVP": "webp",
		"RIFF\x04\x00\x00\x00WAVEfm": "",
		"II*\x00\x08\x00\x00\x00":    "tiff",
		"MM\x00*\x00\x00\x00\x08":    "tiff",
		"MM\x00\x00\x00\x00\x00\x08": "",
		"":                           "",
	} {
		if got := ImageFormat([]byte(data)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}

// Headers of BMPs are recognised whatever they say of the image; texts and random bytes that begin
// with BM are not BMPs.
func TestBMPDepth(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	le := binary.LittleEndian
	random := func(n int, text bool) []byte {
		b := make([]byte, n)
		for i := range b {
			if b[i] = byte(r.Uint32()); text {
				b[i] = ' ' + b[i]%('~'-' ')
			}
		}
		return b
	}
	for i := range 20_000 {
		b := append([]byte("BM"), random(r.IntN(200), i%2 == 0)...)
		if got := BMPDepth(b); got != 0 {
			t.Fatalf("%q has %d bits a pixel", b, got)
		}
		depth := []int{1, 2, 4, 8, 16, 24, 32}[r.IntN(7)]
		b = append([]byte("BM"), random(28+r.IntN(100), false)...)
		if size := []uint32{12, 40, 52, 56, 64, 108, 124}[r.IntN(7)]; size == 12 {
			le.PutUint32(b[14:], size)
			le.PutUint16(b[22:], 1)
			le.PutUint16(b[24:], uint16(depth))
		} else {
			le.PutUint32(b[14:], size)
			le.PutUint16(b[26:], 1)
			le.PutUint16(b[28:], uint16(depth))
		}
		if got := BMPDepth(b); got != depth || ImageFormat(b) != "bmp" {
			t.Fatalf("% x: %d bits a pixel, want %d", b, got, depth)
		}
		if got := BMPDepth(b[:r.IntN(30)]); got != 0 {
			t.Fatalf("a part of the header: %d", got)
		}
	}
}

func TestSpan(t *testing.T) {
	var s, none Span
	s.Merge(none)
	if s.Any {
		t.Errorf("of nothing: %+v", s)
	}
	for _, n := range []int64{3, -7, 5} {
		s.Add(n)
	}
	none.Merge(s)
	if want := (Span{-7, 5, true}); s != want || none != want {
		t.Errorf("%+v, merged %+v", s, none)
	}
}
