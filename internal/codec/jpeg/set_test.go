package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// decodeWith decodes a sound image.
func decodeWith(tb testing.TB, s *Set, data []byte, r Request) []byte {
	tb.Helper()
	h := header(tb, data)
	w, ht := h.Scaled(r.Denom)
	pix := make([]byte, w*ht*r.Format.Bytes())
	if err := s.Decode(pix, w*r.Format.Bytes(), data, h, r); err != nil {
		tb.Fatal(err)
	}
	return pix
}

// distance is the largest and the root mean square difference of two images.
func distance(a, b []byte) (largest int, rms float64) {
	sum := 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		largest = max(largest, d, -d)
		sum += d * d
	}
	return largest, math.Sqrt(float64(sum) / float64(len(a)))
}

// TestPixelsAgree compares the backends. They round their inverse cosine transforms in
// different ways, and odd samplings are enlarged in different ways.
func TestPixelsAgree(t *testing.T) {
	sets := backends(t)
	names := append([]string{
		"made-1x1.jpg", "made-2x3.jpg", "made-7x9.jpg", "made-15x33.jpg", "made-17x16.jpg", "made-1x1-gray.jpg",
		"made-component-ids-rgb.jpg", "made-cmyk-no-adobe.jpg", "made-dht-missing.jpg", "go-video-001.cmyk.jpeg",
		"go-video-001.221212.jpeg", "go-video-001.rgb.jpeg", "zune-weird_sampling_2.jpeg", "jpegdecoder-16bit-qtables.jpg",
	}, sound...)
	for _, name := range names {
		data := testImage(t, name)
		h := header(t, data)
		for _, format := range []Format{Gray, RGB} {
			r := Request{Format: format, Denom: 1}
			pixels := map[string][]byte{}
			for backend, s := range sets {
				if s.Supports(h) == nil {
					pixels[backend] = decodeWith(t, s, data, r)
				}
			}
			if pixels["own"] == nil {
				t.Errorf("%s: the own decoder does not read it", name)
			}
			limit := 0.6
			if (h.Width+h.Height < 20 || strings.Contains(name, "221212") || strings.Contains(name, "video-001.rgb")) && h.Components[0].H > 1 {
				limit = 10 // chroma planes enlarged otherwise
			} else if h.ColorSpace == ColorYCCK || strings.Contains(name, "quality-1.") || h.SOF == markerSOF2 {
				limit = 1.1
			}
			for a, pa := range pixels {
				for b, pb := range pixels {
					if a >= b {
						continue
					}
					if largest, rms := distance(pa, pb); rms > limit {
						t.Errorf("%s in format %d: %s and %s differ by %.2f on average, %d at most", name, format, a, b, rms, largest)
					}
				}
			}
		}
	}
}

// TestReduced compares images decoded at 1/2, 1/4 and 1/8 with the mean of the pixels that
// each of theirs stands for.
func TestReduced(t *testing.T) {
	set := ownSet
	for _, name := range []string{"made-ok-160x88.jpg", "made-ok-progressive.jpg", "made-gray.jpg", "made-15x33.jpg", "made-cmyk-adobe.jpg", "made-quality-100.jpg", "go-video-001.q50.422.jpeg"} {
		data := testImage(t, name)
		h := header(t, data)
		full := decodeWith(t, set, data, Request{Format: RGB, Denom: 1})
		for _, denom := range []int{2, 4, 8} {
			if !set.Reduces(h, RGB, denom) {
				t.Fatalf("%s: no 1/%d", name, denom)
			}
			small := decodeWith(t, set, data, Request{Format: RGB, Denom: denom})
			if _, rms := distance(small, boxed(full, h.Width, h.Height, denom)); rms > 7 {
				t.Errorf("%s at 1/%d is %.1f off", name, denom, rms)
			}
		}
	}
}

// boxed is the mean of squares of RGB pixels, smaller ones at the right and lower edges.
func boxed(pix []byte, w, h, side int) []byte {
	var out []byte
	for y := 0; y < h; y += side {
		for x := 0; x < w; x += side {
			for c := range 3 {
				sum, n := 0, 0
				for j := y; j < min(h, y+side); j++ {
					for i := x; i < min(w, x+side); i++ {
						sum += int(pix[(j*w+i)*3+c])
						n++
					}
				}
				out = append(out, byte((sum+n/2)/n))
			}
		}
	}
	return out
}

// TestUnsupported asks the decoders in Go for codings that they lack.
func TestUnsupported(t *testing.T) {
	set, err := Open(Go)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ljt-testimgari.jpg", "ljt-monkey12.jpg", "jpegdecoder-jpeg_lossless_sel1.jpg", "made-precision-12.jpg"} {
		data := testImage(t, name)
		h := header(t, data)
		says := "no decoder here reads"
		if h.Arithmetic() {
			says = "CodecOptions.AllowArithmetic"
		}
		for _, allowed := range []bool{false, true} {
			if set.Arithmetic = allowed; allowed {
				says = "no decoder here reads"
			}
			if err := set.Supports(h); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want it to say %q", name, err, says)
			}
			err := set.Decode(make([]byte, h.Width*h.Height*3), h.Width*3, data, h, Request{Format: RGB, Denom: 1})
			if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want it to say %q", name, err, says)
			}
		}
	}
}

// panicky is a decoder that breaks down, before one that works.
type panicky struct{ stdDecoder }

func (panicky) name() string { return "panicky" }
func (panicky) decode([]byte, int, []byte, *Header, Request) error {
	var none []byte
	none[0] = 1
	return nil
}

func TestNextBackendAsked(t *testing.T) {
	data := testImage(t, "made-ok-160x88.jpg")
	want := decodeWith(t, &Set{decoders: []decoder{stdDecoder{}}}, data, Request{Format: RGB, Denom: 1})
	got := decodeWith(t, &Set{decoders: []decoder{panicky{}, stdDecoder{}}}, data, Request{Format: RGB, Denom: 1})
	if !bytes.Equal(got, want) {
		t.Error("another image came")
	}
	h := header(t, data)
	err := (&Set{decoders: []decoder{panicky{}}}).Decode(got, h.Width*3, data, h, Request{Format: RGB, Denom: 1})
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "crashed") {
		t.Errorf("%v", err)
	}
}

// TestManyAtOnce decodes and encodes in parallel: handles are not to be shared.
func TestManyAtOnce(t *testing.T) {
	set, err := Open(Auto)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"made-ok-160x88.jpg", "made-ok-progressive.jpg", "made-cmyk-adobe.jpg", "made-gray.jpg"}
	var wants [][]byte
	for _, name := range names {
		wants = append(wants, decodeWith(t, set, testImage(t, name), Request{Format: RGB, Denom: 1}))
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 10 {
				k := (i + j) % len(names)
				data := testImage(t, names[k])
				h := header(t, data)
				pix := make([]byte, len(wants[k]))
				if err := set.Decode(pix, h.Width*3, data, h, Request{Format: RGB, Denom: 1}); err != nil {
					t.Error(err)
				}
				if !bytes.Equal(pix, wants[k]) {
					t.Errorf("%s: another image came", names[k])
				}
				if _, err := set.Append(nil, Pixels{Pix: pix, Width: h.Width, Height: h.Height, Stride: h.Width * 3, Format: RGB}, 90, Sub420); err != nil {
					t.Error(err)
				}
				if i == 0 {
					runtime.GC()
				}
			}
		})
	}
	group.Wait()
}

func TestAppend(t *testing.T) {
	data := testImage(t, "made-ok-160x88.jpg")
	h := header(t, data)
	for backend, s := range backends(t) {
		pix := decodeWith(t, s, data, Request{Format: RGB, Denom: 1})
		// An image in the middle of a wider one, of odd size.
		const w, ht = 101, 77
		p := Pixels{Pix: pix[3*20:], Width: w, Height: ht, Stride: h.Width * 3, Format: RGB}
		var want []byte
		for y := range ht {
			want = append(want, p.Pix[y*p.Stride:][:3*w]...)
		}
		for sub, c := range map[Subsampling][2]int{Sub420: {2, 2}, Sub422: {2, 1}, Sub444: {1, 1}, Sub440: {1, 2}, SubGray: {1, 1}} {
			out, err := s.Append([]byte("before"), p, 95, sub)
			if err != nil || !bytes.HasPrefix(out, []byte("before")) {
				t.Fatalf("%s, %v: %v", backend, sub, err)
			}
			out = out[len("before"):]
			g := header(t, out)
			if g.Width != w || g.Height != ht || g.Components[0].H != c[0] || g.Components[0].V != c[1] || (sub == SubGray) != (g.N == 1) {
				t.Errorf("%s, %v: %+v", backend, sub, g)
			}
			if err := Check(out, g); err != nil {
				t.Errorf("%s, %v: %v", backend, sub, err)
			}
			if _, rms := distance(decodeWith(t, s, out, Request{Format: RGB, Denom: 1}), want); sub != SubGray && rms > 8 {
				t.Errorf("%s, %v: %.1f off", backend, sub, rms)
			}
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	set, err := Open(Auto)
	if err != nil {
		t.Fatal(err)
	}
	pix := make([]byte, 300)
	for _, p := range []Pixels{
		{Pix: pix, Width: 0, Height: 10, Stride: 30, Format: RGB},
		{Pix: pix, Width: 10, Height: 11, Stride: 30, Format: RGB},
		{Pix: pix, Width: 10, Height: 10, Stride: 29, Format: RGB},
		{Pix: pix, Width: 70000, Height: 1, Stride: 70000, Format: Gray},
	} {
		if _, err := set.Append(nil, p, 90, Sub420); err == nil {
			t.Errorf("%dx%d was written", p.Width, p.Height)
		}
	}
	for _, quality := range []int{0, 101} {
		if _, err := set.Append(nil, Pixels{Pix: pix, Width: 10, Height: 10, Stride: 30, Format: RGB}, quality, Sub420); err == nil {
			t.Errorf("quality %d was taken", quality)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Setenv("TFREC_NO_TURBO", "1")
	set, err := Open(Auto)
	if err != nil || set.Decoder() != "tfrec 1" || set.Encoder() != "tfrec 1" {
		t.Errorf("%v, %s, %s", err, set.Decoder(), set.Encoder())
	}
	if set, err := Open(Turbo); err == nil {
		want := set.Decoder()
		if encodesFaster() {
			want = "tfrec 1"
		}
		if !strings.HasPrefix(set.Decoder(), "libjpeg-turbo ") || set.Encoder() != want {
			t.Errorf("%s, %s", set.Decoder(), set.Encoder())
		}
	} else if loadsNone := strings.Contains(err.Error(), "loads no libraries"); loadsNone == strings.Contains(err.Error(), "apt install libturbojpeg0") {
		t.Errorf("%v: want how to install libjpeg-turbo where it would be loaded, and only there", err)
	}
	for name := range subsamplings {
		if s, err := ParseSubsampling(fmt.Sprint(Subsampling(name))); err != nil || int(s) != name {
			t.Errorf("%v, %v", s, err)
		}
	}
	if _, err := ParseSubsampling("411"); err == nil {
		t.Error("411 was taken")
	}
}
