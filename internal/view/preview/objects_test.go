package preview

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/png"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/previewtest"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// hostileObjects writes a set of records whose objects are wrong in each way.
func hostileObjects(t testing.TB) string {
	img := previewtest.EncodePNG(t, previewtest.Noise(1, 60, 40, 3))
	nan := float32(math.NaN())
	boxes := func(b *tfrecord.Builder, n int, xmin, ymin, xmax, ymax float32) {
		for i, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
			values := make([]float32, n)
			for k := range values {
				values[k] = []float32{xmin, ymin, xmax, ymax}[i]
			}
			b.Float(key, values...)
		}
	}
	other := previewtest.EncodePNG(t, previewtest.Noise(2, 40, 60, 1))
	huge := bytes.Clone(other)
	copy(huge[16:], "\x7f\xff\xff\xff\x7f\xff\xff\xff")
	var records [][]byte
	for _, more := range []func(b *tfrecord.Builder){
		func(b *tfrecord.Builder) { boxes(b, 1_000_000, 0, 0, 1, 1) },
		func(b *tfrecord.Builder) { boxes(b, 50_000, 0.1, 0.1, 0.5, 0.5) },
		func(b *tfrecord.Builder) { boxes(b, 3, nan, 0, 1, 1) },
		func(b *tfrecord.Builder) { boxes(b, 3, float32(math.Inf(-1)), -5, 1e30, 7) },
		func(b *tfrecord.Builder) { boxes(b, 3, 0.5, 0.5, 0.5, 0.5) },
		func(b *tfrecord.Builder) { boxes(b, 2, 0, 0, 1, 1); b.Int64(objects.KeyLabel, 1) },
		func(b *tfrecord.Builder) { b.String(objects.KeyXMin, "0") },
		func(b *tfrecord.Builder) { boxes(b, 1, 0, 0, 1, 1); b.Bytes(objects.KeyMask, other) },
		func(b *tfrecord.Builder) { boxes(b, 1, 0, 0, 1, 1); b.Bytes(objects.KeyMask, huge) },
		func(b *tfrecord.Builder) { boxes(b, 1, 0, 0, 1, 1); b.Bytes(objects.KeyMask, nil) },
		func(b *tfrecord.Builder) { b.Bytes(objects.KeySegmentation, img) },
		func(b *tfrecord.Builder) {
			b.Bytes(objects.KeySegmentation, previewtest.EncodePNG(t, previewtest.Noise(3, 60, 40, 1)))
		},
		func(b *tfrecord.Builder) {
			boxes(b, len(hostile), 0, 0, 1, 1)
			b.String(objects.KeyText, hostile...)
		},
	} {
		records = append(records, previewtest.Example(img, fmt.Sprintf("%d.png", len(records)), "x", more))
	}
	dir := t.TempDir()
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
	return dir
}

func TestHostileObjects(t *testing.T) {
	race.Skip(t)
	page, report := writePage(t, hostileObjects(t), options(t))
	if report.Images != 13 || report.Unreadable != 0 {
		t.Errorf("%+v", report)
	}
	for _, want := range []string{
		"1,000,000 objects; more than 100,000 are not drawn", "objects are not drawn: image/object/class/label has 1 values for 2 boxes",
		"masks are not drawn: a mask of 40x60 pixels", "50,000 objects",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	if n := strings.Count(page, "<image "); n != 1 { // the one mask that fits
		t.Errorf("%d masks", n)
	}
	dir := hostileObjects(t)
	sum, err := stats.Inspect(t.Context(), []string{dir}, stats.InspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := WriteContacts(t.Context(), sum, filepath.Join(dir, "sheet.png"), options(t)); err != nil || r.Images != 13 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestObjectsOfManyRecords shows as many records as a page may, each with many large masks.
func TestObjectsOfManyRecords(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	var records [][]byte
	img := previewtest.EncodePNG(t, previewtest.Noise(1, 80, 60, 3))
	mask := previewtest.EncodePNG(t, previewtest.Noise(2, 80, 60, 1))
	for range MaxSamples {
		records = append(records, previewtest.Example(img, "x", "", func(b *tfrecord.Builder) {
			const n = 40
			for _, axis := range objects.Axes {
				b.Float(axis.Min, make([]float32, n)...)
				b.Float(axis.Max, slices.Repeat([]float32{0.5}, n)...)
			}
			b.String(objects.KeyText, slices.Repeat([]string{strings.Repeat("name", 50)}, n)...)
			b.Bytes(objects.KeySegmentation, mask)
		}))
	}
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
	o := options(t)
	o.Samples = MaxSamples
	page, _ := writePage(t, dir, o) // which checks its size
	if n := strings.Count(page, `class="drawn"`); n == 0 {
		t.Error("nothing is drawn")
	}
}

// TestPageDrawsObjects looks for the boxes, masks, classes and figures on a page.
func TestPageDrawsObjects(t *testing.T) {
	dir := t.TempDir()
	var records [][]byte
	for i := range 8 {
		records = append(records, previewtest.DrawnRecord(t, 200, 100, image.Rect(50, 25, 150, 75), 1+i%8))
	}
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
	page, _ := writePage(t, dir, options(t))
	for _, want := range []string{
		`viewBox="0 0 1000 500"`, `viewBox="0 0 500 1000"`, `<path d="M250 125h500v250h-500z">`, `<path d="M125 250h250v500h-250z">`, ">plate</text>",
		`<a href="#objects">Objects</a>`, "1 class, by <bdi>image/object/class/label</bdi>", "Objects of an image", "1 object: plate", `name="boxes"`, `name="masks"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`<image href="data:image/png;base64,([^"]*)"`).FindAllStringSubmatch(page, -1) {
		data, err := base64.StdEncoding.DecodeString(html.UnescapeString(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		im, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		x0, y0, x1, y1 := previewtest.TightBox(im.Bounds(), func(x, y int) bool { _, _, _, a := im.At(x, y).RGBA(); return a > 0 })
		if math.Abs(x0-0.25) > 0.02 || math.Abs(y0-0.25) > 0.02 || math.Abs(x1-0.75) > 0.02 || math.Abs(y1-0.75) > 0.02 {
			t.Errorf("a mask from %v,%v to %v,%v", x0, y0, x1, y1)
		}
	}
}

// TestContactsShowObjects looks at the sides and the inside of a box on a contact sheet.
func TestContactsShowObjects(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tfrecord")
	previewtest.WriteFile(t, path, tfrecord.CompressionNone, previewtest.DrawnRecord(t, 176, 176, image.Rect(40, 40, 140, 140), 1))
	sum, err := stats.Inspect(t.Context(), []string{path}, stats.InspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := options(t).withDefaults()
	o.Samples = 1
	c := contents.New(nil, sum.Files)
	if err := c.Resolve(o.keys(), contents.FeaturesSeen(sum.Features), nil, sum.Labels, sum.Objects); err != nil {
		t.Fatal(err)
	}
	chosen, err := sampleOf(t.Context(), c, &o, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &chosen[0].samples[0]
	im := drawOn(x.Drawing, x.Image.Pixels)
	if got := im.NRGBAAt(139, 100); got != sample.ColourOf(0) {
		t.Errorf("the side is %v", got)
	}
	if got := im.NRGBAAt(90, 130); got.R < got.G+50 { // white under the colour
		t.Errorf("inside the masked box is %v", got)
	}
	if got := im.NRGBAAt(20, 20); got.R != 90 || got.G != 90 {
		t.Errorf("outside is %v", got)
	}
	dark := 0
	for y := 40; y < 56; y++ {
		for x := 42; x < 42+5*letterWidth; x++ {
			if im.NRGBAAt(x, y) != sample.ColourOf(0) {
				dark++
			}
		}
	}
	if dark < 50 {
		t.Errorf("%d pixels of the name", dark)
	}
}
