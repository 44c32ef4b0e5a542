package augment

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// photographs are those in the repository and, if the shared ones are next to it, some of those.
// The first have chroma as large as luma; here each comes with 420, too.
func photographs(t *testing.T, c *Codec) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		t.Fatal("no photographs", err)
	}
	some := map[string][]byte{}
	for i, file := range files {
		if i%6 != 0 {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		some[filepath.Base(file)] = data
		var im Image
		if _, err := c.Decode(&im, data, DecodeOptions{Channels: 3}); err != nil {
			t.Fatal(err)
		}
		half, err := c.AppendJPEG(nil, &im, 90, "420")
		if err != nil {
			t.Fatal(err)
		}
		some[filepath.Base(file)+" at 420"] = half
	}
	shared, _ := filepath.Glob("../../shared/data/cc0/*.jpg")
	for i := 0; i < len(shared); i += 25 {
		data, err := os.ReadFile(shared[i])
		if err != nil {
			t.Fatal(err)
		}
		some[filepath.Base(shared[i])] = data
	}
	return some
}

// quality gathers PSNRs and holds them to a floor for each and one for their mean.
type quality struct {
	least, sum float64
	n          int
	worst      string
}

func (q *quality) add(name string, a, b *Image) {
	p := imagetest.PSNR(a, b)
	if q.n == 0 || p < q.least {
		q.least, q.worst = p, name
	}
	q.sum += p
	q.n++
}

func (q *quality) check(t *testing.T, what string, least, mean float64) {
	t.Helper()
	got := q.sum / float64(q.n)
	t.Logf("%s: %d images, at least %.1f dB, mean %.1f dB", what, q.n, q.least, got)
	if q.least < least || got < mean {
		t.Errorf("%s: at least %.1f dB (%s), mean %.1f dB; the floors are %.0f and %.0f", what, q.least, q.worst, got, least, mean)
	}
}

// TestPlanesQuality compares what comes out at the end of the ways through planes, a JPEG of
// quality 95 decoded again or RGB, with the way through RGB from the first: the floors are those
// that the documentation of Planes states.
func TestPlanesQuality(t *testing.T) {
	race.Skip(t)
	for _, decoder := range []string{"auto", "go"} {
		c := newCodec(t, CodecOptions{Decoder: decoder})
		images := photographs(t, c)
		for _, test := range []struct {
			ResizeSpec
			least, mean       float64
			rgbLeast, rgbMean float64
		}{
			{ResizeSpec{Square: 224}, 38, 42, 38, 46},
			{ResizeSpec{Width: 120, Height: 100, Fit: Pad, Filter: Area, NoAntialias: true}, 38, 42, 38, 46},
			{ResizeSpec{Width: 99, Height: 199, Fit: Crop, NoAntialias: true}, 38, 42, 38, 46},
			{ResizeSpec{Width: 150, Height: 150, Filter: Lanczos3}, 36, 41, 34, 45},
		} {
			s := test.ResizeSpec
			if decoder == "go" && s.Square == 0 {
				continue // what comes after the decoder is the same
			}
			var final, pixels quality
			for name, data := range images {
				info, err := c.Stat(data)
				if err != nil || !c.TakesPlanes(info) {
					t.Fatalf("%s: no planes, %v", name, err)
				}
				g := s.Geometry(info.Width, info.Height)
				var im, a Image
				if _, err := c.Decode(&im, data, DecodeOptions{Channels: 3}); err != nil {
					t.Fatal(err)
				}
				if err := s.Render(&a, &im, g, nil); err != nil {
					t.Fatal(err)
				}
				var p, q Planes
				if _, err := c.DecodePlanes(&p, data, DecodeOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := s.RenderPlanes(&q, &p, g, "420", nil); err != nil {
					t.Fatal(err)
				}
				var b Image
				if err := s.RenderRGB(&b, &p, g, nil); err != nil {
					t.Fatal(err)
				}
				pixels.add(name, &a, &b)
				one, err := c.AppendJPEG(nil, &a, 95, "420")
				if err != nil {
					t.Fatal(err)
				}
				other, err := c.AppendJPEGPlanes(nil, &q, 95)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Decode(&a, one, DecodeOptions{}); err != nil {
					t.Fatal(err)
				}
				if _, err := c.Decode(&b, other, DecodeOptions{}); err != nil {
					t.Fatal(err)
				}
				final.add(name, &a, &b)
			}
			what := fmt.Sprintf("%s, %dx%d %v %v", decoder, s.Width+s.Square, s.Height+s.Square, s.Fit, s.Filter)
			final.check(t, what, test.least, test.mean)
			pixels.check(t, what+", to RGB", test.rgbLeast, test.rgbMean)
		}
	}
}

// TestReducedQuality compares images that were decoded at 1/2, 1/4 and 1/8 with full decodes, each
// resized to the largest size for which MinDecode allows the reduction, through RGB and through
// planes.
func TestReducedQuality(t *testing.T) {
	race.Skip(t)
	c := newCodec(t, CodecOptions{})
	images := photographs(t, c)
	for _, denom := range []int{2, 4, 8} {
		for f, halves := range map[Filter]int{Bilinear: 3, Lanczos3: 3, Area: 5} {
			var rgb, planes quality
			for name, data := range images {
				info, err := c.Stat(data)
				if err != nil {
					t.Fatal(err)
				}
				w, h := (info.Width+denom-1)/denom, (info.Height+denom-1)/denom
				s := ResizeSpec{Width: 2 * w / halves, Height: 2 * h / halves, Filter: f}
				g := s.Geometry(info.Width, info.Height)
				var im, full, reduced Image
				if _, err := c.Decode(&im, data, DecodeOptions{Channels: 3}); err != nil {
					t.Fatal(err)
				}
				if err := s.Render(&full, &im, g, nil); err != nil {
					t.Fatal(err)
				}
				var o DecodeOptions
				o.MinWidth, o.MinHeight = s.MinDecode(info.Width, info.Height)
				if _, err := c.Decode(&im, data, o); err != nil {
					t.Fatal(err)
				}
				if im.Width != w || im.Height != h {
					t.Fatalf("%s of %dx%d for %+v: %dx%d", name, info.Width, info.Height, s, im.Width, im.Height)
				}
				if err := s.Render(&reduced, &im, g, nil); err != nil {
					t.Fatal(err)
				}
				rgb.add(name, &full, &reduced)
				var p, whole, part Planes
				if _, err := c.DecodePlanes(&p, data, DecodeOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := s.RenderPlanes(&whole, &p, g, "420", nil); err != nil {
					t.Fatal(err)
				}
				if _, err := c.DecodePlanes(&p, data, o); err != nil {
					t.Fatal(err)
				}
				if p.Denom != denom {
					t.Fatalf("%s: planes at 1/%d", name, p.Denom)
				}
				if err := s.RenderPlanes(&part, &p, g, "420", nil); err != nil {
					t.Fatal(err)
				}
				if err := whole.RGB(&full); err != nil {
					t.Fatal(err)
				}
				if err := part.RGB(&reduced); err != nil {
					t.Fatal(err)
				}
				planes.add(name, &full, &reduced)
			}
			rgb.check(t, fmt.Sprintf("1/%d %v", denom, f), 33, 38)
			planes.check(t, fmt.Sprintf("1/%d %v in planes", denom, f), 33, 38)
		}
	}
}

// TestDrawPlanesQuality compares what a draw that begins with a resized crop makes of planes with
// what it makes of RGB.
func TestDrawPlanesQuality(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	policy, err := ParsePolicy("random_resized_crop:224|hflip")
	if err != nil {
		t.Fatal(err)
	}
	var q quality
	for name, data := range photographs(t, c) {
		var p Planes
		var im, a, b Image
		if _, err := c.DecodePlanes(&p, data, DecodeOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Decode(&im, data, DecodeOptions{}); err != nil {
			t.Fatal(err)
		}
		for copy := range 3 {
			draw := policy.Draw(1, name, copy, im.Width, im.Height)
			if err := draw.Apply(&a, &im, nil); err != nil {
				t.Fatal(err)
			}
			if err := draw.ApplyPlanes(&b, &p, nil); err != nil {
				t.Fatal(err)
			}
			q.add(name, &a, &b)
		}
	}
	q.check(t, policy.String(), 37, 46)
}
