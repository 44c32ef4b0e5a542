package jpeg

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

var planarImages = map[string]Subsampling{
	"../demo/photos/tulips/17324469461_2b318aff8d_m.jpg": Sub444,
	"made-ok-160x88.jpg": Sub420, "made-ok-progressive.jpg": Sub420, "made-rst.jpg": Sub420,
	"made-1x1.jpg": Sub420, "made-2x3.jpg": Sub420, "made-7x9.jpg": Sub420, "made-15x33.jpg": Sub420, "made-17x16.jpg": Sub420,
	"go-video-001.q50.422.jpeg": Sub422, "go-video-001.q50.440.jpeg": Sub440, "go-video-001.q50.444.progressive.jpeg": Sub444,
	"made-dht-missing.jpg": Sub420,
}

// planesWith decodes the planes of a sound image.
func planesWith(tb testing.TB, s *Set, data []byte, denom int) *Planar {
	tb.Helper()
	p := new(Planar)
	if err := s.DecodePlanes(p, data, header(tb, data), Request{Denom: denom}); err != nil {
		tb.Fatal(err)
	}
	if err := p.check(); err != nil {
		tb.Fatal(err)
	}
	return p
}

// rgb converts planes as Decode does.
func (p *Planar) rgb() []byte {
	pix := make([]byte, p.Width*p.Height*3)
	p.RGB(pix, p.Width*3)
	return pix
}

// TestPlanes compares the planes, converted, with what the same backend decodes to RGB.
func TestPlanes(t *testing.T) {
	for backend, s := range backends(t) {
		for name, sub := range planarImages {
			data := testImage(t, name)
			h := header(t, data)
			if s.Supports(h) != nil {
				continue
			}
			if got, ok := s.Planes(h); !ok || got != sub {
				t.Errorf("%s, %s: planes %v, %v", backend, name, got, ok)
				continue
			}
			p := planesWith(t, s, data, 1)
			if p.Width != h.Width || p.Height != h.Height || p.Sampling != sub {
				t.Errorf("%s, %s: %dx%d, %v", backend, name, p.Width, p.Height, p.Sampling)
			}
			p.mustHoldLuma(t, s, data, 1)
			want := decodeWith(t, s, data, Request{Format: RGB, Denom: 1})
			if largest, rms := distance(p.rgb(), want); rms > 0.5 && h.Width*h.Height > 100 || largest > 12 {
				t.Errorf("%s, %s: %.2f off on average, %d at most", backend, name, rms, largest)
			}
		}
	}
}

// mustHoldLuma: the luma is what the same backend decodes to grayscale, to the edge.
func (p *Planar) mustHoldLuma(t *testing.T, s *Set, data []byte, denom int) {
	t.Helper()
	want := decodeWith(t, s, data, Request{Format: Gray, Denom: denom})
	for y := range p.Height {
		if !bytes.Equal(p.Pix[0][y*p.Stride[0]:][:p.Width], want[y*p.Width:][:p.Width]) {
			t.Errorf("%dx%d at 1/%d: row %d of the luma is another than in grayscale", p.Width, p.Height, denom, y)
			return
		}
	}
}

func TestPlanesRefused(t *testing.T) {
	for backend, s := range backends(t) {
		for _, name := range []string{
			"made-gray.jpg", "made-cmyk-adobe.jpg", "made-ycck-adobe.jpg", "made-adobe-rgb-transform-0.jpg", "made-component-ids-rgb.jpg",
			"go-video-001.q50.410.jpeg", "go-video-001.221212.jpeg", "zune-weird_sampling_2.jpeg", "ljt-testimgari.jpg",
		} {
			data := testImage(t, name)
			h := header(t, data)
			if sub, ok := s.Planes(h); ok {
				t.Errorf("%s, %s: has planes, %v", backend, name, sub)
			}
			if err := s.DecodePlanes(new(Planar), data, h, Request{Denom: 1}); err == nil {
				t.Errorf("%s, %s: planes came", backend, name)
			}
		}
	}
}

// TestPlanesReduced compares planes decoded at 1/2, 1/4 and 1/8 with the means of those at full
// size.
func TestPlanesReduced(t *testing.T) {
	s := ownSet
	for name := range planarImages {
		data := testImage(t, name)
		h := header(t, data)
		full := planesWith(t, s, data, 1)
		for _, denom := range []int{2, 4, 8} {
			small := planesWith(t, s, data, denom)
			if w, ht := h.Scaled(denom); small.Width != w || small.Height != ht {
				t.Fatalf("%s at 1/%d: %dx%d", name, denom, small.Width, small.Height)
			}
			small.mustHoldLuma(t, s, data, denom)
			for i := range small.Pix {
				w, ht := small.size(i)
				fw, fh := full.size(i)
				var got, want []byte
				for y := range fh / denom { // whole squares only
					for x := range fw / denom {
						sum := denom * denom / 2
						for j := range denom {
							for k := range denom {
								sum += int(full.Pix[i][(y*denom+j)*full.Stride[i]+x*denom+k])
							}
						}
						want = append(want, byte(sum/(denom*denom)))
						got = append(got, small.Pix[i][y*small.Stride[i]+x])
					}
				}
				if len(got) == 0 {
					continue
				}
				if _, rms := distance(got, want); rms > 7 {
					t.Errorf("%s at 1/%d: plane %d of %dx%d is %.1f off", name, denom, i, w, ht, rms)
				}
			}
		}
	}
}

// brokenPlanes is a decoder that breaks down over planes.
type brokenPlanes struct{ stdDecoder }

func (brokenPlanes) decodePlanes(*Planar, []byte, *Header, Request) error { panic("no") }

func TestPlanesNextBackendAsked(t *testing.T) {
	data := testImage(t, "made-ok-160x88.jpg")
	want := planesWith(t, &Set{decoders: []decoder{stdDecoder{}}}, data, 1)
	got := planesWith(t, &Set{decoders: []decoder{brokenPlanes{}, stdDecoder{}}}, data, 1)
	if !bytes.Equal(got.rgb(), want.rgb()) {
		t.Error("another image came")
	}
	err := (&Set{decoders: []decoder{brokenPlanes{}}}).DecodePlanes(got, data, header(t, data), Request{Denom: 1})
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "crashed") {
		t.Errorf("%v", err)
	}
	// An image without quantisation tables must not be read with those of the image before it.
	table := bytes.Index(data, []byte{0xFF, markerDQT})
	n := 2 + int(data[table+2])<<8 + int(data[table+3])
	bare := append(bytes.Clone(data[:table]), data[table+n:]...)
	if Check(bare, header(t, bare)) == nil {
		t.Error("an image without quantisation tables passed the check")
	}
}

// TestAppendPlanes encodes part of an image, of odd size, and reads it back.
func TestAppendPlanes(t *testing.T) {
	data := testImage(t, "go-video-001.q50.444.progressive.jpeg")
	for backend, s := range backends(t) {
		full := planesWith(t, s, data, 1)
		for sub := range SubGray {
			p := *full
			p.Width, p.Height, p.Sampling = 101, 77, sub
			for i := range p.Pix { // what chroma it has does not matter
				p.Pix[i] = full.Pix[i][3:]
			}
			out, err := s.AppendPlanes([]byte("before"), &p, 95)
			if err != nil || !bytes.HasPrefix(out, []byte("before")) {
				t.Fatalf("%s, %v: %v", backend, sub, err)
			}
			out = out[len("before"):]
			h := header(t, out)
			if err := Check(out, h); err != nil {
				t.Fatal(err)
			}
			back := planesWith(t, s, out, 1)
			if back.Width != 101 || back.Height != 77 || back.Sampling != sub {
				t.Fatalf("%s, %v: %dx%d, %v came back", backend, sub, back.Width, back.Height, back.Sampling)
			}
			for i := range p.Pix {
				w, ht := p.size(i)
				var got, want []byte
				for y := range ht {
					got = append(got, back.Pix[i][y*back.Stride[i]:][:w]...)
					want = append(want, p.Pix[i][y*p.Stride[i]:][:w]...)
				}
				if _, rms := distance(got, want); rms > 2 {
					t.Errorf("%s, %v: plane %d is %.1f off", backend, sub, i, rms)
				}
			}
		}
	}
}

// TestAppendPlanesEdge: padding after the rows does not get into the image.
func TestAppendPlanesEdge(t *testing.T) {
	for backend, s := range backends(t) {
		for sub := range SubGray {
			p := &Planar{Width: 23, Height: 17, Sampling: sub}
			for i := range p.Pix {
				w, ht := p.size(i)
				p.Stride[i] = 30
				p.Pix[i] = bytes.Repeat([]byte{255}, 30*(ht+3))
				for y := range ht {
					copy(p.Pix[i][30*y:], bytes.Repeat([]byte{20}, w))
				}
			}
			out, err := s.AppendPlanes(nil, p, 50)
			if err != nil {
				t.Fatal(err)
			}
			back := planesWith(t, s, out, 1)
			for y := range back.Height {
				for x, v := range back.Pix[0][y*back.Stride[0]:][:back.Width] {
					if v < 16 || v > 24 {
						t.Fatalf("%s, %v: %d at %d,%d", backend, sub, v, x, y)
					}
				}
			}
		}
	}
}

// TestPlanesOddSizes: a library that thinks luma planes even must find room for that.
func TestPlanesOddSizes(t *testing.T) {
	data := testImage(t, "go-video-001.q50.444.progressive.jpeg")
	for backend, s := range backends(t) {
		full := planesWith(t, s, data, 1)
		for _, size := range [][2]int{{31, 31}, {47, 16}, {16, 47}, {95, 63}, {1, 99}, {99, 1}} {
			p := *full
			p.Width, p.Height, p.Sampling = size[0], size[1], Sub420
			out, err := s.AppendPlanes(nil, &p, 95)
			if err != nil {
				t.Fatal(err)
			}
			h := header(t, out)
			for _, denom := range []int{1, 2, 4, 8} {
				if !s.Reduces(h, RGB, denom) {
					continue
				}
				const guard = 170
				w, ht := h.Scaled(denom)
				even := (w + 1) / 2 * 2 * ((ht + 1) / 2 * 2)
				var back Planar
				for i := range back.Pix {
					back.Pix[i] = bytes.Repeat([]byte{guard}, even+200)[:0]
				}
				room := back.Pix
				if err := s.DecodePlanes(&back, out, h, Request{Denom: denom}); err != nil {
					t.Fatalf("%s, %v: %v", backend, size, err)
				}
				back.mustHoldLuma(t, s, out, denom)
				for i, pix := range back.Pix {
					if &pix[0] != &room[i][:1][0] {
						continue // it needed more
					}
					if bytes.Trim(pix[len(pix):cap(pix)], string([]byte{guard})) != nil {
						t.Errorf("%s, %v at 1/%d: more than plane %d was written", backend, size, denom, i)
					}
				}
			}
		}
	}
}

func TestAppendPlanesRefuses(t *testing.T) {
	data := testImage(t, "made-ok-160x88.jpg")
	for backend, s := range backends(t) {
		for name, corrupt := range map[string]func(p *Planar) int{
			"quality":     func(*Planar) int { return 101 },
			"few bytes":   func(p *Planar) int { p.Pix[2] = p.Pix[2][:10]; return 90 },
			"stride":      func(p *Planar) int { p.Stride[1] = 3; return 90 },
			"size":        func(p *Planar) int { p.Width = 0; return 90 },
			"long":        func(p *Planar) int { p.Width = 65501; return 90 },
			"subsampling": func(p *Planar) int { p.Sampling = SubGray; return 90 },
		} {
			p := planesWith(t, s, data, 1)
			quality := corrupt(p)
			if out, err := s.AppendPlanes(nil, p, quality); err == nil || out != nil {
				t.Errorf("%s: with wrong %s it came to %d bytes", backend, name, len(out))
			}
		}
	}
}

// BenchmarkDecodePlanes is BenchmarkDecode without RGB.
func BenchmarkDecodePlanes(b *testing.B) {
	list, headers, n := photographs(b)
	for name, s := range backends(b) {
		b.Run(name, func(b *testing.B) {
			var p Planar
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				for i, data := range list {
					if err := s.DecodePlanes(&p, data, headers[i], Request{Denom: 1}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
