//go:build interop

package interop

import (
	"encoding/json"
	"image"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/region"
)

// judgedRegion is what pycocotools makes of a region.
type judgedRegion struct {
	Counts string
	Area   int
	Box    [4]int
}

// pycocotools has the same pixels, runs, areas and boxes, for polygons of every kind.
func TestRegionsAreThoseOfPycocotools(t *testing.T) {
	ask := startScript(t, *python, "regions.py")
	rng := rand.New(rand.NewPCG(5, 6))
	for range 6000 {
		w, h := 1+rng.IntN(200), 1+rng.IntN(200)
		if rng.IntN(50) == 0 {
			w, h = 1+rng.IntN(2000), 1+rng.IntN(2000)
		}
		polygons := randomPolygons(rng, w, h)
		mask := make([]uint8, w*h)
		if err := region.Fill(mask, w, h, &annotation.Region{Polygons: polygons, Width: w, Height: h}); err != nil {
			t.Fatal(err)
		}
		var want judgedRegion
		ask(t, map[string]any{"w": w, "h": h, "polygons": polygons}, &want)
		checkRegion(t, mask, w, h, want, polygons)
		if rng.IntN(10) == 0 {
			ask(t, map[string]any{"w": w, "h": h, "counts": region.Runs(mask, w, h)}, &want)
			checkRegion(t, mask, w, h, want, "its runs")
		}
		runs, err := region.ParseCompressed([]byte(want.Counts), w*h+1)
		again := make([]uint8, w*h)
		if err == nil {
			err = region.Fill(again, w, h, &annotation.Region{Runs: runs, Width: w, Height: h})
		}
		if err != nil || !slices.Equal(again, mask) {
			t.Fatalf("%q of %d x %d: %v", want.Counts, w, h, err)
		}
	}
}

// TestRateOfMasks reports the CPU time of PNG masks of polygons in images of the size that COCO's
// have, and that of a loop with pycocotools and Pillow in the same run:
//
//	go test -tags interop -run RateOfMasks -v ./internal/dev/interop
func TestRateOfMasks(t *testing.T) {
	const w, h, n = 640, 480, 300
	rng := rand.New(rand.NewPCG(9, 10))
	regions := make([]map[string]any, n)
	for i := range regions {
		x, y, size := rng.Float64()*w, rng.Float64()*h, 20+rng.ExpFloat64()*60
		var outline []float64
		for k := range 30 {
			r, angle := size*(.7+.3*rng.Float64()), 2*math.Pi*float64(k)/30
			outline = append(outline, min(max(x+r*math.Cos(angle), 0), w), min(max(y+r*math.Sin(angle), 0), h))
		}
		regions[i] = map[string]any{"w": w, "h": h, "polygons": [][]float64{outline}}
	}
	var theirs struct{ Seconds float64 }
	startScript(t, *python, "regions.py")(t, map[string]any{"bench": regions}, &theirs)
	mask := make([]uint8, w*h)
	var png []byte
	start := cpuTime(t)
	for _, r := range regions {
		if err := region.Fill(mask, w, h, &annotation.Region{Polygons: r["polygons"].([][]float64)}); err != nil {
			t.Fatal(err)
		}
		png = region.AppendPNG(png[:0], mask, w, h)
	}
	ours := cpuTime(t) - start
	t.Logf("%d masks of %d x %d: %.1f ms, pycocotools and Pillow %.1f ms, a ratio of %.1f", n, w, h, 1e3*ours, 1e3*theirs.Seconds, theirs.Seconds/ours)
	if ours > 4*theirs.Seconds { // on many cores, collecting garbage in idle ones counts
		t.Error("much slower than Python")
	}
}

// cpuTime is how many seconds of the processors this process has used.
func cpuTime(t *testing.T) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// checkRegion compares a mask with what pycocotools made of the same region.
func checkRegion(t *testing.T, mask []uint8, w, h int, want judgedRegion, what any) {
	t.Helper()
	box := region.Bounds(mask, w, h)
	got := judgedRegion{Counts: string(region.AppendCompressed(nil, region.Runs(mask, w, h))), Area: region.Area(mask)}
	if got.Area > 0 {
		got.Box = [4]int{box.Min.X, box.Min.Y, box.Dx(), box.Dy()}
	} else if want.Box = [4]int{}; box != (image.Rectangle{}) {
		t.Fatalf("%v: %v of an empty mask", what, box)
	}
	if got != want {
		t.Fatalf("%d x %d, %v: %+v, want %+v", w, h, what, got, want)
	}
}

// randomPolygons are concave, cross themselves, have points twice, are far outside, or have no area.
func randomPolygons(rng *rand.Rand, w, h int) [][]float64 {
	far := []float64{0, .1, 1, 10, 200}[rng.IntN(5)]
	kind := rng.IntN(6)
	number := func(side int) float64 {
		v := (rng.Float64()*(1+2*far) - far) * float64(side)
		switch kind {
		case 0:
			return float64(int(v))
		case 1:
			return float64(int(v*10)) / 10
		case 2:
			return []float64{0, float64(side), float64(side) / 2, -.5, .5, float64(side) - .5, v}[rng.IntN(7)]
		case 3:
			return float64(side)/2 + rng.Float64()*2 // tiny
		}
		return v
	}
	polygons := make([][]float64, 1+rng.IntN(1+rng.IntN(12)))
	for i := range polygons {
		for range 3 + rng.IntN(12) {
			polygons[i] = append(polygons[i], number(w), number(h))
			if n := len(polygons[i]); rng.IntN(10) == 0 {
				polygons[i] = append(polygons[i], polygons[i][n-2:]...)
			}
		}
	}
	return polygons
}

// Protocol buffers read the label maps, names of any characters included.
func TestProtobufReadsLabelMaps(t *testing.T) {
	ask := startScript(t, *python, "regions.py")
	classes := []annotation.Class{{ID: 1, Name: "person"}, {ID: 18, Name: `o'val "ring" \ {x}`}, {ID: 90, Name: "vieleck-ä 犬\u2028"}, {ID: -3, Name: "a\r\n\tb\x00\x7f\\n"}}
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 300 {
		name := make([]rune, 1+rng.IntN(9))
		for j := range name {
			name[j] = []rune{rng.Int32N(0x20), 0x20 + rng.Int32N(0x60), 0x80 + rng.Int32N(0xd700), 0x10000 + rng.Int32N(0xfffff)}[rng.IntN(4)]
		}
		classes = append(classes, annotation.Class{ID: 1000 + int64(i), Name: string(name)})
	}
	var got struct{ Items []json.RawMessage }
	ask(t, map[string]any{"label_map": string(labelmap.Append(nil, classes))}, &got)
	for i, raw := range got.Items {
		var item [2]any
		if err := json.Unmarshal(raw, &item); err != nil || !reflect.DeepEqual(item, [2]any{float64(classes[i].ID), classes[i].Name}) {
			t.Errorf("%s, %v, want %+v", raw, err, classes[i])
		}
	}
	if len(got.Items) != len(classes) {
		t.Errorf("%d items, want %d", len(got.Items), len(classes))
	}
}
