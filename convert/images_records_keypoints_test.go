package convert

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
)

// keypointsOf are lists with two points for each of n objects: object i has i/10 and its tenth, and the
// second point is hidden.
func keypointsOf(n int) map[string]any {
	x, y, v, num, z, names := []float32{}, []float32{}, []int64{}, []int64{}, []float32{}, [][]byte{}
	for i := range n {
		at := float32(i+1) / 10
		x, y, v, num = append(x, at, at/10), append(y, at/10, at), append(v, 2, 1), append(num, 2)
		z, names = append(z, at, -at), append(names, []byte("left"), []byte("right"))
	}
	return map[string]any{
		objects.KeyKeypointX: x, objects.KeyKeypointY: y, objects.KeyKeypointVisibility: v, objects.KeyKeypointNum: num,
		objects.KeyKeypointText: names, "image/object/keypoint/z": z,
	}
}

// losing writes records of which the first with objects loses the first of them, whose sides are
// exchanged. Images are upright, so that nothing moves. It returns how many objects the first has.
func losing(t *testing.T, more func(features map[string]any, n int)) (src, lost string, n int) {
	t.Helper()
	src, _ = drawnRecords(t, rand.New(rand.NewPCG(6, 2)), 40, func(features map[string]any, d *drawing) {
		if d.orientation > 1 || len(d.rects) < 2 {
			return
		}
		more(features, len(d.rects))
		if lost == "" {
			lost, n = d.name, len(d.rects)
			xmin, xmax := features[objects.KeyXMin].([]float32), features[objects.KeyXMax].([]float32)
			xmin[0], xmax[0] = xmax[0], xmin[0]
		}
	})
	return src, lost, n
}

// TestKeypointsOfLostObjects: those of an object that is left out are left out with it.
func TestKeypointsOfLostObjects(t *testing.T) {
	for name, once := range map[string]bool{"names for each object": false, "names once": true} {
		src, lost, n := losing(t, func(features map[string]any, n int) {
			for key, list := range keypointsOf(n) {
				features[key] = list
			}
			if once {
				features[objects.KeyKeypointText] = [][]byte{[]byte("left"), []byte("right")}
			}
		})
		out := t.TempDir()
		s := mustImages(t, src, out, ImageOptions{Options: Options{Name: "n", MaxErrors: Tolerance{Count: 1}}, Encode: EncodeSpec{Format: PNG}})
		if s.Records != 40 || s.Errors != 1 || lost == "" {
			t.Errorf("%s: %+v", name, s)
		}
		for _, e := range examples(t, out, "train") {
			if string(e[imagekey.Filename].([][]byte)[0]) != lost {
				continue
			}
			all := keypointsOf(n)
			for key, want := range map[string]any{
				objects.KeyKeypointX: all[objects.KeyKeypointX].([]float32)[2:], "image/object/keypoint/z": all["image/object/keypoint/z"].([]float32)[2:],
				objects.KeyKeypointNum: all[objects.KeyKeypointNum].([]int64)[1:], objects.KeyKeypointVisibility: all[objects.KeyKeypointVisibility].([]int64)[2:],
			} {
				if fmt.Sprint(e[key]) != fmt.Sprint(want) {
					t.Errorf("%s: %s is %v, want %v", name, key, e[key], want)
				}
			}
			names := e[objects.KeyKeypointText].([][]byte)
			if want := 2 * (n - 1); once && len(names) != 2 || !once && len(names) != want {
				t.Errorf("%s: %q", name, names)
			}
		}
	}
}

// TestKeypointsOfUnknownObjects: a record loses an object, and nothing says which keypoints are its.
func TestKeypointsOfUnknownObjects(t *testing.T) {
	for want, more := range map[string]func(features map[string]any, n int){
		"nothing says which keypoints are its: " + objects.KeyKeypointX:  func(f map[string]any, n int) { f[objects.KeyKeypointX] = make([]float32, 2*n) },
		"which of the 1 values of image/object/keypoint/z are its: drop": func(f map[string]any, n int) { f["image/object/keypoint/z"] = make([]float32, 1) },
		objects.KeyKeypointX + " has 7 values for 3 boxes: want the same number for": func(f map[string]any, n int) {
			f[objects.KeyKeypointX], f[objects.KeyKeypointY] = make([]float32, 7), make([]float32, 7)
		},
	} {
		src, lost, _ := losing(t, more)
		out := t.TempDir()
		s := mustImages(t, src, out, ImageOptions{Options: Options{Name: "n", MaxErrors: Tolerance{Count: 1}}, Encode: EncodeSpec{Format: PNG}})
		text := contents(t, out)["errors.jsonl"]
		if s.Records != 39 || s.Errors != 1 || !strings.Contains(text, lost) || !strings.Contains(text, want) && !strings.Contains(text, strings.Replace(want, "3 boxes", "2 boxes", 1)) {
			t.Errorf("%s: %+v %s", want, s, text)
		}
	}
}

// TestOddKeypointsOfRecords: points that are none become not labelled, with a line in the ledger, and
// without visibilities NaN says that a point is not labelled.
func TestOddKeypointsOfRecords(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		x, y       []float32
		visibility []int64
		want       string // x and visibilities
		ledger     string
	}{
		"good":          {[]float32{0.25, 0.5}, []float32{0.25, 0.5}, []int64{2, 1}, "[0.25 0.5] [2 1]", ""},
		"NaN":           {[]float32{nan, 0.5}, []float32{0.25, 0.5}, []int64{2, 1}, "[0 0.5] [0 1]", "object 1: keypoints: point 1, which counts as not labelled: NaN, 0.25: want shares of the image, from 0 to 1; boxes stay"},
		"NaN, not used": {[]float32{nan, 0.5}, []float32{0.25, 0.5}, []int64{0, 1}, "[0 0.5] [0 1]", ""},
		"outside":       {[]float32{0.25, 1.5}, []float32{0.25, 0.5}, []int64{2, 1}, "[0.25 0] [2 0]", "object 1: keypoints: point 2, which counts as not labelled: 1.5, 0.5: want shares"},
		"visibility":    {[]float32{0.25, 0.5}, []float32{0.25, 0.5}, []int64{2, 7}, "[0.25 0] [2 0]", "object 1: keypoints: point 2, which counts as not labelled: visibility 7: want 0, 1 or 2"},
		"none":          {[]float32{0.25, nan}, []float32{0.25, 0.5}, nil, "[0.25 NaN] []", ""},
	} {
		taken := false
		src, _ := drawnRecords(t, rand.New(rand.NewPCG(6, 4)), 80, func(features map[string]any, d *drawing) {
			if d.orientation != 1 || len(d.rects) != 1 || taken {
				return
			}
			taken = true
			features[objects.KeyKeypointX], features[objects.KeyKeypointY] = c.x, c.y
			if c.visibility != nil {
				features[objects.KeyKeypointVisibility] = c.visibility
			}
		})
		out := t.TempDir()
		o := ImageOptions{Options: Options{Name: "n", MaxErrors: Tolerance{Count: 1}}, Encode: EncodeSpec{Format: PNG}, Resize: augment.ResizeSpec{Width: 33, Height: 44, NoAntialias: true}}
		s := mustImages(t, src, out, o)
		found := false
		for _, e := range examples(t, out, "train") {
			x, ok := e[objects.KeyKeypointX].([]float32)
			if !ok {
				continue
			}
			found = true
			v, _ := e[objects.KeyKeypointVisibility].([]int64)
			if fmt.Sprint(x, " ", v) != c.want {
				t.Errorf("%s: %v %v, want %s", name, x, v, c.want)
			}
		}
		text := contents(t, out)["errors.jsonl"]
		if !found || s.Records != 80 || (c.ledger == "") != (s.Errors == 0) || !strings.Contains(text, c.ledger) {
			t.Errorf("%s: %v %+v %s", name, found, s, text)
		}
	}
}
