package convert

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
)

// detectionSet is a directory of drawn images, annotated in every format by a script of its own.
const detectionSet = "../testdata/detection"

// frame is an image with its objects as a record has them.
type frame struct {
	*annotationtest.DrawnImage
	kept bool // the record has the image as stored
}

func (f frame) size() (w, h int) {
	if f.kept && f.Orientation >= 5 {
		return f.Height, f.Width
	}
	return f.Width, f.Height
}

// point moves a pixel of the image as shown to the record's.
func (f frame) point(x, y int) (int, int) {
	if !f.kept {
		return x, y
	}
	d := drawing{w: f.Width, h: f.Height, orientation: f.Orientation}
	return d.turn(x, y)
}

// box moves a box, in quarters of pixels so that its corners are pixels of a larger image.
func (f frame) box(b [4]float64) [4]float64 {
	if !f.kept {
		return b
	}
	d := drawing{w: 4*f.Width + 1, h: 4*f.Height + 1, orientation: f.Orientation}
	xa, ya := d.turn(int(4*b[0]), int(4*b[1]))
	xb, yb := d.turn(int(4*b[2]), int(4*b[3]))
	return [4]float64{float64(min(xa, xb)) / 4, float64(min(ya, yb)) / 4, float64(max(xa, xb)) / 4, float64(max(ya, yb)) / 4}
}

// mask is a mask of the record, in which want says what a pixel of the image as shown is.
func (f frame) checkMask(t *testing.T, what string, data []byte, want func(x, y int) uint8) {
	t.Helper()
	mask := annotationtest.Gray(t, data)
	if w, h := f.size(); mask.Rect != image.Rect(0, 0, w, h) {
		t.Errorf("%s: %v, want %dx%d", what, mask.Rect, w, h)
		return
	}
	wrong := 0
	for y := range f.Height {
		for x := range f.Width {
			if mask.GrayAt(f.point(x, y)) != (color.Gray{Y: want(x, y)}) {
				wrong++
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d pixels differ", what, wrong)
	}
}

// TestDetectionSet: every format of the same annotations gives the boxes, labels, flags and masks of
// the truth, which no code of this repository has computed, in images as shown and as stored.
func TestDetectionSet(t *testing.T) {
	truth := annotationtest.ReadDetection(t, detectionSet)
	for _, c := range []struct {
		path, ids string
		precision float64 // of coordinates, in pixels
		masks     func(annotationtest.DrawnObject) bool
	}{
		{"coco.json", "coco", 0, func(annotationtest.DrawnObject) bool { return true }},
		{"voc", "sorted", 0, nil},
		{"yolo", "yolo", 1e-9, func(o annotationtest.DrawnObject) bool { return o.Outline == "polygon" && o.Box[0] > 0 }},
		{"kitti", "sorted", 0, nil},
		{"labelme", "sorted", 0, func(o annotationtest.DrawnObject) bool { return o.Outline == "polygon" }},
	} {
		for _, encoding := range []Encoding{PNG, Keep} {
			t.Run(c.path+" "+string(encoding), func(t *testing.T) {
				t.Parallel()
				o := with(filepath.Join(detectionSet, c.path), ImageOptions{Encode: EncodeSpec{Format: encoding}})
				o.Annotations.Masks = filepath.Join(detectionSet, "masks")
				out := t.TempDir()
				s := mustImages(t, filepath.Join(detectionSet, "images"), out, o)
				if s.Errors != 0 || s.Dropped != 0 {
					t.Errorf("%+v %+v", s, s.AnnotationCounts)
				}
				checkDetectionSet(t, truth, records(t, out, "train"), c.path, c.ids, c.precision, encoding == Keep)
				if c.masks == nil {
					return
				}
				o.Annotations.InstanceMasks, o.MaxErrors = true, Tolerance{Share: 1}
				out = t.TempDir()
				mustImages(t, filepath.Join(detectionSet, "images"), out, o)
				checkDetectionMasks(t, truth, records(t, out, "train"), c.masks, encoding == Keep)
			})
		}
	}
}

func checkDetectionSet(t *testing.T, truth *annotationtest.Detection, got map[string]map[string]any, format, ids string, precision float64, kept bool) {
	t.Helper()
	if len(got) != len(truth.Images) {
		t.Errorf("%d records of %d images", len(got), len(truth.Images))
	}
	for i := range truth.Images {
		im := frame{&truth.Images[i], kept}
		e := got[im.Name]
		if e == nil {
			t.Errorf("no record of %s", im.Name)
			continue
		}
		labels, texts := e[objects.KeyLabel].([]int64), e[objects.KeyText].([][]byte)
		if len(labels) != len(im.Objects) {
			t.Errorf("%s: %d objects, want %d", im.Name, len(labels), len(im.Objects))
			continue
		}
		w, h := im.size()
		for k, o := range im.Objects {
			if labels[k] != truth.IDs[ids][o.Class] || string(texts[k]) != o.Class {
				t.Errorf("%s, object %d: class %d %s, want %s", im.Name, k, labels[k], texts[k], o.Class)
			}
			box := im.box(o.Box)
			for side, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
				of := float64([]int{w, h}[side%2])
				if v := e[key].([]float32)[k]; math.Abs(float64(v)*of-box[side]) > precision+of/(1<<24) {
					t.Errorf("%s, object %d: %s is %g of %g, want %g", im.Name, k, key, v, of, box[side]/of)
				}
			}
			flags := map[string]int64{}
			switch format {
			case "coco.json":
				flags[objects.KeyCrowd] = o.Crowd
				if area := e[objects.KeyArea].([]float32)[k]; area != float32(o.Area) {
					t.Errorf("%s, object %d: area %g, want %d", im.Name, k, area, o.Area)
				}
			case "voc":
				flags[objects.KeyDifficult], flags[objects.KeyTruncated] = o.Difficult, o.Truncated
				if view := string(e[objects.KeyView].([][]byte)[k]); view != o.View {
					t.Errorf("%s, object %d: view %s, want %s", im.Name, k, view, o.View)
				}
			case "kitti":
				flags[objects.KeyTruncated] = o.Truncated
			}
			for key, want := range flags {
				if v := e[key].([]int64)[k]; v != want {
					t.Errorf("%s, object %d: %s is %d, want %d", im.Name, k, key, v, want)
				}
			}
		}
		im.checkMask(t, im.Name+": classes", e[objects.KeySegmentation].([][]byte)[0], func(x, y int) (class uint8) {
			for k, o := range im.Objects {
				if im.Instances.GrayAt(x, y).Y>>k&1 != 0 {
					class = uint8(truth.IDs["sorted"][o.Class])
				}
			}
			return class
		})
	}
}

// checkDetectionMasks compares the masks of those objects that has selects. The others have no region
// in the format, or only nearly the same one.
func checkDetectionMasks(t *testing.T, truth *annotationtest.Detection, got map[string]map[string]any, has func(annotationtest.DrawnObject) bool, kept bool) {
	t.Helper()
	for i := range truth.Images {
		im := frame{&truth.Images[i], kept}
		e := got[im.Name]
		if e == nil {
			t.Errorf("no record of %s", im.Name)
			continue
		}
		w, _ := im.size()
		for k, o := range im.Objects {
			if !has(o) {
				continue
			}
			found := false
			for n, text := range e[objects.KeyText].([][]byte) {
				x := float64(e[objects.KeyXMin].([]float32)[n]) * float64(w)
				y := float64(e[objects.KeyYMax].([]float32)[n])
				_, h := im.size()
				box := im.box(o.Box)
				if string(text) != o.Class || math.Abs(x-box[0]) > 1e-3 || math.Abs(y*float64(h)-box[3]) > 1e-3 {
					continue
				}
				found = true
				im.checkMask(t, im.Name+": "+o.Class, e[objects.KeyMask].([][]byte)[n], func(x, y int) uint8 { return im.Instances.GrayAt(x, y).Y >> k & 1 })
			}
			if !found {
				t.Errorf("%s: no object with a mask for %+v", im.Name, o)
			}
		}
	}
}

// TestOddAnnotations: each case of odd/ gives the objects, the ledger entries or the error of the
// text beside it, which was written by hand and says why.
func TestOddAnnotations(t *testing.T) {
	cases, _ := filepath.Glob(filepath.Join(detectionSet, "odd", "*.txt"))
	if len(cases) < 15 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, path := range cases {
		name := strings.TrimSuffix(path, ".txt")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			var want []string
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if !strings.HasPrefix(line, "#") {
					want = append(want, strings.TrimSpace(line))
				}
			}
			if _, err := os.Stat(name); err != nil {
				name += ".json"
			}
			o := with(name, ImageOptions{Options: Options{MaxErrors: Tolerance{Share: 1}}, Encode: EncodeSpec{Format: PNG}})
			o.Annotations.InstanceMasks = strings.Contains(strings.Join(want, " "), "pixels=")
			out := t.TempDir()
			var got []string
			if _, err := Images(t.Context(), filepath.Join(detectionSet, "odd", "images"), out, o); err != nil {
				if text, ok := strings.CutPrefix(want[0], "error: "); !ok || !strings.Contains(err.Error(), text) {
					t.Error(err)
				}
				return
			}
			for _, e := range examples(t, out, "train") {
				got = append(got, oddObjects(t, e)...)
			}
			if _, err := os.Stat(filepath.Join(out, manifest.LedgerFile)); err == nil {
				for _, line := range ledger(t, out) {
					got = append(got, "ledger: "+line)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// oddObjects returns a line for each object of a record, with its box in pixels.
func oddObjects(t *testing.T, e map[string]any) (lines []string) {
	t.Helper()
	name := string(e[imagekey.Filename].([][]byte)[0])
	im, err := png.DecodeConfig(bytes.NewReader(e[imagekey.Encoded].([][]byte)[0]))
	if err != nil {
		t.Fatal(err)
	}
	for k, id := range e[objects.KeyLabel].([]int64) {
		line := fmt.Sprintf("%s: %d %s", name, id, e[objects.KeyText].([][]byte)[k])
		for side, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
			v := float64(e[key].([]float32)[k]) * float64([]int{im.Width, im.Height}[side%2])
			line += fmt.Sprintf(" %g", math.Round(v*1e4)/1e4)
		}
		if crowd, ok := e[objects.KeyCrowd].([]int64); ok && crowd[k] != 0 {
			line += " crowd"
		}
		if masks, ok := e[objects.KeyMask].([][]byte); ok {
			pixels := bytes.Count(annotationtest.Gray(t, masks[k]).Pix, []byte{1})
			line += fmt.Sprintf(" pixels=%d", pixels)
		}
		lines = append(lines, line)
	}
	if lines == nil {
		lines = []string{name + ": nothing"}
	}
	return lines
}
