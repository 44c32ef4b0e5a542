package stats

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// drawnImage is a record with boxes, for tests.
type drawnImage struct {
	width, height int64 // 0: not stored
	boxes         [][4]float32
	labels        []int64
	texts         []string
	crowd         []int64
}

func (d *drawnImage) put(b *tfrecord.Builder) {
	var sides [4][]float32
	for _, box := range d.boxes {
		for i, x := range box {
			sides[i] = append(sides[i], x)
		}
	}
	for i, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
		b.Float(key, sides[i]...)
	}
	b.Int64(objects.KeyLabel, d.labels...)
	b.String(objects.KeyText, d.texts...)
	b.Int64(objects.KeyCrowd, d.crowd...)
	if d.width > 0 {
		b.Int64("image/width", d.width)
		b.Int64("image/height", d.height)
	}
	b.String("source", []string{"a", "b"}[len(d.boxes)%2])
}

func drawImages(n int) []drawnImage {
	rng := rand.New(rand.NewPCG(3, 4))
	list := make([]drawnImage, n)
	for i := range list {
		d := &list[i]
		if rng.IntN(5) > 0 {
			d.width, d.height = 100+rng.Int64N(500), 100+rng.Int64N(500)
		}
		for range rng.IntN(7) {
			x, y := rng.Float32()/2, rng.Float32()/2
			box := [4]float32{x, y, x + rng.Float32()/2, y + rng.Float32()/2}
			if rng.IntN(20) == 0 {
				box[rng.IntN(4)] = []float32{float32(math.NaN()), float32(math.Inf(1)), -1}[rng.IntN(3)]
			}
			d.boxes = append(d.boxes, box)
			id := rng.Int64N(9) * 11
			d.labels, d.texts, d.crowd = append(d.labels, id), append(d.texts, fmt.Sprint("class ", id)), append(d.crowd, rng.Int64N(2))
		}
		if len(d.boxes) > 0 && rng.IntN(10) == 0 {
			d.labels = nil // texts only
		}
	}
	return list
}

// model counts the objects of images in the plainest way.
func model(images []drawnImage) *Objects {
	o := &Objects{Classes: []ObjectClass{}}
	byName := map[string]*ObjectClass{}
	for _, d := range images {
		o.Images++
		o.Objects += int64(len(d.boxes))
		if len(d.boxes) == 0 {
			o.Empty++
		}
		seen := map[string]bool{}
		for i, box := range d.boxes {
			o.Crowd += d.crowd[i]
			key := "text " + d.texts[i]
			c := &ObjectClass{Name: d.texts[i]}
			if d.labels != nil {
				key, c.ID = strconv.FormatInt(d.labels[i], 10), &d.labels[i]
			}
			if byName[key] == nil {
				byName[key] = c
			}
			byName[key].Objects++
			if !seen[key] {
				seen[key] = true
				byName[key].Images++
			}
			w, h := float64(box[2]-box[0]), float64(box[3]-box[1])
			switch pixels := w * h * float64(d.width) * float64(d.height); {
			case !(w > 0 && h > 0) || math.IsInf(w*h, 0):
				o.BadBoxes++
			case d.width == 0:
				o.Sizes.Unknown++
			case pixels < 1024:
				o.Sizes.Small++
			case pixels < 9216:
				o.Sizes.Medium++
			default:
				o.Sizes.Large++
			}
		}
	}
	for _, c := range byName {
		o.Classes = append(o.Classes, *c)
	}
	slices.SortFunc(o.Classes, func(a, b ObjectClass) int {
		if a.ID != nil && b.ID != nil {
			return cmp.Compare(*a.ID, *b.ID)
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return o
}

// rank orders classes with ids first.
func rank(c ObjectClass) int {
	if c.ID == nil {
		return 1
	}
	return 0
}

// numbersOf returns the numbers that f gives for each box of known size in pixels.
func numbersOf(images []drawnImage, f func(w, h float64, d *drawnImage) float64) (list []float64) {
	for _, d := range images {
		for _, box := range d.boxes {
			w, h := float64(box[2]-box[0]), float64(box[3]-box[1])
			if w > 0 && h > 0 && !math.IsInf(w*h, 0) {
				if x := f(w, h, &d); x > 0 {
					list = append(list, x)
				}
			}
		}
	}
	return list
}

func checkNumbers(t *testing.T, name string, got *Numbers, want []float64) {
	t.Helper()
	sum, least, most := 0.0, math.Inf(1), 0.0
	for _, x := range want {
		sum += x
		least, most = min(least, x), max(most, x)
	}
	low, _ := got.Min.Float64()
	high, _ := got.Max.Float64()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Abs(b)+1e-5 }
	if got.Count != int64(len(want)) || !near(got.Mean, sum/float64(len(want))) || !near(low, least) || !near(high, most) {
		t.Errorf("%s: %d from %v to %v, mean %v; want %d from %v to %v, mean %v", name, got.Count, got.Min, got.Max, got.Mean, len(want), least, most, sum/float64(len(want)))
	}
}

func TestObjectsAgreeWithAPlainModel(t *testing.T) {
	images := drawImages(1500)
	dir := t.TempDir()
	const files = 3
	for k := range files {
		part := images[k*500 : (k+1)*500]
		settest.ExampleFile(t, filepath.Join(dir, fmt.Sprint(k, ".tfrecord")), len(part), func(i int, b *tfrecord.Builder) { part[i].put(b) })
	}
	path := filepath.Join(dir, "*.tfrecord")
	bare := gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().Type().String() == "*stats.Numbers" }, gocmp.Ignore())
	var first []byte
	for _, workers := range []int{1, 3} {
		report, err := Measure(context.Background(), []string{path}, Options{Workers: workers, By: "source"})
		check(t, err)
		if diff := gocmp.Diff(model(images), report.Objects, bare); diff != "" {
			t.Error(diff)
		}
		checkNumbers(t, "area", report.Objects.Area, numbersOf(images, func(w, h float64, _ *drawnImage) float64 { return w * h }))
		checkNumbers(t, "aspect", report.Objects.Aspect, numbersOf(images, func(w, h float64, d *drawnImage) float64 {
			return w * float64(d.width) / (h * float64(max(d.height, 1)))
		}))
		for i, g := range report.Groups {
			var part []drawnImage
			for _, d := range images {
				if len(d.boxes)%2 == i {
					part = append(part, d)
				}
			}
			if diff := gocmp.Diff(model(part), g.Objects, bare); diff != "" {
				t.Errorf("group %s: %s", g.Value, diff)
			}
		}
		for _, l := range report.Labels {
			if l.Key == objects.KeyLabel {
				t.Error("labels of objects are counted as labels of records")
			}
		}
		data, err := json.Marshal(report)
		check(t, err)
		if first == nil {
			first = data
		} else if !bytes.Equal(first, data) {
			t.Errorf("%d workers: the report differs", workers)
		}
		sum, err := Inspect(context.Background(), []string{path}, InspectOptions{Workers: workers})
		check(t, err)
		if diff := gocmp.Diff(model(images), sum.Objects, bare); diff != "" {
			t.Error(diff)
		}
	}
}

// TestObjectsHaveTheNamesOfTheLabelMap has a name for one class, and another that no object has.
func TestObjectsHaveTheNamesOfTheLabelMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	settest.ExampleFile(t, path, 1, func(_ int, b *tfrecord.Builder) {
		d := drawnImage{boxes: [][4]float32{{0, 0, 1, 1}, {0, 0, 1, 1}}, labels: []int64{90, 2}, texts: []string{"said", "said too"}}
		d.put(b)
	})
	settest.PutFile(t, filepath.Join(filepath.Dir(path), manifest.LabelMapFile), []byte(`item { id: 90 name: "ant" } item { id: 4 name: "bee" }`))
	sum, err := Inspect(context.Background(), []string{path}, InspectOptions{})
	check(t, err)
	if c := sum.Objects.Classes; len(c) != 2 || c[0].Name != "said too" || c[1].Name != "ant" {
		t.Errorf("%+v", c)
	}
}

// TestObjectsThatAreMalformed has lists of unequal length, another kind, and a million boxes of a
// million classes.
func TestObjectsThatAreMalformed(t *testing.T) {
	const many = 1_000_000
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	settest.ExampleFile(t, path, 5, func(i int, b *tfrecord.Builder) {
		d := drawnImage{boxes: [][4]float32{{0, 0, 1, 1}}, labels: []int64{7}}
		switch i {
		case 0:
			d.labels = []int64{7, 8}
		case 1:
			b.String(objects.KeyXMin, "0")
			return
		case 2:
			d.boxes, d.labels = make([][4]float32, many), make([]int64, many)
			for i := range d.labels {
				d.labels[i] = int64(i)
			}
		}
		d.put(b)
	})
	report, err := Measure(context.Background(), []string{path}, Options{MaxLabels: 10})
	check(t, err)
	o := report.Objects
	if o.Malformed != 2 || o.Images != 3 || o.Objects != many+2 || o.BadBoxes != many || len(o.Classes) != 10 || o.ClassesOmitted != many-10 || o.Classes[7].Objects != 3 {
		t.Errorf("%+v", o)
	}
}

func TestNoObjects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	settest.ExampleFile(t, path, 5, settest.Numbers)
	report, err := Measure(context.Background(), []string{path}, Options{})
	check(t, err)
	if report.Objects != nil {
		t.Errorf("%+v", report.Objects)
	}
}

// TestCompareObjects holds the drift of random images to distances that are counted one by one.
func TestCompareObjects(t *testing.T) {
	images := drawImages(600)
	halves := [2][]drawnImage{images[:400], images[400:]}
	var reports [2]*Report
	for i, half := range halves {
		reports[i] = measureExamples(t, len(half), func(k int, b *tfrecord.Builder) { half[k].put(b) })
	}
	d := Compare(reports[0], reports[1]).Objects
	if d == nil || d.In != "both" || d.Images != [2]int64{400, 200} || d.PerImage == nil || d.Area == nil || d.Aspect == nil || d.Sizes == nil || d.Classes == nil {
		t.Fatalf("got %+v", d)
	}
	// Shares of images by their number of objects, and of objects by class.
	var perImage [2][7]float64
	classes := [2]map[string]float64{{}, {}}
	all := map[string]bool{}
	for side, half := range halves {
		total := 0
		for _, im := range half {
			perImage[side][len(im.boxes)] += 1 / float64(len(half))
			total += len(im.boxes)
		}
		for _, im := range half {
			for k := range im.boxes {
				class := "" // an id, or the text of an object without one
				if len(im.labels) > 0 {
					class = strconv.FormatInt(im.labels[k], 10)
				} else if len(im.texts) > 0 {
					class = im.texts[k]
				} else {
					continue
				}
				classes[side][class] += 1 / float64(total)
				all[class] = true
			}
		}
		if d.Objects[side] != int64(total) || math.Abs(d.Empty[side]-perImage[side][0]) > 1e-9 {
			t.Errorf("side %d: got %d objects, %v without; want %d, %v", side, d.Objects[side], d.Empty[side], total, perImage[side][0])
		}
	}
	ks, below := 0.0, [2]float64{}
	for n := range perImage[0] {
		below[0], below[1] = below[0]+perImage[0][n], below[1]+perImage[1][n]
		ks = max(ks, math.Abs(below[0]-below[1]))
	}
	distance := 0.0
	for class := range all {
		distance += math.Abs(classes[0][class]-classes[1][class]) / 2
	}
	if math.Abs(d.PerImage.KS-ks) > 1e-9 || math.Abs(d.Classes.Distance-distance) > 1e-9 || len(d.Classes.Shares) != len(all) {
		t.Errorf("got %v, %v of %d classes; want %v, %v of %d", d.PerImage.KS, d.Classes.Distance, len(d.Classes.Shares), ks, distance, len(all))
	}
	if want := max(d.PerImage.KS, d.Area.KS, d.Aspect.KS, d.Sizes.Distance, d.Classes.Distance); d.Score != want {
		t.Errorf("score %v, want %v", d.Score, want)
	}
	for _, n := range [][2]float64{{d.Sizes.Small[0] + d.Sizes.Medium[0] + d.Sizes.Large[0], 1}, {d.Sizes.Small[1] + d.Sizes.Medium[1] + d.Sizes.Large[1], 1}} {
		if math.Abs(n[0]-n[1]) > 1e-9 {
			t.Errorf("shares of sizes are %v together", n[0])
		}
	}
	// The feature with the ids is judged by shares, and not as numbers.
	for _, f := range Compare(reports[0], reports[1]).Features {
		if f.Key == objects.KeyLabel && f.Score != max(f.score(true), d.Classes.Distance) {
			t.Errorf("score of %s is %v", f.Key, f.Score)
		}
	}
	none := measureExamples(t, 3, func(_ int, b *tfrecord.Builder) { b.Int64("x", 1) })
	if d := Compare(none, reports[1]).Objects; d == nil || d.In != "b" || d.Score != 1 || d.Objects[0] != 0 {
		t.Errorf("got %+v", d)
	}
	if d := Compare(none, none).Objects; d != nil {
		t.Errorf("got %+v", d)
	}
}
