package jpeg

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"math/rand/v2"
	"os"
	"strings"
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

// mustEncodeEqual encodes an image of RGB, and as planes, of which it makes some of
// its bytes, by the own encoder and by another one.
func mustEncodeEqual(t *testing.T, reference encoder, pix []byte, w, h, quality int, sub Subsampling) {
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
		want, err2 := reference.append(nil, p, quality, sub)
		compare(fmt.Sprintf("format %d", format), got, want, err, err2)
	}
	if sub == SubGray {
		return
	}
	p := planesOf(t, pix, w, h, sub)
	got, err := ownEncoder{}.appendPlanes([]byte("before"), p, quality)
	want, err2 := reference.appendPlanes([]byte("before"), p, quality)
	compare("planes", got, want, err, err2)
}

// planesOf takes the bytes of w by h pixels of RGB for planes, with strides of their own.
func planesOf(t *testing.T, pix []byte, w, h int, sub Subsampling) *Planar {
	t.Helper()
	p := &Planar{Width: w, Height: h, Sampling: sub, Pix: [3][]byte{pix, pix[len(pix)/7:], pix[len(pix)/5:]}}
	for i := range p.Pix {
		p.Stride[i], _ = p.size(i)
		p.Stride[i] += i
	}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	return p
}

// goldenEncoded holds a line for each way to encode a part of a photograph with the hash of
// the file that libjpeg-turbo 2.1.5 wrote.
const goldenEncoded = "../../../testdata/jpeg/encoded.txt"

// TestGoldenEncoded compares with the hashes of what libjpeg-turbo wrote. Without assembly,
// too, the bytes are the same.
func TestGoldenEncoded(t *testing.T) {
	if *update {
		text := strings.Join(encodedLines(t, theirs(t)), "\n") + "\n"
		if err := os.WriteFile(goldenEncoded, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(string(read(t, goldenEncoded))), "\n")
	for how, e := range map[string]encoder{"as it is": ownEncoder{}, "without assembly": plainEncoder{}} {
		got := encodedLines(t, e)
		if len(got) != len(lines) {
			t.Fatalf("%d lines, want %d", len(lines), len(got))
		}
		for i, line := range got {
			if line != lines[i] {
				t.Errorf("%s: %s, libjpeg-turbo's is %s", how, line, lines[i])
			}
		}
	}
}

// encodedLines encodes parts of a photograph in many ways.
func encodedLines(t *testing.T, e encoder) (lines []string) {
	data := testImage(t, "../demo/photos/tulips/17324469461_2b318aff8d_m.jpg")
	pix := decodeWith(t, ownSet, data, Request{Format: RGB, Denom: 1})
	stride := header(t, data).Width * 3
	for _, size := range [][2]int{{1, 1}, {7, 9}, {16, 16}, {17, 31}, {47, 24}, {160, 128}} {
		w, h := size[0], size[1]
		for _, quality := range []int{1, 40, 75, 95, 100} {
			for sub := range SubGray + 1 {
				note := func(form string, out []byte, err error) {
					if err != nil {
						t.Fatal(err)
					}
					sum := sha256.Sum256(out)
					lines = append(lines, fmt.Sprintf("%dx%d q%d %v %s %x", w, h, quality, sub, form, sum[:6]))
				}
				p := Pixels{Pix: pix, Width: w, Height: h, Stride: stride, Format: RGB}
				out, err := e.append(nil, p, quality, sub)
				note("rgb", out, err)
				if sub < SubGray {
					out, err = e.appendPlanes(nil, planesOf(t, pix, w, h, sub), quality)
					note("planes", out, err)
					continue
				}
				p.Format = Gray
				out, err = e.append(nil, p, quality, sub)
				note("gray", out, err)
			}
		}
	}
	return lines
}

// The own encoder writes what libjpeg-turbo does: of images of all shapes and
// kinds, in all qualities and subsamplings.
func TestEncodeEqual(t *testing.T) {
	reference := theirs(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		w, h := 1+r.IntN(70), 1+r.IntN(70)
		pix := make([]byte, (3*w+r.IntN(5))*h+100)
		pix = pix[:len(pix)/h*h]
		randomSamples(r, pix)
		mustEncodeEqual(t, reference, pix, w, h, 1+r.IntN(100), Subsampling(i%5))
	}
}

// plainEncoder is the own encoder without assembly.
type plainEncoder struct{ ownEncoder }

func (e plainEncoder) append(dst []byte, p Pixels, quality int, sub Subsampling) (out []byte, err error) {
	withoutAssembly(func() { out, err = e.ownEncoder.append(dst, p, quality, sub) })
	return out, err
}

func (e plainEncoder) appendPlanes(dst []byte, p *Planar, quality int) (out []byte, err error) {
	withoutAssembly(func() { out, err = e.ownEncoder.appendPlanes(dst, p, quality) })
	return out, err
}

// The own encoder writes the same bytes with and without assembly, and those of
// libjpeg-turbo.
func FuzzEncodeEqual(f *testing.F) {
	f.Add([]byte("some of a row of pixels"), uint8(16), uint8(16), uint8(95), uint8(0))
	f.Add([]byte{0, 255, 255, 0, 128}, uint8(31), uint8(7), uint8(100), uint8(3))
	references := encoders()
	references["own"] = plainEncoder{}
	f.Fuzz(func(t *testing.T, some []byte, w, h, quality, sub uint8) {
		if len(some) == 0 || w == 0 || h == 0 {
			return
		}
		size := (3*int(w) + 10) * int(h)
		pix := bytes.Repeat(some, size/len(some)+1)[:size]
		for _, reference := range references {
			mustEncodeEqual(t, reference, pix, int(w), int(h), 1+int(quality)%100, Subsampling(sub%5))
		}
	})
}

// BenchmarkAppendPlanes encodes 224x224 pixels at quality 95, 4:2:0, from planes.
func BenchmarkAppendPlanes(b *testing.B) {
	data := read(b, mustGlob(b, "../../../testdata/demo/photos/*/*.jpg"))
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
