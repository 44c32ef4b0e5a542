package convert

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/imagekey"
)

// classMap is a class for each pixel, in rows of some width.
type classMap struct {
	classes []uint8
	width   int
}

// randomClasses draws classes below n.
func randomClasses(r *rand.Rand, w, h, n int) classMap {
	m := classMap{make([]uint8, w*h), w}
	for i := range m.classes {
		if m.classes[i] = uint8(r.IntN(n)); i > 0 && r.IntN(4) > 0 {
			m.classes[i] = m.classes[i-1]
		}
	}
	return m
}

func (m classMap) encode(t testing.TB, im interface {
	image.Image
	Set(x, y int, c color.Color)
}, of func(class uint8) color.Color,
) []byte {
	t.Helper()
	for i, class := range m.classes {
		im.Set(i%m.width, i/m.width, of(class))
	}
	return testpng.Encode(im)
}

func (m classMap) bounds() image.Rectangle {
	return image.Rect(0, 0, m.width, len(m.classes)/m.width)
}

// gray encodes the classes as samples.
func (m classMap) gray(t testing.TB) []byte {
	return m.encode(t, image.NewGray(m.bounds()), func(class uint8) color.Color { return color.Gray{Y: class} })
}

// rgb paints the classes in their colors.
func (m classMap) rgb(t testing.TB, colors [][3]uint8) []byte {
	return m.encode(t, image.NewNRGBA(m.bounds()), func(class uint8) color.Color {
		c := colors[class]
		return color.NRGBA{c[0], c[1], c[2], 255}
	})
}

// labelMap lists colours as CVAT does.
func labelMap(colors [][3]uint8) []byte {
	text := "# label:color_rgb:parts:actions\n"
	for i, c := range colors {
		text += fmt.Sprintf("class %d:%d,%d,%d::\n", i, c[0], c[1], c[2])
	}
	return []byte(text)
}

// randomColors draws n different colours, black first.
func randomColors(r *rand.Rand, n int) [][3]uint8 {
	colors, seen := [][3]uint8{{}}, map[[3]uint8]bool{{}: true}
	for len(colors) < n {
		c := [3]uint8{uint8(r.IntN(9)), uint8(r.IntN(9)), uint8(r.IntN(256))}
		if !seen[c] {
			seen[c], colors = true, append(colors, c)
		}
	}
	return colors
}

// segmentations returns the masks of a set by the names of their images.
func segmentations(t *testing.T, out string) map[string][]byte {
	t.Helper()
	masks := map[string][]byte{}
	for _, e := range examples(t, out, "train") {
		masks[string(e[imagekey.Filename].([][]byte)[0])] = e[objects.KeySegmentation].([][]byte)[0]
	}
	return masks
}

// TestRGBMasks paints random classes in colours: the masks that are stored are those of the classes,
// however the images are moved.
func TestRGBMasks(t *testing.T) {
	r, codec := rand.New(rand.NewPCG(1, 2)), mustCodec(t)
	for trial := range 12 {
		n := []int{1, 3, 21, 256}[trial%4]
		colors, dir := randomColors(r, n), t.TempDir()
		want := map[string]classMap{}
		for i := range 4 {
			m := randomClasses(r, 5+r.IntN(30), 5+r.IntN(30), n)
			name := fmt.Sprintf("%d.png", i)
			want[name] = m
			put(t, dir, "images/"+name, grayOf(m.width, len(m.classes)/m.width, uint8(i)))
			put(t, dir, "gray/"+name, m.gray(t))
			put(t, dir, "SegmentationClass/"+name, m.rgb(t, colors))
		}
		put(t, dir, []string{"labelmap.txt", "SegmentationClass/labelmap.txt"}[trial%2], labelMap(colors))
		o := ImageOptions{Encode: EncodeSpec{Format: PNG}, Labels: LabelSpec{None: true}}
		switch trial % 3 {
		case 1:
			o.Resize = augment.ResizeSpec{Width: 20, Height: 14, Fit: []augment.Fit{augment.Stretch, augment.Crop, augment.Pad}[r.IntN(3)]}
		case 2:
			o.Augment = AugmentSpec{Policy: policy(t, "hflip:0.5|rotate:20|cutmix:0.5"), Copies: 2}
		}
		sets := map[string]map[string][]byte{}
		for _, masks := range []string{"gray", "SegmentationClass"} {
			o.Annotations.Masks = filepath.Join(dir, masks)
			out := t.TempDir()
			mustImages(t, filepath.Join(dir, "images"), out, o)
			sets[masks] = segmentations(t, out)
		}
		for name, mask := range sets["gray"] {
			if !bytes.Equal(mask, sets["SegmentationClass"][name]) {
				t.Errorf("trial %d: the mask of %s is not that of its classes", trial, name)
			}
		}
		if len(sets["gray"]) != len(sets["SegmentationClass"]) {
			t.Errorf("%d and %d records", len(sets["gray"]), len(sets["SegmentationClass"]))
		}
		if trial%3 != 0 {
			continue
		}
		for name, m := range want {
			var got augment.Image
			if _, err := codec.DecodeMask(&got, sets["SegmentationClass"][name]); err != nil || !bytes.Equal(got.Pix, m.classes) {
				t.Errorf("trial %d: %s: other classes, %v", trial, name, err)
			}
		}
	}
}

func mustCodec(t *testing.T) *augment.Codec {
	t.Helper()
	c, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rgbSet writes images, their masks in three colours, and the list of these, as CVAT does.
func rgbSet(t *testing.T) (dir string, o ImageOptions) {
	t.Helper()
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 8 {
		put(t, dir, fmt.Sprintf("JPEGImages/%d.png", i), grayOf(9, 7, uint8(i)))
		put(t, dir, fmt.Sprintf("SegmentationClass/%d.png", i), randomClasses(r, 9, 7, 3).rgb(t, rgbColors))
	}
	put(t, dir, "labelmap.txt", labelMap(rgbColors))
	return dir, ImageOptions{
		Options: Options{Name: "n", Shards: 2, Even: true}, Encode: EncodeSpec{Format: PNG}, Labels: LabelSpec{None: true},
		Annotations: AnnotationSpec{Masks: filepath.Join(dir, "SegmentationClass")},
	}
}

var rgbColors = [][3]uint8{{0, 0, 0}, {128, 0, 0}, {0, 128, 0}}

// TestRGBMasksAreMadeAgain changes the list of colours: what records have of it makes all shards again.
func TestRGBMasksAreMadeAgain(t *testing.T) {
	dir, o := rgbSet(t)
	src, out := filepath.Join(dir, "JPEGImages"), t.TempDir()
	swapped := [][3]uint8{rgbColors[0], rgbColors[2], rgbColors[1]}
	for i, step := range []struct {
		list    []byte // nil: none
		written int
	}{
		{labelMap(rgbColors), 2},
		{labelMap(rgbColors), 0},
		{labelMap(swapped), 2},
		{append(labelMap(swapped), "more:9,9,9::"...), 2},
		{append([]byte("# comment\n"), strings.ReplaceAll(string(labelMap(swapped)), "class", "renamed")+"more:9,9,9::"...), 0},
		{labelMap(rgbColors), 2},
	} {
		put(t, dir, "labelmap.txt", step.list)
		if s := mustImages(t, src, out, o); s.ShardsWritten != step.written || s.ShardsKept != 2-step.written {
			t.Errorf("step %d: %+v", i, s)
		}
		fresh := t.TempDir()
		mustImages(t, src, fresh, o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
	if err := os.Remove(filepath.Join(dir, "labelmap.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := Images(t.Context(), src, out, o); err == nil || !strings.Contains(err.Error(), "with the colours of classes in labelmap.txt, in the directory of masks or next to it") {
		t.Errorf("without a list: %v", err)
	}
}

// TestRGBMasksOfOneImage: a mask with another colour, and those that are not RGB, are lines of the
// ledger, and a mask of classes stays one.
func TestRGBMasksOfOneImage(t *testing.T) {
	dir, o := rgbSet(t)
	m := classMap{make([]uint8, 9*7), 9}
	m.classes[9*2+4] = 1
	put(t, dir, "SegmentationClass/3.png", m.rgb(t, [][3]uint8{{0, 0, 0}, {224, 224, 192}}))
	put(t, dir, "SegmentationClass/5.png", m.gray(t))
	clear := image.NewNRGBA(m.bounds())
	put(t, dir, "SegmentationClass/6.png", m.encode(t, clear, func(uint8) color.Color { return color.NRGBA{0, 0, 0, 9} }))
	o.MaxErrors = Tolerance{Count: 2}
	out := t.TempDir()
	if s := mustImages(t, filepath.Join(dir, "JPEGImages"), out, o); s.Errors != 2 || s.Records != 6 {
		t.Errorf("%+v", s)
	}
	lines := ledger(t, out)
	for i, want := range []string{
		"3.png 0 decode mask 3.png: no class in labelmap.txt has the colour 224,224,192 of the pixel at x=4, y=2",
		"6.png 0 decode mask 6.png: unsupported image: png: its samples are not classes",
	} {
		if len(lines) != 2 || !strings.Contains(lines[i], want) {
			t.Fatalf("ledger: %q", lines)
		}
	}
	var got augment.Image
	if _, err := mustCodec(t).DecodeMask(&got, segmentations(t, out)["5.png"]); err != nil || !bytes.Equal(got.Pix, m.classes) {
		t.Errorf("the mask of samples has other classes, %v", err)
	}
}

// TestRGBMasksSay: notes say which class is which and what of the list is not stored, the list is an
// input of the set, and it is not in the account as a file that is not read.
func TestRGBMasksSay(t *testing.T) {
	dir, o := rgbSet(t)
	list := filepath.Join(dir, "labelmap.txt")
	put(t, dir, "labelmap.txt", []byte("cat:128,0,0:head:\nbackground:0,0,0::\ndog:0,128,0::run\n"))
	o.Depfile = filepath.Join(t.TempDir(), "out.d")
	var notes []string
	o.Note = func(s string) { notes = append(notes, s) }
	s := mustImages(t, dir, t.TempDir(), o)
	if len(s.LeftOut) != 1 || s.LeftOut[0].Reason != "annotation_field" || strings.Join(s.LeftOut[0].Names, " ") != "actions (1) parts (1)" {
		t.Errorf("left out: %+v", s.LeftOut)
	}
	for _, want := range []string{
		"the classes of masks in RGB are those of " + list + ": 0 cat, 1 background, 2 dog",
		"the first class of " + list + ", cat, has the colour 128,0,0: Datumaro instead gives 0 to the class of 0,0,0",
	} {
		if !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("notes %q lack %q", notes, want)
		}
	}
	deps, err := os.ReadFile(o.Depfile)
	if path, _ := plan.EscapeDepfile(list); err != nil || !strings.Contains(string(deps), "\n"+path+":\n") {
		t.Errorf("%v in\n%s", err, deps)
	}
	put(t, dir, "labelmap.txt", labelMap(rgbColors))
	notes = nil
	if s := mustImages(t, dir, t.TempDir(), o); len(s.LeftOut) != 0 || strings.Contains(strings.Join(notes, "\n"), "Datumaro") {
		t.Errorf("black first: %+v, %q", s.LeftOut, notes)
	}
}

// TestFaultyMaskColors: a list with a fault ends the run before it writes anything.
func TestFaultyMaskColors(t *testing.T) {
	dir, o := rgbSet(t)
	list := filepath.Join(dir, "labelmap.txt")
	put(t, dir, "labelmap.txt", []byte("background:0,0,0::\ncat:0,0,0::\n"))
	out := filepath.Join(t.TempDir(), "out")
	_, err := Images(t.Context(), filepath.Join(dir, "JPEGImages"), out, o)
	if err == nil || !strings.Contains(err.Error(), "AnnotationSpec.Masks: "+list+":2: the class cat has the colour 0,0,0 of the class on line 1") {
		t.Error(err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the set exists: %v", err)
	}
	put(t, dir, "labelmap.txt", []byte("cat\ndog\n")) // of another tool
	o.MaxErrors.Share = 1
	if _, err := Images(t.Context(), filepath.Join(dir, "JPEGImages"), out, o); err != nil && strings.Contains(err.Error(), "labelmap.txt:") {
		t.Error(err)
	}
}
