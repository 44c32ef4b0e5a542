package augment

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// noisyPlanes are planes of random samples, rows a few bytes apart.
func noisyPlanes(w, h, denom int, subsampling string, gap int) *Planes {
	p := &Planes{Subsampling: subsampling, Width: w, Height: h, Denom: denom}
	sub, err := p.sampling()
	if err != nil {
		panic(err)
	}
	yw, yh := (w+denom-1)/denom, (h+denom-1)/denom
	cw, ch := sub.ChromaSize(yw, yh)
	p.Y, p.Cb, p.Cr = *spaced(noise(yw, yh, 1), gap), *spaced(noise(cw, ch, 1), gap), *spaced(noise(ch, cw, 1), gap)
	p.Cr.Width, p.Cr.Height, p.Cr.Stride = cw, ch, cw
	return p
}

var subsamplings = []string{"420", "422", "440", "444"}

// anySpec is a spec of any kind that planes can follow.
func anySpec(r *rand.Rand) ResizeSpec {
	s := ResizeSpec{
		Width: 1 + r.IntN(90), Height: 1 + r.IntN(90), Fit: Fit(r.IntN(len(fitNames))), NoUpscale: r.IntN(3) == 0,
		Filter: [...]Filter{Bilinear, Area, Bicubic, Lanczos3}[r.IntN(4)], NoAntialias: !(r.IntN(4) > 0),
		PadColor: [3]uint8{uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256))},
	}
	if r.IntN(4) == 0 {
		s.Square, s.Width, s.Height, s.Fit = s.Width, 0, 0, Stretch
	}
	return s
}

// TestRenderPlanesLuma: the luma, and all planes at 444, are resized as grayscale images are,
// but for a level or two where the passes come in another order.
func TestRenderPlanesLuma(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		s := anySpec(r)
		src := noisyPlanes(1+r.IntN(120), 1+r.IntN(120), 1, "444", r.IntN(5))
		for _, im := range src.images() {
			for i, v := range im.Pix {
				im.Pix[i] = 96 + v/4 // what doesn't overshoot isn't clipped between the passes
			}
		}
		g := s.Geometry(src.Width, src.Height)
		tolerance := 0
		if !s.NoAntialias && g.WindowHeight < src.Height {
			tolerance = 2
		}
		var dst Planes
		if err := s.RenderPlanes(&dst, src, g, "444", nil); err != nil {
			t.Fatalf("%+v of %dx%d: %v", s, src.Width, src.Height, err)
		}
		if dst.Width != g.Width || dst.Height != g.Height || dst.Denom != 1 || dst.check() != nil {
			t.Fatalf("%+v of %dx%d: %dx%d, %v", s, src.Width, src.Height, dst.Width, dst.Height, dst.check())
		}
		for i, im := range dst.images() {
			var want Image
			gray := s
			color := planesColor(s.PadColor)[i]
			gray.PadColor = [3]uint8{color, color, color}
			if err := gray.Render(&want, src.images()[i], g, nil); err != nil {
				t.Fatal(err)
			}
			for j, v := range im.Pix {
				if d := int(v) - int(want.Pix[j]); max(d, -d) > tolerance {
					t.Fatalf("%+v of %dx%d: plane %d has other bytes than a gray image", s, src.Width, src.Height, i)
				}
			}
		}
	}
}

// TestRenderPlanesMeans: a chroma sample is the mean of the pixels that it stands for, those of
// the padding included and those beyond the edge left out.
func TestRenderPlanesMeans(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		s := anySpec(r)
		if s.Filter == Bicubic || s.Filter == Lanczos3 {
			s.Filter = Bilinear // the others overshoot and are clipped before the mean is taken
		}
		src := noisyPlanes(1+r.IntN(120), 1+r.IntN(120), 1<<r.IntN(4), subsamplings[r.IntN(4)], r.IntN(5))
		g := s.Geometry(src.Width, src.Height)
		subsampling := subsamplings[r.IntN(3)]
		var full, dst Planes
		if err := s.RenderPlanes(&full, src, g, "444", nil); err != nil {
			t.Fatal(err)
		}
		if err := s.RenderPlanes(&dst, src, g, subsampling, nil); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst.Y.Pix, full.Y.Pix) {
			t.Fatalf("%+v: the luma depends on the subsampling of the chroma", s)
		}
		sub, _ := dst.sampling()
		fx, fy := sub.Factors()
		for i := 1; i < 3; i++ {
			got, pixels := dst.images()[i], full.images()[i]
			for y := range got.Height {
				for x := range got.Width {
					sum, n := 0.0, 0.0
					for py := y * fy; py < min((y+1)*fy, pixels.Height); py++ {
						for px := x * fx; px < min((x+1)*fx, pixels.Width); px++ {
							sum += float64(pixels.Row(py)[px])
							n++
						}
					}
					if v := float64(got.Row(y)[x]); math.Abs(v-sum/n) > 2 {
						t.Fatalf("%+v of %dx%d %s at 1/%d to %s: plane %d at %d,%d is %.0f, the mean of its pixels %.1f",
							s, src.Width, src.Height, src.Subsampling, src.Denom, subsampling, i, x, y, v, sum/n)
					}
				}
			}
		}
	}
}

// TestRenderPlanesSiting: where chroma and luma both hold the place that they stand for, they
// do so afterwards, whatever the subsamplings, the reduction, the crop and the padding.
func TestRenderPlanesSiting(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(7, 8))
	const slope = 0.5 // levels a pixel: places up to 500
	for range 300 {
		s := anySpec(r)
		s.Width, s.Height, s.Square = 20+r.IntN(100), 20+r.IntN(100), 0
		if s.Filter == Area {
			s.Filter = Bilinear // where Area enlarges there are steps
		}
		w, h := 150+r.IntN(330), 150+r.IntN(330)
		src := noisyPlanes(w, h, 1<<r.IntN(3), subsamplings[r.IntN(4)], 0)
		// place fills a plane whose samples each represent several pixels.
		place := func(im *Image, fx, fy int, down bool) {
			for y := range im.Height {
				for x := range im.Width {
					v := (float64(x) + 0.5) * float64(fx*src.Denom)
					if down {
						v = (float64(y) + 0.5) * float64(fy*src.Denom)
					}
					im.Row(y)[x] = uint8(min(v*slope+0.5, 255))
				}
			}
		}
		from, _ := src.sampling()
		fx, fy := from.Factors()
		place(&src.Y, 1, 1, false)
		place(&src.Cb, fx, fy, false)
		place(&src.Cr, fx, fy, true)
		g := s.Geometry(w, h)
		to := subsamplings[r.IntN(4)]
		var dst Planes
		if err := s.RenderPlanes(&dst, src, g, to, nil); err != nil {
			t.Fatal(err)
		}
		sub, _ := dst.sampling()
		for i, im := range dst.images() {
			tx, ty := 1, 1
			if i > 0 {
				tx, ty = sub.Factors()
			}
			for y := range im.Height {
				for x := range im.Width {
					// The place in the source of the middle of the pixels of this sample, of which
					// there may be fewer at the edge.
					px := float64(x*tx+min((x+1)*tx, g.Width))/2 - float64(g.PadX) + float64(g.CropX)
					py := float64(y*ty+min((y+1)*ty, g.Height))/2 - float64(g.PadY) + float64(g.CropY)
					px, py = px*float64(w)/float64(g.ScaledWidth), py*float64(h)/float64(g.ScaledHeight)
					margin := 16 + 6*float64(max(w/g.ScaledWidth, h/g.ScaledHeight)+1) // the filter is cut at the edge
					if px < margin || px > float64(w)-margin || py < margin || py > float64(h)-margin {
						continue
					}
					want := px
					if i == 2 {
						want = py
					}
					if v := float64(im.Row(y)[x]); math.Abs(v-want*slope) > 1.5 {
						t.Fatalf("%+v, %dx%d %s at 1/%d to %s: plane %d at %d,%d holds %.0f, want %.1f", s, w, h, src.Subsampling, src.Denom, to, i, x, y, v, want*slope)
					}
				}
			}
		}
	}
}

func TestRenderPlanesRefuses(t *testing.T) {
	good := func() *Planes { return noisyPlanes(17, 9, 1, "420", 0) }
	spec := ResizeSpec{Width: 8, Height: 8}
	for name, c := range map[string]struct {
		corrupt     func(p *Planes, s *ResizeSpec, g *Geometry)
		subsampling string
		want        string
	}{
		"nearest":         {func(_ *Planes, s *ResizeSpec, _ *Geometry) { s.Filter = Nearest }, "420", "no way with planes"},
		"filter":          {func(_ *Planes, s *ResizeSpec, _ *Geometry) { s.Filter = 99 }, "420", "no way with planes"},
		"gray":            {func(*Planes, *ResizeSpec, *Geometry) {}, "gray", "no chroma"},
		"unknown":         {func(*Planes, *ResizeSpec, *Geometry) {}, "411", "give 420"},
		"source sampling": {func(p *Planes, _ *ResizeSpec, _ *Geometry) { p.Subsampling = "" }, "420", "subsampling"},
		"chroma size":     {func(p *Planes, _ *ResizeSpec, _ *Geometry) { p.Cr.Width = 8 }, "420", "chroma of 8x5"},
		"channels":        {func(p *Planes, _ *ResizeSpec, _ *Geometry) { p.Cb = *noise(9, 5, 3) }, "420", "3 channels"},
		"bytes":           {func(p *Planes, _ *ResizeSpec, _ *Geometry) { p.Y.Pix = p.Y.Pix[:20] }, "420", "20 bytes"},
		"denom":           {func(p *Planes, _ *ResizeSpec, _ *Geometry) { p.Denom = 3 }, "420", "1/3"},
		"size":            {func(p *Planes, _ *ResizeSpec, _ *Geometry) { p.Denom = 2 }, "420", "luma of 17x9"},
		"window":          {func(_ *Planes, _ *ResizeSpec, g *Geometry) { g.CropX = 1 }, "420", "isn't within"},
	} {
		p, s := good(), spec
		g := s.Geometry(p.Width, p.Height)
		c.corrupt(p, &s, &g)
		if err := s.RenderPlanes(new(Planes), p, g, c.subsampling, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := good()
	if err := spec.RenderPlanes(p, p, spec.Geometry(17, 9), "420", nil); err == nil {
		t.Error("the result was the source")
	}
}

// TestDecodePlanes: verdicts and sizes are those of Decode, for every image of the corpus.
func TestDecodePlanes(t *testing.T) {
	files, err := filepath.Glob("../testdata/pictures/*.jp*g")
	if err != nil || len(files) == 0 {
		t.Fatal("no pictures", err)
	}
	for _, decoder := range []string{"auto", "go"} {
		c := newCodec(t, CodecOptions{Decoder: decoder})
		taken := 0
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			info, err := c.Stat(data)
			var p Planes
			if err != nil || !c.TakesPlanes(info) {
				if _, got := c.DecodePlanes(&p, data, DecodeOptions{}); got == nil || err != nil && got.Error() != err.Error() {
					t.Errorf("%s, %s: planes, %v; %v", decoder, filepath.Base(file), got, err)
				}
				continue
			}
			taken++
			for _, o := range []DecodeOptions{{Channels: 3}, {Channels: 3, MinWidth: 30, MinHeight: 20}} {
				var im, rgb Image
				_, want := c.Decode(&im, data, o)
				again, got := c.DecodePlanes(&p, data, o)
				if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() || again != info {
					t.Errorf("%s, %s: %v, and %v in planes", decoder, filepath.Base(file), want, got)
					continue
				}
				if got != nil {
					mustWrap(t, got)
					continue
				}
				if err := p.RGB(&rgb); err != nil {
					t.Fatal(err)
				}
				if rgb.Width != im.Width || rgb.Height != im.Height {
					t.Errorf("%s, %s: %dx%d, and %dx%d in planes", decoder, filepath.Base(file), im.Width, im.Height, rgb.Width, rgb.Height)
				}
			}
		}
		if taken < 20 {
			t.Errorf("%s: %d images in planes", decoder, taken)
		}
	}
	c := newCodec(t, CodecOptions{})
	if _, err := c.DecodePlanes(new(Planes), testImage(t, "made-ok-160x88.jpg"), DecodeOptions{Channels: 1}); err == nil {
		t.Error("planes of one channel came")
	}
	if _, err := c.DecodePlanes(new(Planes), testImage(t, "made-rgba.png"), DecodeOptions{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a PNG: %v", err)
	}
}

func TestPlanesAllocate(t *testing.T) {
	src := noisyPlanes(61, 41, 2, "420", 3)
	var dst Planes
	var s Scratch
	spec := ResizeSpec{Width: 20, Height: 20, Fit: Pad}
	g := spec.Geometry(src.Width, src.Height)
	if n := testing.AllocsPerRun(50, func() {
		if err := spec.RenderPlanes(&dst, src, g, "420", &s); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations an image", n)
	}
	c := newCodec(t, CodecOptions{})
	data := testImage(t, "made-15x33.jpg")
	var out []byte
	if n := testing.AllocsPerRun(50, func() {
		if _, err := c.DecodePlanes(src, data, DecodeOptions{}); err != nil {
			t.Fatal(err)
		}
		var err error
		if out, err = c.AppendJPEGPlanes(out[:0], src, 90); err != nil {
			t.Fatal(err)
		}
	}); n > 30 { // five; more under the race detector, where pools forget
		t.Errorf("%v allocations an image", n)
	}
}

func TestAppendJPEGPlanes(t *testing.T) {
	for _, decoder := range []string{"auto", "go"} {
		c := newCodec(t, CodecOptions{Decoder: decoder})
		for _, subsampling := range subsamplings {
			var p, back Planes
			if _, err := c.DecodePlanes(&p, testImage(t, "made-15x33.jpg"), DecodeOptions{}); err != nil {
				t.Fatal(err)
			}
			var q Planes
			if err := (ResizeSpec{Width: 15, Height: 33, NoAntialias: true}).RenderPlanes(&q, &p, Geometry{ScaledWidth: 15, ScaledHeight: 33, WindowWidth: 15, WindowHeight: 33, Width: 15, Height: 33}, subsampling, nil); err != nil {
				t.Fatal(err)
			}
			out, err := c.AppendJPEGPlanes([]byte("before"), &q, 100)
			if err != nil || !bytes.HasPrefix(out, []byte("before")) {
				t.Fatalf("%s, %s: %v", decoder, subsampling, err)
			}
			if _, err := c.DecodePlanes(&back, out[len("before"):], DecodeOptions{}); err != nil {
				t.Fatal(err)
			}
			if back.Subsampling != subsampling || back.Width != 15 || back.Height != 33 {
				t.Errorf("%s: %s, %dx%d came back", subsampling, back.Subsampling, back.Width, back.Height)
			}
			if p := psnr(&back.Y, &q.Y); p < 45 {
				t.Errorf("%s, %s: luma of %.1f dB came back", decoder, subsampling, p)
			}
		}
		if _, err := c.AppendJPEGPlanes(nil, new(Planes), 90); err == nil {
			t.Errorf("%s: empty planes were encoded", decoder)
		}
	}
}

// psnr is the peak signal-to-noise ratio of two images of one size in dB, 99 when they are equal.
func psnr(a, b *Image) float64 {
	sum := 0
	for y := range a.Height {
		ra, rb := a.Row(y), b.Row(y)
		for x := range ra {
			d := int(ra[x]) - int(rb[x])
			sum += d * d
		}
	}
	if sum == 0 {
		return 99
	}
	return 10 * math.Log10(255*255*float64(a.Width*a.Height*a.Channels)/float64(sum))
}

// FuzzRenderPlanes: whatever fits together is resized, without a panic, to what the geometry says.
func FuzzRenderPlanes(f *testing.F) {
	f.Add(uint64(1), uint16(17), uint16(9), uint8(0))
	f.Add(uint64(2), uint16(1), uint16(300), uint8(7))
	f.Add(uint64(3), uint16(300), uint16(1), uint8(9))
	f.Add(uint64(9), uint16(1), uint16(300), uint8(' '))
	f.Fuzz(func(t *testing.T, seed uint64, w, h uint16, kind uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := anySpec(r)
		src := noisyPlanes(1+int(w)%600, 1+int(h)%600, 1<<(kind%4), subsamplings[kind/4%4], r.IntN(4))
		g := s.Geometry(src.Width, src.Height)
		var dst Planes
		to := subsamplings[kind/16%4]
		if err := s.RenderPlanes(&dst, src, g, to, nil); err != nil {
			t.Fatal(err)
		}
		if err := dst.check(); err != nil || dst.Width != g.Width || dst.Height != g.Height || dst.Subsampling != to {
			t.Fatalf("%dx%d %s, %v", dst.Width, dst.Height, dst.Subsampling, err)
		}
	})
}
