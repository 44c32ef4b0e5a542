package region

import (
	"bytes"
	"encoding/json"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
)

// coco is a region that pycocotools made.
type coco struct {
	W, H     int
	Polygons [][]float64
	Counts   string
	Area     int
	Bbox     [4]int
}

func golden(t testing.TB) (all []coco) {
	t.Helper()
	text, err := os.ReadFile("testdata/pycocotools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var c coco
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func TestRegionsOfPycocotools(t *testing.T) {
	for i, c := range golden(t) {
		mask, again := make([]uint8, c.W*c.H), make([]uint8, c.W*c.H)
		if err := Fill(mask, c.W, c.H, &annotation.Region{Polygons: c.Polygons, Width: c.W, Height: c.H}); err != nil {
			t.Fatal(err)
		}
		runs := Runs(mask, c.W, c.H)
		if got := string(AppendCompressed(nil, runs)); got != c.Counts {
			t.Errorf("line %d: %q, want %q", i+1, got, c.Counts)
		}
		if got := Area(mask); got != c.Area {
			t.Errorf("line %d: area %d, want %d", i+1, got, c.Area)
		}
		want := image.Rect(c.Bbox[0], c.Bbox[1], c.Bbox[0]+c.Bbox[2], c.Bbox[1]+c.Bbox[3])
		if got := Bounds(mask, c.W, c.H); got != want && (!got.Empty() || c.Area > 0) {
			t.Errorf("line %d: %v, want %v", i+1, got, want)
		}
		parsed, err := ParseCompressed([]byte(c.Counts), 1<<20)
		if err != nil || !slices.Equal(parsed, runs) {
			t.Errorf("line %d: %d, %v, want %d", i+1, parsed, err, runs)
		}
		if err := Fill(again, c.W, c.H, &annotation.Region{Runs: parsed, Width: c.W, Height: c.H}); err != nil || !bytes.Equal(again, mask) {
			t.Errorf("line %d: the runs have other pixels: %v", i+1, err)
		}
	}
}

func TestFillRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		w, h := 1+rng.IntN(30), 1+rng.IntN(30)
		want, got := make([]uint8, w*h), make([]uint8, w*h)
		r := &annotation.Region{Width: w, Height: h, Runs: []uint32{}}
		for at, inside := 0, uint8(0); at < w*h; inside ^= 1 {
			n := min(rng.IntN(1+rng.IntN(3*h)), w*h-at) // often 0
			r.Runs = append(r.Runs, uint32(n))
			for range n {
				want[at%h*w+at/h] = inside
				at++
			}
		}
		if err := Fill(got, w, h, r); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d x %d, %d: %v, %v, want %v", w, h, r.Runs, got, err, want)
		}
		runs := Runs(got, w, h)
		if slices.Contains(runs[1:], 0) || CheckRuns(runs, w, h) != nil {
			t.Fatalf("runs %d of %v", runs, got)
		}
		r.Runs = runs
		if err := Fill(got, w, h, r); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d: %v, %v, want %v", runs, got, err, want)
		}
	}
}

// A polygon of half the size in an image of twice the size has the same pixels.
func TestFillScales(t *testing.T) {
	for _, c := range golden(t) {
		half := make([][]float64, len(c.Polygons))
		for i, xy := range c.Polygons {
			half[i] = slices.Clone(xy)
			for j := range half[i] {
				half[i][j] /= 2
			}
		}
		want, got := make([]uint8, c.W*c.H), make([]uint8, c.W*c.H)
		if err := Fill(want, c.W, c.H, &annotation.Region{Polygons: c.Polygons}); err != nil {
			t.Fatal(err)
		}
		if c.W%2 == 0 && c.H%2 == 0 {
			if err := Fill(got, c.W, c.H, &annotation.Region{Polygons: half, Width: c.W / 2, Height: c.H / 2}); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d x %d: other pixels, %v", c.W, c.H, err)
			}
		}
	}
}

func TestFillRefuses(t *testing.T) {
	square := [][]float64{{0, 0, 4, 0, 4, 4}}
	long := make([]float64, 0, 1<<14)
	for range 1 << 12 {
		long = append(long, 0, 0, MaxSide, 1)
	}
	for what, c := range map[string]struct {
		r          annotation.Region
		w, h, size int
		want       string
	}{
		"a mask of another size":  {annotation.Region{Polygons: square}, 4, 4, 15, "15 bytes"},
		"a negative size":         {annotation.Region{Polygons: square}, -4, -4, 16, "16 bytes"},
		"two points":              {annotation.Region{Polygons: [][]float64{square[0], {0, 0, 4, 4}}}, 4, 4, 16, "polygon 2: fewer than three points"},
		"half a point":            {annotation.Region{Polygons: [][]float64{{0, 0, 4, 4, 1, 2, 3}}}, 4, 4, 16, "without y"},
		"not a number":            {annotation.Region{Polygons: [][]float64{{0, 0, 4, math.NaN(), 1, 2}}}, 4, 4, 16, "out of range"},
		"infinity":                {annotation.Region{Polygons: [][]float64{{0, 0, 4, math.Inf(-1), 1, 2}}}, 4, 4, 16, "out of range"},
		"out of range":            {annotation.Region{Polygons: [][]float64{{0, 0, 4, 1e300, 1, 2}}}, 4, 4, 16, "out of range"},
		"out of range if scaled":  {annotation.Region{Polygons: [][]float64{{0, 0, 4, 1e8, 1, 2}}, Width: 1, Height: 1}, 4, 4, 16, "out of range"},
		"too many crossings":      {annotation.Region{Polygons: [][]float64{long}}, MaxSide, 1, MaxSide, "too often"},
		"runs of another size":    {annotation.Region{Runs: []uint32{16}, Width: 8, Height: 2}, 4, 4, 16, "8 x 2 pixels in an image of 4 x 4"},
		"runs that do not fill":   {annotation.Region{Runs: []uint32{15}, Width: 4, Height: 4}, 4, 4, 16, "15 pixels for the 16"},
		"runs that overrun":       {annotation.Region{Runs: []uint32{15, 2}, Width: 4, Height: 4}, 4, 4, 16, "17 pixels for the 16"},
		"runs beyond all numbers": {annotation.Region{Runs: []uint32{math.MaxUint32, 17}, Width: 4, Height: 4}, 4, 4, 16, "4294967312 pixels"},
	} {
		if err := Fill(make([]uint8, c.size), c.w, c.h, &c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	for _, size := range [][2]int{{0, 4}, {4, 0}, {0, 0}} {
		for _, r := range []annotation.Region{{Polygons: square}, {Runs: []uint32{}, Width: size[0], Height: size[1]}} {
			if err := Fill(nil, size[0], size[1], &r); err != nil {
				t.Errorf("an image without pixels: %v", err)
			}
		}
	}
}

// Time is that of the boxes of polygons, wherever in the image: many small ones are filled, and too
// many large ones refused.
func TestFillOfManyPolygons(t *testing.T) {
	const side, n = 1000, 50_000
	polygons := make([][]float64, n)
	for i := range polygons {
		x, y := float64(i*7919%side), float64(i*104729%side)
		polygons[i] = []float64{x, y, x + 3, y, x + 3, y + 3, x, y + 3}
	}
	if err := Fill(make([]uint8, side*side), side, side, &annotation.Region{Polygons: polygons}); err != nil {
		t.Error(err)
	}
	whole := slices.Repeat([][]float64{{0, 0, 10, 0, 10, 10, 0, 10}}, 4)
	p := plotter{dst: make([]uint8, 100), w: 10, h: 10, sx: 1, sy: 1, budget: maxCrossings, pixels: 300}
	if err := p.union(whole); err == nil || err.Error() != "polygon 4: too many large polygons over each other" {
		t.Error(err)
	}
}

// Edges far longer than the image take time for the image alone.
func TestFillOfHugePolygons(t *testing.T) {
	mask := make([]uint8, 10*10)
	const far = MaxCoordinate
	if err := Fill(mask, 10, 10, &annotation.Region{Polygons: [][]float64{{-far, -far, far, -far, far, far, -far, far}}}); err != nil || Area(mask) != 100 {
		t.Errorf("%d pixels, %v", Area(mask), err)
	}
	if err := Fill(mask, 10, 10, &annotation.Region{Polygons: [][]float64{{-far, -far, far, far, -far, far}}}); err != nil || Area(mask) != 55 && Area(mask) != 45 {
		t.Errorf("below the diagonal: %d pixels, %v", Area(mask), err)
	}
}

func TestParseCompressedRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"/": "character", "p": "character", "0\x80": "character", "P": "end within", "11oo": "end within",
		"O": "negative", "000F": "negative", "ooooooO": "negative", "PPPPPP4": "too large", "PPPPPPPPPPPPPPPPPP1": "too large",
		"000000": "more than 5",
	} {
		if runs, err := ParseCompressed([]byte(text), 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v, want %q", text, runs, err, want)
		}
	}
	for _, runs := range [][]uint32{{math.MaxUint32}, {0, 5, 0, math.MaxUint32, 0, 0, 7}, {15, 16, 31, 32, 1, 1 << 31}} {
		got, err := ParseCompressed(AppendCompressed(nil, runs), len(runs))
		if err != nil || !slices.Equal(got, runs) {
			t.Errorf("%d: %d, %v", runs, got, err)
		}
	}
}

func FuzzParseCompressed(f *testing.F) {
	for _, c := range golden(f) {
		f.Add([]byte(c.Counts), c.W, c.H)
	}
	f.Add([]byte("ooooooO"), 3, 3)
	f.Fuzz(func(t *testing.T, text []byte, w, h int) {
		runs, err := ParseCompressed(text, 1000)
		if err != nil {
			return
		}
		again, err := ParseCompressed(AppendCompressed(nil, runs), len(runs))
		if err != nil || !slices.Equal(again, runs) {
			t.Fatalf("%d: %d, %v", runs, again, err)
		}
		w, h = abs(w%100), abs(h%100)
		mask := make([]uint8, w*h)
		err = Fill(mask, w, h, &annotation.Region{Runs: runs, Width: w, Height: h})
		if (err == nil) != (CheckRuns(runs, w, h) == nil) {
			t.Fatalf("%d in %d x %d: %v", runs, w, h, err)
		}
		if err == nil && CheckRuns(Runs(mask, w, h), w, h) != nil {
			t.Fatalf("%d in %d x %d: %d", runs, w, h, Runs(mask, w, h))
		}
	})
}

// TestRunsIn compares with Runs of the whole mask.
func TestRunsIn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 2000 {
		w, h := 1+r.IntN(7), 1+r.IntN(7)
		x, y := r.IntN(w), r.IntN(h)
		in := image.Rect(x, y, x+1+r.IntN(w-x), y+1+r.IntN(h-y))
		part, whole := make([]uint8, in.Dx()*in.Dy()), make([]uint8, w*h)
		for i := range part {
			if part[i] = uint8(r.IntN(2)); part[i] != 0 {
				whole[(in.Min.Y+i/in.Dx())*w+in.Min.X+i%in.Dx()] = 1
			}
		}
		runs := RunsIn(part, in, w, h)
		got := make([]uint8, w*h)
		if err := Fill(got, w, h, &annotation.Region{Runs: runs, Width: w, Height: h}); err != nil || !bytes.Equal(got, whole) {
			t.Fatalf("%v of %v in %dx%d: %v, %v", part, in, w, h, runs, err)
		}
	}
}
