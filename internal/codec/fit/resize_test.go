package fit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// plainResize is the reference implementation: everything in float64 except the rounding to weights
// and to bytes, which determines the result; no table, no band, no window.
func plainResize(src *bitmap.Image, w, h int, f resample.Filter, antialias bool) *bitmap.Image {
	p := make(plane, src.Height)
	for y := range p {
		for _, v := range src.Row(y) {
			p[y] = append(p[y], float64(v))
		}
	}
	wide := !antialias && (f == resample.Bicubic || f == resample.Lanczos3) && w != src.Width && h != src.Height
	clipped := func(v float64) float64 { return min(max(math.Floor(v+0.5), 0), 255) }
	between := clipped
	if wide {
		between = func(v float64) float64 { return math.Floor(v*64+0.5) / 64 }
	}
	if downFirst := !wide && src.Height > h && src.Height-h > 2*(src.Width-w); downFirst {
		p = p.turned().across(1, h, f, antialias, between).turned()
		p = p.across(src.Channels, w, f, antialias, clipped)
	} else {
		p = p.across(src.Channels, w, f, antialias, between)
		p = p.turned().across(1, h, f, antialias, clipped).turned()
	}
	out := new(bitmap.Image)
	out.Reset(w, h, src.Channels)
	for y := range p {
		for i, v := range p[y] {
			out.Row(y)[i] = uint8(v)
		}
	}
	return out
}

// plane is rows of samples.
type plane [][]float64

// turned has the columns for rows.
func (p plane) turned() plane {
	out := make(plane, len(p[0]))
	for _, row := range p {
		for x, v := range row {
			out[x] = append(out[x], v)
		}
	}
	return out
}

// across resizes each row to w pixels of the given channels.
func (p plane) across(channels, w int, f resample.Filter, antialias bool, round func(float64) float64) plane {
	out := make(plane, len(p))
	for x := range w {
		weights := plainWeights(x, len(p[0])/channels, w, f, antialias)
		for y, row := range p {
			for c := range channels {
				sum := 0.0
				for column, weight := range weights {
					sum += weight * row[column*channels+c]
				}
				out[y] = append(out[y], round(sum/(1<<22)))
			}
		}
	}
	return out
}

// plainWeights are the weights of the source pixels for one of the result, in
// 1<<22ths, by looking at all of them.
func plainWeights(i, in, out int, f resample.Filter, antialias bool) map[int]float64 {
	if in == out {
		return map[int]float64{i: 1 << 22}
	}
	exact := make([]float64, in)
	center := (float64(i) + 0.5) * (float64(in) / float64(out))
	stretch := 1.0
	if antialias {
		stretch = max(1, float64(in)/float64(out))
	}
	switch f {
	case resample.Nearest:
		at := min(int((float32(i)+0.5)*(float32(in)/float32(out))), in-1) // float32 decides ties
		return map[int]float64{at: 1 << 22}
	case resample.Area:
		weights, before := map[int]float64{}, 0.0
		for j := range in {
			covered := min(max(float64((j+1)*out-i*in), 0), float64(in))
			sum := math.Floor(covered*(1<<22)/float64(in) + 0.5)
			weights[j] = sum - before
			before = sum
		}
		return weights
	case resample.Bicubic:
		if !antialias {
			center = math.RoundToEven((center-0.5)*1024)/1024 + 0.5
		}
	}
	sum := 0.0
	for j := range exact {
		x := math.Abs(float64(j)+0.5-center) / stretch
		switch f {
		case resample.Bilinear:
			exact[j] = max(0, 1-x)
		case resample.Bicubic:
			if x < 1 {
				exact[j] = 1.5*x*x*x - 2.5*x*x + 1
			} else if x < 2 {
				exact[j] = -0.5*x*x*x + 2.5*x*x - 4*x + 2
			}
		case resample.Lanczos3:
			if x == 0 {
				exact[j] = 1
			} else if x < 3 {
				exact[j] = 3 * math.Sin(math.Pi*x) * math.Sin(math.Pi*x/3) / (math.Pi * math.Pi * x * x)
			}
		}
		sum += exact[j]
	}
	weights := map[int]float64{}
	for j, e := range exact {
		if w := math.Round(e / sum * (1 << 22)); w != 0 {
			weights[j] = w
		}
	}
	return weights
}

func TestResizeReference(t *testing.T) {
	race.Skip(t)
	sizes := [][4]int{
		{1, 1, 1, 1}, {1, 1, 7, 5}, {1, 9, 4, 3}, {9, 1, 4, 3}, {13, 7, 1, 1}, {2, 3, 3, 2},
		{31, 17, 16, 8}, {17, 31, 33, 62}, {40, 40, 39, 41}, {64, 3, 5, 3}, {3, 64, 3, 5},
		{100, 60, 7, 9}, {35, 300, 24, 7}, {300, 35, 13, 24}, {16, 16, 8, 8}, {8, 8, 16, 16}, {5, 5, 50, 3},
	}
	for _, s := range sizes {
		for f := range resample.Filter(len(resample.FilterNames)) {
			for _, antialias := range []bool{true, false} {
				for _, channels := range []int{1, 3} {
					src := imagetest.Noise(s[0], s[1], channels)
					if (s[0]+s[1])%2 == 0 {
						src = imagetest.Spaced(src, 5)
					}
					checkReference(t, src, s[2], s[3], f, antialias)
				}
			}
		}
	}
}

func checkReference(t *testing.T, src *bitmap.Image, w, h int, f resample.Filter, antialias bool) {
	t.Helper()
	name := fmt.Sprintf("%dx%dx%d to %dx%d %v antialias=%v", src.Width, src.Height, src.Channels, w, h, f, antialias)
	want := plainResize(src, w, h, f, antialias)
	var got bitmap.Image
	if err := Resize(&got, src, w, h, f, antialias); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got.Width != w || got.Height != h || got.Channels != src.Channels || got.Stride != w*src.Channels {
		t.Fatalf("%s: result %dx%dx%d, stride %d", name, got.Width, got.Height, got.Channels, got.Stride)
	}
	if i := firstDifference(got.Pix, want.Pix); i >= 0 {
		t.Fatalf("%s: sample %d is %d, by the slow twin %d", name, i, got.Pix[i], want.Pix[i])
	}
}

func firstDifference(a, b []uint8) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

func FuzzResize(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(1), uint8(1), uint8(1), uint8(1), uint8(0), uint8(3), true)
	f.Add([]byte{0, 255}, uint8(37), uint8(11), uint8(16), uint8(20), uint8(3), uint8(0), true)
	f.Add([]byte{255, 0, 0, 255, 255}, uint8(60), uint8(60), uint8(7), uint8(7), uint8(4), uint8(1), false)
	f.Add([]byte{7}, uint8(9), uint8(90), uint8(30), uint8(2), uint8(2), uint8(0), false)
	f.Fuzz(func(t *testing.T, pattern []byte, w, h, toW, toH, filter, gap uint8, antialias bool) {
		channels := 1 + 2*int(gap&1)
		src := new(bitmap.Image)
		src.Reset(1+int(w), 1+int(h)%64, channels)
		r := rand.New(rand.NewPCG(uint64(len(pattern)), 1))
		for i := range src.Pix {
			if len(pattern) > 0 {
				src.Pix[i] = pattern[i%len(pattern)]
			}
			if filter&8 != 0 {
				src.Pix[i] ^= uint8(r.Uint32())
			}
		}
		src = imagetest.Spaced(src, int(gap>>1))
		checkReference(t, src, 1+int(toW)%96, 1+int(toH)%64, resample.Filter(int(filter&7)%len(resample.FilterNames)), antialias)
	})
}

func TestResizeRefuses(t *testing.T) {
	good := imagetest.Noise(4, 3, 3)
	for _, c := range []struct {
		name string
		src  *bitmap.Image
		w, h int
		f    resample.Filter
		err  string
	}{
		{"no width", good, 0, 3, resample.Bilinear, "at least 1 pixel"},
		{"negative height", good, 3, -1, resample.Bilinear, "at least 1 pixel"},
		{"too wide", good, 65536, 1, resample.Bilinear, "no side may be over 65535 pixels"},
		{"too large", good, 65535, 65535, resample.Bilinear, "over 178956970 pixels in all"},
		{"no filter", good, 3, 3, 200, "unknown filter Filter(200)"},
		{"empty", &bitmap.Image{Channels: 3}, 3, 3, resample.Bilinear, "image of 0x0 pixels"},
		{"two channels", &bitmap.Image{Pix: make([]byte, 8), Width: 2, Height: 2, Channels: 2, Stride: 4}, 3, 3, resample.Bilinear, "image of 2 channels"},
		{"short stride", &bitmap.Image{Pix: make([]byte, 8), Width: 2, Height: 2, Channels: 3, Stride: 4}, 3, 3, resample.Bilinear, "stride of 4 bytes"},
		{"short of bytes", &bitmap.Image{Pix: make([]byte, 11), Width: 2, Height: 2, Channels: 3, Stride: 6}, 3, 3, resample.Bilinear, "with 11 bytes"},
		{"overflow", &bitmap.Image{Pix: make([]byte, 11), Width: 2, Height: math.MaxInt32, Channels: 3, Stride: math.MaxInt32}, 3, 3, resample.Bilinear, "image of"},
		{"too long", &bitmap.Image{Pix: make([]byte, 1<<21), Width: 1, Height: 1 << 21, Channels: 1, Stride: 1}, 3, 3, resample.Bilinear, "no side of the source may be over 1048576 pixels"},
	} {
		dst := bitmap.Image{Width: 77}
		err := Resize(&dst, c.src, c.w, c.h, c.f, true)
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.err)
		}
		if dst.Width != 77 {
			t.Errorf("%s: the result was touched", c.name)
		}
	}
	if err := Resize(good, good, 2, 2, resample.Bilinear, true); err == nil {
		t.Error("resized onto itself")
	}
}

// Many sizes at a time from many goroutines: the same bytes, and a cache that
// keeps its bound.
func TestResizeConcurrent(t *testing.T) {
	src := imagetest.Noise(200, 3, 3)
	want := make([]bitmap.Image, 60)
	for i := range want {
		if err := Resize(&want[i], src, 100+i, 3, resample.Lanczos3, true); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range want {
				var got bitmap.Image
				if err := Resize(&got, src, 100+i, 3, resample.Lanczos3, true); err != nil || !bytes.Equal(got.Pix, want[i].Pix) {
					t.Errorf("width %d: other bytes, %v", 100+i, err)
				}
			}
		})
	}
	group.Wait()
}

func TestAxisCacheBounded(t *testing.T) {
	race.Skip(t)
	var c resample.AxisCache
	key := func(i int) resample.Key { return resample.Key{In: 20000 + i, Out: 224, Hi: 224, Antialias: true} }
	hot := c.Get(key(0))
	for i := range 500 {
		c.Get(key(i))
		if c.Get(key(0)) != hot {
			t.Fatal("a table in use was made again")
		}
		if c.Bytes > resample.AxisBytes {
			t.Fatalf("a generation of %d bytes", c.Bytes)
		}
	}
	if n := len(c.Young) + len(c.Old); n == 500 || n < 10 {
		t.Errorf("%d tables kept", n)
	}
	large := resample.Key{In: 60000, Out: 30000, Hi: 30000, Filter: resample.Lanczos3, Antialias: true}
	if first := c.Get(large); c.Get(large) == first {
		t.Error("a table of more than its share was kept")
	}
}

func TestResizeAllocates(t *testing.T) {
	src := imagetest.Noise(60, 40, 3)
	var dst bitmap.Image
	var s workspace.Scratch
	spec := ResizeSpec{Width: 20, Height: 20, Fit: Pad}
	if n := testing.AllocsPerRun(50, func() {
		if err := spec.Apply(&dst, src, &s); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations an image", n)
	}
}
