package preview

import (
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/imaging"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestMarker finds boxes and masks on small images, and the same colours on records with other
// objects.
func TestMarker(t *testing.T) {
	record := func(labels ...int64) []byte {
		var b tfrecord.Builder
		var sides [4][]float32
		var texts []string
		for i, id := range labels {
			x := float32(i) * 0.25
			for k, v := range []float32{x, 0.25, x + 0.2, 0.75} {
				sides[k] = append(sides[k], v)
			}
			texts = append(texts, fmt.Sprint("class ", id))
		}
		for k, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
			b.Float(key, sides[k]...)
		}
		b.Int64(objects.KeyLabel, labels...)
		b.String(objects.KeyText, texts...)
		return b.Append(nil)
	}
	m, err := NewMarker(options(t).Codec, record(7, 3, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, labels := range [][]int64{{7, 3, 3}, {3}, {7}, {}} {
		marked, problem, err := m.Mark(imaging.New(100, 60, color.Black), 1000, 600, record(labels...))
		if err != nil || problem != "" {
			t.Fatal(problem, err)
		}
		for i, id := range labels {
			want := sample.ColourOf(0)
			if id == 7 {
				want = sample.ColourOf(1)
			}
			if got := marked.NRGBAAt(25*i, 40); got != want {
				t.Errorf("%v: the box of object %d is %v, want %v", labels, i, got, want)
			}
			if got := marked.NRGBAAt(25*i+10, 40); got != (color.NRGBA{A: 255}) {
				t.Errorf("%v: within object %d is %v", labels, i, got)
			}
		}
		if len(labels) == 0 && imaging.Histogram(marked)[0] != 1 {
			t.Error("something is drawn without objects")
		}
	}
	many := make([]int64, sample.MaxDrawn+1)
	if _, problem, err := m.Mark(imaging.New(100, 60, color.Black), 10, 6, record(many...)); err != nil || problem == "" {
		t.Error("that some boxes are not drawn is not said", err)
	}
	if _, _, err := m.Mark(imaging.New(1, 1, color.Black), 10, 6, []byte("no record")); err == nil {
		t.Error("no error of what is no record")
	}
}

// TestNameplates: names of boxes never overlap, and each is in its box.
func TestNameplates(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	found := 0
	for range 300 {
		var taken []image.Rectangle
		for range 12 {
			x, y := r.IntN(150), r.IntN(150)
			box := image.Rect(x, y, x+1+r.IntN(120), y+1+r.IntN(120))
			width := r.IntN(box.Dx()) + 1
			plate, ok := nameplate(box, width, taken)
			if !ok {
				continue
			}
			found++
			if plate.Dx() != width || plate.Dy() != lineHeight || !plate.In(box) {
				t.Fatalf("the name of %v, %d pixels wide, is at %v", box, width, plate)
			}
			for _, other := range taken {
				if plate.Overlaps(other) {
					t.Fatalf("names at %v and %v", plate, other)
				}
			}
			taken = append(taken, plate)
		}
	}
	if found < 1000 {
		t.Errorf("only %d names", found)
	}
}

func TestCaption(t *testing.T) {
	square := image.Rect(10, 5, 60, 25) // six letters wide
	for _, c := range []struct {
		lines []string
		last  int // pixel of a line of ink
	}{{[]string{"longer than it", "3 of 4"}, 58}, {[]string{"1", "3 of 4"}, 18}, {[]string{"longer than it"}, 0}} {
		sheet := image.NewRGBA(image.Rect(0, 0, 100, 60))
		Caption(sheet, square, c.lines...)
		last := 0
		for y := range 60 {
			for x := range 100 {
				if sheet.RGBAAt(x, y).A == 0 {
					continue
				}
				last = max(last, x)
				if y < square.Max.Y || y >= square.Max.Y+CaptionHeight || x < square.Min.X || x >= square.Max.X {
					t.Fatalf("%q: ink at %d,%d", c.lines, x, y)
				}
			}
		}
		if last > c.last || last < c.last-8 {
			t.Errorf("%q: the last ink is at %d, want %d", c.lines, last, c.last)
		}
	}
}
