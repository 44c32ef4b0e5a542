package convert

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/imagekey"
)

// rect is an object in a drawing: a rectangle of one pure colour.
type rect struct {
	class int // index in hues
	box   image.Rectangle
}

// hues are the colours of the classes, whose COCO ids are in hueIDs.
var (
	hues   = []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}}
	hueIDs = []int64{90, 3, 7}
)

// drawing is an image as shown, with its objects.
type drawing struct {
	name        string
	w, h        int
	orientation int  // of the file
	stored      bool // annotations are on the stored image
	rects       []rect
}

// drawDrawing draws up to three objects, side by side.
func drawDrawing(r *rand.Rand, i int) drawing {
	d := drawing{name: fmt.Sprintf("d%02d.png", i), w: 60 + r.IntN(40), h: 45 + r.IntN(14), orientation: 1 + r.IntN(8)}
	d.stored = d.orientation >= 5 && r.IntN(2) == 0
	for class := range r.IntN(4) {
		x0, y0 := class*20+r.IntN(3), r.IntN(15)
		d.rects = append(d.rects, rect{class, image.Rect(x0, y0, x0+10+r.IntN(7), y0+10+r.IntN(20))})
	}
	return d
}

// turn moves a point of the image as shown to the stored image: the inverse of what EXIF says.
func (d *drawing) turn(x, y int) (int, int) {
	switch d.orientation {
	case 2:
		return d.w - 1 - x, y
	case 3:
		return d.w - 1 - x, d.h - 1 - y
	case 4:
		return x, d.h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, d.w - 1 - x
	case 7:
		return d.h - 1 - y, d.w - 1 - x
	case 8:
		return d.h - 1 - y, x
	}
	return x, y
}

// file returns the PNG with its orientation.
func (d *drawing) file() []byte {
	w, h := d.w, d.h
	if d.orientation >= 5 {
		w, h = h, w
	}
	im := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range d.h {
		for x := range d.w {
			c := color.RGBA{uint8(100 + (x*7+y*3)%50), 120, 120, 255}
			for _, r := range d.rects {
				if image.Pt(x, y).In(r.box) {
					c = hues[r.class]
				}
			}
			sx, sy := d.turn(x, y)
			im.Set(sx, sy, c)
		}
	}
	file := testpng.Encode(im)
	exif := []byte("eXIfMM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	exif[23] = byte(d.orientation)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(exif)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, exif...), crc32.ChecksumIEEE(exif))
	const header = 8 + 25 // signature and IHDR
	return slices.Concat(file[:header], chunk, file[header:])
}

// annotated returns the size that annotations state, and a rectangle in their frame.
func (d *drawing) annotated(r image.Rectangle) (w, h int, _ image.Rectangle) {
	if !d.stored {
		return d.w, d.h, r
	}
	x0, y0 := d.turn(r.Min.X, r.Min.Y)
	x1, y1 := d.turn(r.Max.X-1, r.Max.Y-1)
	return d.h, d.w, image.Rect(min(x0, x1), min(y0, y1), max(x0, x1)+1, max(y0, y1)+1)
}

// cocoOf returns a COCO file of drawings, with more annotations.
func cocoOf(drawings []drawing, more ...map[string]any) []byte {
	images, anns, categories := []any{}, []any{}, []any{}
	for i, id := range hueIDs {
		categories = append(categories, map[string]any{"id": id, "name": fmt.Sprintf("hue%d", i)})
	}
	for i, d := range drawings {
		w, h, _ := d.annotated(image.Rectangle{})
		images = append(images, map[string]any{"id": 100 + i, "file_name": d.name, "width": w, "height": h})
		for _, r := range d.rects {
			_, _, b := d.annotated(r.box)
			x0, y0, x1, y1 := b.Min.X, b.Min.Y, b.Max.X, b.Max.Y
			anns = append(anns, map[string]any{
				"id": len(anns) + 1, "image_id": 100 + i, "category_id": hueIDs[r.class], "bbox": []int{x0, y0, x1 - x0, y1 - y0},
				"area": b.Dx() * b.Dy(), "iscrowd": 0, "segmentation": [][]int{{x0, y0, x1, y0, x1, y1, x0, y1}},
			})
		}
	}
	for _, a := range more {
		anns = append(anns, a)
	}
	data, err := json.Marshal(map[string]any{"images": images, "annotations": anns, "categories": categories})
	if err != nil {
		panic(err)
	}
	return data
}

// drawingsIn writes n drawings and their COCO file into new directories.
func drawingsIn(t *testing.T, r *rand.Rand, n int) (src, file string, drawings []drawing) {
	t.Helper()
	src, file = t.TempDir(), filepath.Join(t.TempDir(), "a.json")
	for i := range n {
		drawings = append(drawings, drawDrawing(r, i))
		put(t, src, drawings[i].name, drawings[i].file())
	}
	put(t, filepath.Dir(file), "a.json", cocoOf(drawings))
	return src, file, drawings
}

func objectsOf(drawings []drawing) (n int64) {
	for _, d := range drawings {
		n += int64(len(d.rects))
	}
	return n
}

// with returns options with the objects of a file.
func with(file string, o ImageOptions) ImageOptions {
	o.Name, o.Annotations.Files = "n", []AnnotationFile{{Path: file}}
	return o
}

// extent returns where a PNG, as stored, has a colour, and how many pixels do.
func extent(im image.Image, c color.RGBA) (all image.Rectangle, pixels map[image.Point]bool) {
	pixels = map[image.Point]bool{}
	for y := range im.Bounds().Dy() {
		for x := range im.Bounds().Dx() {
			if color.RGBAModel.Convert(im.At(x, y)) == c {
				pixels[image.Pt(x, y)] = true
				all = all.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return all, pixels
}

func decodePNG(t *testing.T, data []byte) image.Image {
	t.Helper()
	im, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// checkObjects compares the objects of a record with what its image shows, and returns their
// number.
func checkObjects(t *testing.T, e map[string]any) int {
	t.Helper()
	im := decodePNG(t, e[imagekey.Encoded].([][]byte)[0])
	w, h := float64(im.Bounds().Dx()), float64(im.Bounds().Dy())
	side := func(key string) []float32 { return e[key].([]float32) }
	labels, masks := e[objects.KeyLabel].([]int64), e[objects.KeyMask].([][]byte)
	n := len(labels)
	for _, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax, objects.KeyArea} {
		if len(side(key)) != n || len(masks) != n || len(e[objects.KeyText].([][]byte)) != n {
			t.Fatalf("%s: lists of unequal length: %v", e[imagekey.Filename], e)
		}
	}
	seen := map[int]bool{}
	for i, label := range labels {
		class := slices.Index(hueIDs, label)
		seen[class] = true
		at, pixels := extent(im, hues[class])
		for k, want := range map[string]float64{
			objects.KeyXMin: float64(at.Min.X) / w, objects.KeyXMax: float64(at.Max.X) / w,
			objects.KeyYMin: float64(at.Min.Y) / h, objects.KeyYMax: float64(at.Max.Y) / h,
		} {
			if got := float64(side(k)[i]); math.Abs(got-want)*max(w, h) > 1.01 {
				t.Errorf("%s, hue%d: %s is %g, in the image %g", e[imagekey.Filename], class, k, got, want)
			}
		}
		_, of := extent(decodePNG(t, masks[i]), color.RGBA{1, 1, 1, 255})
		if !maps.Equal(of, pixels) {
			t.Errorf("%s, hue%d: the mask has %d pixels, the image %d", e[imagekey.Filename], class, len(of), len(pixels))
		}
		if area := float64(side(objects.KeyArea)[i]); math.Abs(area-float64(len(pixels))) > 0.2*area+2*float64(at.Dx()+at.Dy()) {
			t.Errorf("%s, hue%d: area %g of %d pixels", e[imagekey.Filename], class, area, len(pixels))
		}
	}
	for class, hue := range hues {
		if _, pixels := extent(im, hue); len(pixels) > 0 && !seen[class] {
			t.Errorf("%s: %d pixels of hue%d and no object", e[imagekey.Filename], len(pixels), class)
		}
	}
	return n
}

// TestObjectsFollowTheirImages: boxes, masks and areas are where the colours are, whatever is done
// to the images.
func TestObjectsFollowTheirImages(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 23))
	src, file, drawings := drawingsIn(t, r, 24)
	resize := func(w, h int, fit augment.Fit) augment.ResizeSpec {
		return augment.ResizeSpec{Width: w, Height: h, Fit: fit, Filter: augment.Nearest, NoAntialias: true}
	}
	for name, o := range map[string]ImageOptions{
		"kept":    {Encode: EncodeSpec{Format: Keep}},
		"upright": {Encode: EncodeSpec{Format: PNG}},
		"stretch": {Resize: resize(40, 70, augment.Stretch)},
		"crop":    {Resize: resize(50, 50, augment.Crop)},
		"pad":     {Resize: resize(120, 90, augment.Pad)},
		"square":  {Resize: augment.ResizeSpec{Square: 40, Filter: augment.Nearest, NoAntialias: true}},
		"drawn":   {Augment: AugmentSpec{Policy: policy(t, "random_crop:36|hflip:0.5|rotate:90..90"), Copies: 3, KeepOriginal: true}},
		"both":    {Augment: AugmentSpec{Policy: policy(t, "vflip:0.5|random_crop:40")}, Resize: resize(64, 80, augment.Pad)},
	} {
		t.Run(name, func(t *testing.T) {
			o.Annotations.InstanceMasks, o.Seed = true, r.Uint64()
			if o.Encode.Format == "" {
				o.Encode.Format = PNG
			}
			out := t.TempDir()
			s := mustImages(t, src, out, with(file, o))
			n := 0
			all := examples(t, out, "train")
			for _, e := range all {
				n += checkObjects(t, e)
			}
			made := objectsOf(drawings) * int64(len(all)/len(drawings))
			if s.Annotations != int64(n) || s.Annotations+s.Dropped != made || n == 0 {
				t.Errorf("%d objects in records, %d and %d dropped of %d", n, s.Annotations, s.Dropped, made)
			}
		})
	}
}

// TestHardlyVisibleObjectsAreDropped: by the share of the box that a crop leaves.
func TestHardlyVisibleObjectsAreDropped(t *testing.T) {
	src, file := t.TempDir(), filepath.Join(t.TempDir(), "a.json")
	d := drawing{name: "d.png", w: 100, h: 50, orientation: 1, rects: []rect{
		{0, image.Rect(15, 0, 35, 20)}, {1, image.Rect(65, 0, 85, 20)}, {2, image.Rect(0, 30, 20, 50)},
	}}
	put(t, src, d.name, d.file())
	put(t, filepath.Dir(file), "a.json", cocoOf([]drawing{d}))
	for least, want := range map[float64]int64{0: 2, 0.5: 2, 0.51: 0, 1: 0} { // 25 to 75 is left: halves of two
		o := with(file, ImageOptions{Resize: augment.ResizeSpec{Square: 50, Filter: augment.Nearest, NoAntialias: true}})
		o.Annotations.MinVisibility = least
		if s := mustImages(t, src, t.TempDir(), o); s.Annotations != want || s.Dropped != 3-want {
			t.Errorf("%g: %+v", least, s.AnnotationCounts)
		}
	}
}

// Labels of one directory of a YOLO set leave the images of others without objects: a note names these
// directories, and not one in which some image has labels.
func TestUnlabelledDirectories(t *testing.T) {
	src := t.TempDir()
	for i, name := range []string{"train/images/1.png", "train/images/2.png", "valid/images/3.png", "test/images/4.png"} {
		put(t, src, name, pngOf(i))
	}
	put(t, src, "train/labels/1.txt", []byte("0 0.5 0.5 0.5 0.5\n"))
	put(t, src, "valid/labels/3.txt", []byte("0 0.5 0.5 0.5 0.5\n"))
	put(t, src, "test/labels/4.txt", []byte("0 0.5 0.5 0.5 0.5\n"))
	put(t, src, "data.yaml", []byte("names: [cat]\n"))
	for dir, want := range map[string]string{"train/labels": `2 images without objects in "test/images", "valid/images"`, "": ""} {
		o := ImageOptions{Annotations: AnnotationSpec{Files: []AnnotationFile{{Path: filepath.Join(src, dir)}}}}
		said := notes(&o.Options)
		mustImages(t, src, t.TempDir(), o)
		if notes := strings.Join(*said, "\n"); want != "" && !strings.Contains(notes, want) || want == "" && strings.Contains(notes, "without objects in") {
			t.Errorf("%q: %s", dir, notes)
		}
	}
}
