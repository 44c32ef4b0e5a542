package region

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
)

// modelFill is what Fill does, as COCO's API does it: all points of an outline on the fine grid, of
// which those at the middle of a column are sorted into runs.
func modelFill(dst []uint8, w, h int, polygons [][]float64) {
	clear(dst)
	for _, xy := range polygons {
		var us, vs []int
		n := len(xy) / 2
		for i := range n {
			j := (i + 1) % n
			xs, ys := int(5*xy[2*i]+.5), int(5*xy[2*i+1]+.5)
			xe, ye := int(5*xy[2*j]+.5), int(5*xy[2*j+1]+.5)
			dx, dy := abs(xe-xs), abs(ye-ys)
			flip := dx >= dy && xs > xe || dx < dy && ys > ye
			if flip {
				xs, xe, ys, ye = xe, xs, ye, ys
			}
			for d := range max(dx, dy) + 1 {
				t := d
				if flip {
					t = max(dx, dy) - d
				}
				if dx >= dy {
					us, vs = append(us, t+xs), append(vs, int(float64(ys)+float64(float64(ye-ys)/float64(dx)*float64(t))+.5))
				} else {
					us, vs = append(us, int(float64(xs)+float64(float64(xe-xs)/float64(dy)*float64(t))+.5)), append(vs, t+ys)
				}
			}
		}
		var starts []int
		for i := 1; i < len(us); i++ {
			x := (float64(min(us[i], us[i-1]))+.5)/5 - .5
			if us[i] > us[i-1] {
				x = (float64(us[i]-1)+.5)/5 - .5
			}
			if us[i] == us[i-1] || x != math.Floor(x) || x < 0 || x > float64(w-1) {
				continue
			}
			y := (float64(min(vs[i], vs[i-1]))+.5)/5 - .5
			starts = append(starts, int(x)*h+int(math.Ceil(min(max(y, 0), float64(h)))))
		}
		slices.Sort(starts)
		inside, next := uint8(0), 0
		for at := range w * h {
			for ; next < len(starts) && starts[next] == at; next++ {
				inside ^= 1
			}
			dst[at%h*w+at/h] |= inside
		}
	}
}

// randomPolygons are outlines of every kind: far outside, crossing themselves, without an area.
func randomPolygons(rng *rand.Rand, w, h int) [][]float64 {
	far := []float64{0, .3, 1, 3, 10}[rng.IntN(5)]
	kind := rng.IntN(4)
	number := func(side int) float64 {
		v := (rng.Float64()*(1+2*far) - far) * float64(side)
		switch kind {
		case 0:
			return math.Round(v)
		case 1:
			return math.Round(v*10) / 10 // halves of the fine grid
		case 2:
			return []float64{0, float64(side), float64(side) / 2, -.5, .5, v}[rng.IntN(6)]
		}
		return v
	}
	polygons := make([][]float64, 1+rng.IntN(1+rng.IntN(20)))
	for i := range polygons {
		for range 3 + rng.IntN(10) {
			polygons[i] = append(polygons[i], number(w), number(h))
		}
	}
	return polygons
}

func TestFillIsTheModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		w, h := 1+rng.IntN(50), 1+rng.IntN(50)
		polygons := randomPolygons(rng, w, h)
		got, want := make([]uint8, w*h), make([]uint8, w*h)
		rng.Shuffle(len(got), func(i, _ int) { got[i] = 9 })
		if err := Fill(got, w, h, &annotation.Region{Polygons: polygons, Width: w, Height: h}); err != nil {
			t.Fatal(err)
		}
		if modelFill(want, w, h, polygons); !slices.Equal(got, want) {
			t.Fatalf("case %d: %d x %d, %v:\n%v, want\n%v", i, w, h, polygons, got, want)
		}
	}
}
