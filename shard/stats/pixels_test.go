package stats

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

func TestPixelTotals(t *testing.T) {
	var dark, light PixelSums
	dark.Pixels, light.Pixels = 100, 1 // a large image has the same weight as a small one
	light.Sum, light.Squares = [3]uint64{255, 255, 0}, [3]uint64{255 * 255, 255 * 255, 0}
	var a, b pixelTotals
	a.add(dark, nil)
	b.add(light, nil)
	b.add(PixelSums{}, errors.New("damaged"))
	a.merge(&b)
	want := Pixels{Images: 3, Damaged: 1, Mean: [3]float64{0.5, 0.5, 0}, Std: [3]float64{0.5, 0.5, 0}}
	if got := a.stats(); *got != want {
		t.Errorf("%+v, want %+v", *got, want)
	}
	if got := new(pixelTotals).stats(); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestPixelSampleDependsOnTheImagesAlone offers images in several orders and from several files.
func TestPixelSampleDependsOnTheImagesAlone(t *testing.T) {
	var images [][]byte
	for i := range 300 {
		images = append(images, fakeImage(byte(i), 1+i/256))
	}
	images = append(images, images[:100]...) // some occur twice
	o := Options{Header: fakeHeader, Pixels: fakePixels, SamplePixels: 40}
	sampled := func(step int) Pixels {
		files := []*fileStats{newTestFile(o), nil}
		files[1] = files[0].m.newFile()
		for i := range images {
			var b tfrecord.Builder
			b.Bytes("p", images[(i*step)%len(images)])
			files[i%2].record(b.Append(nil))
		}
		files[0].merge(files[1])
		return *files[0].stats(t.Context()).Feature("p").Images.Pixels
	}
	want := sampled(1)
	if !want.Sampled || want.Images <= 40 || want.Images > 80 {
		t.Errorf("%+v", want)
	}
	for _, step := range []int{3, 7, 399} {
		if got := sampled(step); got != want {
			t.Errorf("in steps of %d: %+v, want %+v", step, got, want)
		}
	}
	o.SamplePixels = -1
	all := sampled(1)
	mean := 0.0
	for _, p := range images {
		if p[3] != 255 {
			mean += float64(p[3]) / 255
		}
	}
	mean /= float64(all.Images - all.Damaged)
	if all.Sampled || all.Images != 400 || all.Damaged != 1 || math.Abs(all.Mean[0]-mean) > 1e-12 {
		t.Errorf("all: %+v, want a mean of %v", all, mean)
	}
	// The sample is close to the whole, and not biased by the order.
	if math.Abs(want.Mean[0]-mean) > 0.15 {
		t.Errorf("the sample's mean is %v, that of all %v", want.Mean[0], mean)
	}
}

func TestMeasureImages(t *testing.T) {
	var examples []func(b *tfrecord.Builder)
	for i := range 6 {
		examples = append(examples, func(b *tfrecord.Builder) {
			b.Bytes("p", fakeImage(10, i)) // the first has no readable header
			b.Bytes("other", []byte("no picture"))
		})
	}
	path := writeExamples(t, filepath.Join(t.TempDir(), "x.tfrecord"), examples...)
	st := measureFiles(t, Options{Header: fakeHeader, Pixels: fakePixels}, path)
	p := st.Feature("p").Images
	if p.Count != 6 || p.Formats["jpeg"] != 6 || p.Unreadable != 1 || p.Width.Max != "5" || p.Width.Count != 5 || p.Channels["3"] != 5 {
		t.Errorf("%+v", p)
	}
	if len(p.Sizes) != 5 || p.Sizes[0] != (Top[string]{"1x2", 1}) || p.SizesError != 0 {
		t.Errorf("sizes %+v", p.Sizes)
	}
	if p.Pixels == nil || p.Pixels.Images != 5 || p.Pixels.Sampled {
		t.Errorf("pixels %+v", p.Pixels)
	}
	if p := st.Feature("other").Images; p != nil {
		t.Errorf("text: %+v", p)
	}
	if p := measureFiles(t, Options{}, path).Feature("p").Images; p.Count != 6 || p.Width != nil || p.Pixels != nil {
		t.Errorf("without a look at them: %+v", p)
	}
}

// TestSamplesOfNoFiguresAreForgotten: groups and features without room leave no samples.
func TestSamplesOfNoFiguresAreForgotten(t *testing.T) {
	o := Options{By: "g", MaxGroups: 2, MaxFeatures: 4, Header: fakeHeader, Pixels: fakePixels}
	total := newTestFile(o)
	for i := range 20 {
		file := total.m.newFile()
		var b tfrecord.Builder
		b.Int64("g", int64(i))
		b.Bytes(fmt.Sprint("p", i), fakeImage(byte(i), 1))
		file.record(b.Append(nil))
		total.merge(file)
	}
	// 3 features besides g for all records, and one in each of two groups.
	if n := len(total.m.samples.list); n != 5 {
		t.Errorf("%d samples", n)
	}
}

// TestPixelsOfABufferUsedAgain: a reader reuses the memory of the previous record.
func TestPixelsOfABufferUsedAgain(t *testing.T) {
	file := newTestFile(Options{Header: fakeHeader, Pixels: fakePixels, SamplePixels: -1})
	var record []byte
	for _, gray := range []byte{0, 51} {
		var b tfrecord.Builder
		b.Bytes("p", fakeImage(gray, 4))
		record = b.Append(record[:0])
		file.record(record)
	}
	if p := file.stats(t.Context()).Feature("p").Images.Pixels; math.Abs(p.Mean[0]-0.1) > 1e-12 {
		t.Errorf("%+v", p)
	}
}
