package fit

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// anySpec is a spec of any kind that planes can follow.
func anySpec(r *rand.Rand) ResizeSpec {
	s := ResizeSpec{
		Width: 1 + r.IntN(90), Height: 1 + r.IntN(90), Fit: Fit(r.IntN(len(FitNames))), NoUpscale: r.IntN(3) == 0,
		Filter: [...]resample.Filter{resample.Bilinear, resample.Area, resample.Bicubic, resample.Lanczos3}[r.IntN(4)], NoAntialias: !(r.IntN(4) > 0),
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
		src := imagetest.NoisyPlanes(1+r.IntN(120), 1+r.IntN(120), 1, "444", r.IntN(5))
		for _, im := range bitmap.Components(src) {
			for i, v := range im.Pix {
				im.Pix[i] = 96 + v/4 // what doesn't overshoot isn't clipped between the passes
			}
		}
		g := s.Geometry(src.Width, src.Height)
		tolerance := 0
		if !s.NoAntialias && g.WindowHeight < src.Height {
			tolerance = 2
		}
		var dst bitmap.Planes
		if err := s.RenderPlanes(&dst, src, g, "444", nil); err != nil {
			t.Fatalf("%+v of %dx%d: %v", s, src.Width, src.Height, err)
		}
		if dst.Width != g.Width || dst.Height != g.Height || dst.Denom != 1 || bitmap.CheckPlanes(&dst) != nil {
			t.Fatalf("%+v of %dx%d: %dx%d, %v", s, src.Width, src.Height, dst.Width, dst.Height, bitmap.CheckPlanes(&dst))
		}
		for i, im := range bitmap.Components(&dst) {
			var want bitmap.Image
			gray := s
			color := recolor.PlanesColor(s.PadColor)[i]
			gray.PadColor = [3]uint8{color, color, color}
			if err := gray.Render(&want, bitmap.Components(src)[i], g, nil); err != nil {
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
		if s.Filter == resample.Bicubic || s.Filter == resample.Lanczos3 {
			s.Filter = resample.Bilinear // the others overshoot and are clipped before the mean is taken
		}
		src := imagetest.NoisyPlanes(1+r.IntN(120), 1+r.IntN(120), 1<<r.IntN(4), imagetest.Subsamplings[r.IntN(4)], r.IntN(5))
		g := s.Geometry(src.Width, src.Height)
		subsampling := imagetest.Subsamplings[r.IntN(3)]
		var full, dst bitmap.Planes
		if err := s.RenderPlanes(&full, src, g, "444", nil); err != nil {
			t.Fatal(err)
		}
		if err := s.RenderPlanes(&dst, src, g, subsampling, nil); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst.Y.Pix, full.Y.Pix) {
			t.Fatalf("%+v: the luma depends on the subsampling of the chroma", s)
		}
		sub, _ := bitmap.SamplingOf(&dst)
		fx, fy := sub.Factors()
		for i := 1; i < 3; i++ {
			got, pixels := bitmap.Components(&dst)[i], bitmap.Components(&full)[i]
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
		if s.Filter == resample.Area {
			s.Filter = resample.Bilinear // where Area enlarges there are steps
		}
		w, h := 150+r.IntN(330), 150+r.IntN(330)
		src := imagetest.NoisyPlanes(w, h, 1<<r.IntN(3), imagetest.Subsamplings[r.IntN(4)], 0)
		// place fills a plane whose samples each represent several pixels.
		place := func(im *bitmap.Image, fx, fy int, down bool) {
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
		from, _ := bitmap.SamplingOf(src)
		fx, fy := from.Factors()
		place(&src.Y, 1, 1, false)
		place(&src.Cb, fx, fy, false)
		place(&src.Cr, fx, fy, true)
		g := s.Geometry(w, h)
		to := imagetest.Subsamplings[r.IntN(4)]
		var dst bitmap.Planes
		if err := s.RenderPlanes(&dst, src, g, to, nil); err != nil {
			t.Fatal(err)
		}
		sub, _ := bitmap.SamplingOf(&dst)
		for i, im := range bitmap.Components(&dst) {
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
	good := func() *bitmap.Planes { return imagetest.NoisyPlanes(17, 9, 1, "420", 0) }
	spec := ResizeSpec{Width: 8, Height: 8}
	for name, c := range map[string]struct {
		corrupt     func(p *bitmap.Planes, s *ResizeSpec, g *Geometry)
		subsampling string
		want        string
	}{
		"nearest":         {func(_ *bitmap.Planes, s *ResizeSpec, _ *Geometry) { s.Filter = resample.Nearest }, "420", "no way with planes"},
		"filter":          {func(_ *bitmap.Planes, s *ResizeSpec, _ *Geometry) { s.Filter = 99 }, "420", "no way with planes"},
		"gray":            {func(*bitmap.Planes, *ResizeSpec, *Geometry) {}, "gray", "no chroma"},
		"unknown":         {func(*bitmap.Planes, *ResizeSpec, *Geometry) {}, "411", "give 420"},
		"source sampling": {func(p *bitmap.Planes, _ *ResizeSpec, _ *Geometry) { p.Subsampling = "" }, "420", "subsampling"},
		"chroma size":     {func(p *bitmap.Planes, _ *ResizeSpec, _ *Geometry) { p.Cr.Width = 8 }, "420", "chroma of 8x5"},
		"channels":        {func(p *bitmap.Planes, _ *ResizeSpec, _ *Geometry) { p.Cb = *imagetest.Noise(9, 5, 3) }, "420", "3 channels"},
		"bytes":           {func(p *bitmap.Planes, _ *ResizeSpec, _ *Geometry) { p.Y.Pix = p.Y.Pix[:20] }, "420", "20 bytes"},
		"denom":           {func(p *bitmap.Planes, _ *ResizeSpec, _ *Geometry) { p.Denom = 3 }, "420", "1/3"},
		"size":            {func(p *bitmap.Planes, _ *ResizeSpec, _ *Geometry) { p.Denom = 2 }, "420", "luma of 17x9"},
		"window":          {func(_ *bitmap.Planes, _ *ResizeSpec, g *Geometry) { g.CropX = 1 }, "420", "isn't within"},
	} {
		p, s := good(), spec
		g := s.Geometry(p.Width, p.Height)
		c.corrupt(p, &s, &g)
		if err := s.RenderPlanes(new(bitmap.Planes), p, g, c.subsampling, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := good()
	if err := spec.RenderPlanes(p, p, spec.Geometry(17, 9), "420", nil); err == nil {
		t.Error("the result was the source")
	}
}

func TestPlanesAllocate(t *testing.T) {
	src := imagetest.NoisyPlanes(61, 41, 2, "420", 3)
	var dst bitmap.Planes
	var s workspace.Scratch
	spec := ResizeSpec{Width: 20, Height: 20, Fit: Pad}
	g := spec.Geometry(src.Width, src.Height)
	if n := testing.AllocsPerRun(50, func() {
		if err := spec.RenderPlanes(&dst, src, g, "420", &s); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations an image", n)
	}
	c := newCodec(t, imagefile.CodecOptions{})
	data := imagetest.Picture(t, "made-15x33.jpg")
	var out []byte
	if n := testing.AllocsPerRun(50, func() {
		if _, err := c.DecodePlanes(src, data, imagefile.DecodeOptions{}); err != nil {
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
		c := newCodec(t, imagefile.CodecOptions{Decoder: decoder})
		for _, subsampling := range imagetest.Subsamplings {
			var p, back bitmap.Planes
			if _, err := c.DecodePlanes(&p, imagetest.Picture(t, "made-15x33.jpg"), imagefile.DecodeOptions{}); err != nil {
				t.Fatal(err)
			}
			var q bitmap.Planes
			if err := (ResizeSpec{Width: 15, Height: 33, NoAntialias: true}).RenderPlanes(&q, &p, Geometry{ScaledWidth: 15, ScaledHeight: 33, WindowWidth: 15, WindowHeight: 33, Width: 15, Height: 33}, subsampling, nil); err != nil {
				t.Fatal(err)
			}
			out, err := c.AppendJPEGPlanes([]byte("before"), &q, 100)
			if err != nil || !bytes.HasPrefix(out, []byte("before")) {
				t.Fatalf("%s, %s: %v", decoder, subsampling, err)
			}
			if _, err := c.DecodePlanes(&back, out[len("before"):], imagefile.DecodeOptions{}); err != nil {
				t.Fatal(err)
			}
			if back.Subsampling != subsampling || back.Width != 15 || back.Height != 33 {
				t.Errorf("%s: %s, %dx%d came back", subsampling, back.Subsampling, back.Width, back.Height)
			}
			if p := imagetest.PSNR(&back.Y, &q.Y); p < 45 {
				t.Errorf("%s, %s: luma of %.1f dB came back", decoder, subsampling, p)
			}
		}
		if _, err := c.AppendJPEGPlanes(nil, new(bitmap.Planes), 90); err == nil {
			t.Errorf("%s: empty planes were encoded", decoder)
		}
	}
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
		src := imagetest.NoisyPlanes(1+int(w)%600, 1+int(h)%600, 1<<(kind%4), imagetest.Subsamplings[kind/4%4], r.IntN(4))
		g := s.Geometry(src.Width, src.Height)
		var dst bitmap.Planes
		to := imagetest.Subsamplings[kind/16%4]
		if err := s.RenderPlanes(&dst, src, g, to, nil); err != nil {
			t.Fatal(err)
		}
		if err := bitmap.CheckPlanes(&dst); err != nil || dst.Width != g.Width || dst.Height != g.Height || dst.Subsampling != to {
			t.Fatalf("%dx%d %s, %v", dst.Width, dst.Height, dst.Subsampling, err)
		}
	})
}
