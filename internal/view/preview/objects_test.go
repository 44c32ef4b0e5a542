package preview

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"html"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// turnedPNG returns a PNG with EXIF's orientation.
func turnedPNG(t testing.TB, im *augment.Image, orientation int) []byte {
	data := encodePNG(t, im)
	exif := []byte("eXIfMM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00")
	exif = append(exif, byte(orientation), 0, 0, 0, 0, 0, 0)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(exif)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, exif...), crc32.ChecksumIEEE(exif))
	const header = 33 // the signature and IHDR
	return append(append(bytes.Clone(data[:header]), chunk...), data[header:]...)
}

// drawnRecord has a white rectangle on gray as its object, with a mask of each kind.
func drawnRecord(t testing.TB, w, h int, r image.Rectangle, orientation int) []byte {
	var im, mask augment.Image
	im.Reset(w, h, 3)
	mask.Reset(w, h, 1)
	for i := range im.Pix {
		im.Pix[i] = 90
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			copy(im.Row(y)[3*x:], "\xff\xff\xff")
			mask.Row(y)[x] = 1
		}
	}
	return example(turnedPNG(t, &im, orientation), "a.png", "", func(b *tfrecord.Builder) {
		b.Float(objects.KeyXMin, float32(r.Min.X)/float32(w))
		b.Float(objects.KeyXMax, float32(r.Max.X)/float32(w))
		b.Float(objects.KeyYMin, float32(r.Min.Y)/float32(h))
		b.Float(objects.KeyYMax, float32(r.Max.Y)/float32(h))
		b.Int64(objects.KeyLabel, 7)
		b.String(objects.KeyText, "plate")
		b.Bytes(objects.KeyMask, encodePNG(t, &mask))
	})
}

func newDescriber(t testing.TB, budget int) *describer {
	o := options(t)
	return &describer{
		contents: &contents{files: []file{{path: "x.tfrecord"}}, imageKey: imagekey.Encoded, key: imagekey.Filename, masks: true, classes: newClasses(&stats.Objects{Classes: []stats.ObjectClass{{Name: "plate"}}})},
		budget:   budget, thumbnails: thumbnails{codec: o.Codec, gate: newGate()},
	}
}

// tightBox returns the smallest rectangle around the pixels that is reports, in shares.
func tightBox(size image.Rectangle, is func(x, y int) bool) (xmin, ymin, xmax, ymax float64) {
	var r image.Rectangle
	for y := range size.Dy() {
		for x := range size.Dx() {
			if is(x, y) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	w, h := float64(size.Dx()), float64(size.Dy())
	return float64(r.Min.X) / w, float64(r.Min.Y) / h, float64(r.Max.X) / w, float64(r.Max.Y) / h
}

// TestDrawingsFollowTheImage turns images in each way, and compares boxes and masks with where the
// object is seen.
func TestDrawingsFollowTheImage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := newDescriber(t, 0)
	d.classes.ids[7] = "plate"
	for i := range 80 {
		w, h := 40+rng.IntN(160), 40+rng.IntN(160)
		x, y := rng.IntN(w-20), rng.IntN(h-20)
		r := image.Rect(x, y, x+12+rng.IntN(w-x-12), y+12+rng.IntN(h-y-12))
		s := d.describe(location{}, drawnRecord(t, w, h, r, 1+i%8), nil)
		if s.err != nil || s.drawing == nil || s.drawing.problem != "" || len(s.drawing.boxes) != 1 || s.drawing.masks == nil {
			t.Fatalf("%+v, %+v", s, s.drawing)
		}
		pixels, b := s.image.pixels, s.drawing.boxes[0]
		x0, y0, x1, y1 := tightBox(pixels.Rect, func(x, y int) bool { return pixels.NRGBAAt(x, y).R > 170 })
		mask := s.drawing.masks
		m0, n0, m1, n1 := tightBox(mask.Rect, func(x, y int) bool { return mask.ColorIndexAt(x, y) == pixelOfObject(0) })
		near := 1.6 / float64(min(pixels.Rect.Dx(), pixels.Rect.Dy()))
		for k, pair := range [][3]float64{{b.xmin, x0, m0}, {b.ymin, y0, n0}, {b.xmax, x1, m1}, {b.ymax, y1, n1}} {
			if math.Abs(pair[0]-pair[1]) > near || math.Abs(pair[0]-pair[2]) > near {
				t.Errorf("orientation %d, side %d: box %v, image %v, mask %v", 1+i%8, k, pair[0], pair[1], pair[2])
			}
		}
		if b.name != "plate" || s.drawing.summary != "1 object: plate" {
			t.Errorf("%q, %q", b.name, s.drawing.summary)
		}
	}
}

// hostileObjects writes a set of records whose objects are wrong in each way.
func hostileObjects(t testing.TB) string {
	img := encodePNG(t, noise(1, 60, 40, 3))
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
	other := encodePNG(t, noise(2, 40, 60, 1))
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
		func(b *tfrecord.Builder) { b.Bytes(objects.KeySegmentation, encodePNG(t, noise(3, 60, 40, 1))) },
		func(b *tfrecord.Builder) {
			boxes(b, len(hostile), 0, 0, 1, 1)
			b.String(objects.KeyText, hostile...)
		},
	} {
		records = append(records, example(img, fmt.Sprintf("%d.png", len(records)), "x", more))
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
	return dir
}

func TestHostileObjects(t *testing.T) {
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
	img := encodePNG(t, noise(1, 80, 60, 3))
	mask := encodePNG(t, noise(2, 80, 60, 1))
	for range MaxSamples {
		records = append(records, example(img, "x", "", func(b *tfrecord.Builder) {
			const n = 40
			for _, axis := range objects.Axes {
				b.Float(axis.Min, make([]float32, n)...)
				b.Float(axis.Max, slices.Repeat([]float32{0.5}, n)...)
			}
			b.String(objects.KeyText, slices.Repeat([]string{strings.Repeat("name", 50)}, n)...)
			b.Bytes(objects.KeySegmentation, mask)
		}))
	}
	writeFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
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
		records = append(records, drawnRecord(t, 200, 100, image.Rect(50, 25, 150, 75), 1+i%8))
	}
	writeFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, records...)
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
		x0, y0, x1, y1 := tightBox(im.Bounds(), func(x, y int) bool { _, _, _, a := im.At(x, y).RGBA(); return a > 0 })
		if math.Abs(x0-0.25) > 0.02 || math.Abs(y0-0.25) > 0.02 || math.Abs(x1-0.75) > 0.02 || math.Abs(y1-0.75) > 0.02 {
			t.Errorf("a mask from %v,%v to %v,%v", x0, y0, x1, y1)
		}
	}
}

// TestContactsShowObjects looks at the sides and the inside of a box on a contact sheet.
func TestContactsShowObjects(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tfrecord")
	writeFile(t, path, tfrecord.CompressionNone, drawnRecord(t, 176, 176, image.Rect(40, 40, 140, 140), 1))
	sum, err := stats.Inspect(t.Context(), []string{path}, stats.InspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := options(t).withDefaults()
	o.Samples = 1
	c := newContents(nil, sum.Files)
	if err := c.resolve(&o, featuresSeen(sum.Features), nil, sum.Labels, sum.Objects); err != nil {
		t.Fatal(err)
	}
	chosen, err := c.sample(t.Context(), &o, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &chosen[0].samples[0]
	im := x.drawing.on(x.image.pixels)
	if got := im.NRGBAAt(139, 100); got != colourOf(0) {
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
			if im.NRGBAAt(x, y) != colourOf(0) {
				dark++
			}
		}
	}
	if dark < 50 {
		t.Errorf("%d pixels of the name", dark)
	}
}
