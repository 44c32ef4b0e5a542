package jpeg

import (
	"bytes"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"math/rand/v2"
	"testing"
)

// theirs is libjpeg-turbo, the judge of the own encoder.
func theirs(tb testing.TB) *turbo {
	tb.Helper()
	t, err := loadTurbo()
	if err != nil {
		tb.Skip(err)
	}
	return t
}

// mustEncodeAlike encodes a picture of RGB, and as planes, of which it makes some of
// its bytes, by the own encoder and by libjpeg-turbo.
func mustEncodeAlike(t *testing.T, judge *turbo, pix []byte, w, h, quality int, sub Subsampling) {
	t.Helper()
	compare := func(what string, got, want []byte, errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Fatalf("%s, %dx%d, quality %d, %v: %d bytes, want %d, other ones from %d on", what, w, h, quality, sub, len(got), len(want), at)
		}
	}
	stride := len(pix) / h
	for _, format := range []Format{RGB, Gray} {
		p := Pixels{Pix: pix, Width: w, Height: h, Stride: stride, Format: format}
		got, err := ownEncoder{}.append(nil, p, quality, sub)
		want, err2 := judge.append(nil, p, quality, sub)
		compare(fmt.Sprintf("format %d", format), got, want, err, err2)
	}
	if sub == SubGray {
		return
	}
	p := &Planar{Width: w, Height: h, Sampling: sub, Pix: [3][]byte{pix, pix[len(pix)/7:], pix[len(pix)/5:]}}
	for i := range p.Pix {
		p.Stride[i], _ = p.size(i)
		p.Stride[i] += i
	}
	if p.check() != nil {
		t.Fatal(p.check())
	}
	got, err := ownEncoder{}.appendPlanes([]byte("before"), p, quality)
	want, err2 := judge.appendPlanes([]byte("before"), p, quality)
	compare("planes", got, want, err, err2)
}

// The own encoder writes what libjpeg-turbo does: of pictures of all shapes and
// kinds, in all qualities and subsamplings.
func TestEncodeAlike(t *testing.T) {
	judge := theirs(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		w, h := 1+r.IntN(70), 1+r.IntN(70)
		pix := make([]byte, (3*w+r.IntN(5))*h+100)
		pix = pix[:len(pix)/h*h]
		randomSamples(r, pix)
		mustEncodeAlike(t, judge, pix, w, h, 1+r.IntN(100), Subsampling(i%5))
	}
}

// BenchmarkAppendPlanes encodes 224x224 pixels at quality 95, 4:2:0, from planes.
func BenchmarkAppendPlanes(b *testing.B) {
	data := read(b, mustGlob(b, "../../testdata/demo/photos/*/*.jpg"))
	p := planesWith(b, ownSet, data, 1)
	p.Width, p.Height, p.Sampling = 224, 224, Sub420
	for name, e := range encoders() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(224 * 224 * 3 / 2)
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				var err error
				if out, err = e.appendPlanes(out[:0], p, 95); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("std", func(b *testing.B) {
		m := &image.YCbCr{
			Y: p.Pix[0], Cb: p.Pix[1], Cr: p.Pix[2], YStride: p.Stride[0], CStride: p.Stride[1],
			SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, p.Width, p.Height),
		}
		b.SetBytes(224 * 224 * 3 / 2)
		b.ReportAllocs()
		var out bytes.Buffer
		for b.Loop() {
			out.Reset()
			if err := stdjpeg.Encode(&out, m, &stdjpeg.Options{Quality: 95}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// encoders are those that can be opened.
func encoders() map[string]encoder {
	list := map[string]encoder{"own": ownEncoder{}}
	if t, err := loadTurbo(); err == nil {
		list["turbo"] = t
	}
	return list
}
