package convert

import (
	"encoding/json"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/verify"
)

// pointNames are the keypoints of posed drawings: the first is in the middle of the object.
var pointNames = []string{"middle", "left_eye", "right_eye", "tail"}

// pointFlip is what they are in a mirror image.
var pointFlip = []int{0, 2, 1, 3}

// posedPoint is a keypoint of an image as shown, in pixels.
type posedPoint struct {
	x, y       float64
	visibility int
}

// posed is a drawing with the keypoints of its rects; nil for a rect without.
type posed struct {
	drawing
	points [][]posedPoint
}

func drawPosed(r *rand.Rand, i int) *posed {
	d := &posed{drawing: drawDrawing(r, i)}
	d.stored = false
	for _, rect := range d.rects {
		if r.IntN(5) == 0 {
			d.points = append(d.points, nil)
			continue
		}
		middle := rect.box.Min.Add(rect.box.Max).Div(2)
		points := []posedPoint{{float64(middle.X) + 0.5, float64(middle.Y) + 0.5, 2}}
		for range pointNames[1:] {
			points = append(points, posedPoint{math.Round(r.Float64()*float64(d.w)*100) / 100, math.Round(r.Float64()*float64(d.h)*100) / 100, r.IntN(3)})
		}
		d.points = append(d.points, points)
	}
	return d
}

// turnedPoint moves a point of an image of w x h pixels as shown to the stored one.
func turnedPoint(orientation int, x, y, w, h float64) (float64, float64) {
	switch orientation {
	case 2:
		return w - x, y
	case 3:
		return w - x, h - y
	case 4:
		return x, h - y
	case 5:
		return y, x
	case 6:
		return y, w - x
	case 7:
		return h - y, w - x
	case 8:
		return h - y, x
	}
	return x, y
}

// writePosed writes n posed drawings and what annotates them, as COCO or YOLO.
func writePosed(t *testing.T, r *rand.Rand, n int, format string) (src, file string, drawings map[string]*posed) {
	t.Helper()
	src, drawings = t.TempDir(), map[string]*posed{}
	dir := t.TempDir()
	file = dir
	images, anns, categories := []any{}, []any{}, []any{}
	for i, id := range hueIDs {
		categories = append(categories, map[string]any{"id": id, "name": fmt.Sprintf("hue%d", i), "keypoints": pointNames, "skeleton": [][]int{{1, 2}}})
	}
	for i := range n {
		d := drawPosed(r, i)
		if d.stored = format == "coco" && d.orientation >= 5 && r.IntN(2) == 0; d.stored && i%2 == 0 {
			d.orientation = 6 // the usual one
		}
		drawings[d.name] = d
		put(t, src, d.name, d.file())
		w, h, _ := d.annotated(image.Rectangle{})
		images = append(images, map[string]any{"id": i, "file_name": d.name, "width": w, "height": h})
		text := ""
		for k, rect := range d.rects {
			_, _, b := d.annotated(rect.box)
			a := map[string]any{"id": len(anns), "image_id": i, "category_id": hueIDs[rect.class], "bbox": []int{b.Min.X, b.Min.Y, b.Dx(), b.Dy()}}
			text += fmt.Sprintf("%d %.17g %.17g %.17g %.17g", rect.class, float64(b.Min.X+b.Max.X)/2/float64(w), float64(b.Min.Y+b.Max.Y)/2/float64(h), float64(b.Dx())/float64(w), float64(b.Dy())/float64(h))
			var list []float64
			labelled := 0
			for _, p := range d.points[k] {
				x, y := p.x, p.y
				if d.stored {
					x, y = turnedPoint(d.orientation, x, y, float64(d.w), float64(d.h))
				}
				list = append(list, x, y, float64(p.visibility))
				text += fmt.Sprintf(" %.17g %.17g %d", x/float64(w), y/float64(h), p.visibility)
				labelled += min(p.visibility, 1)
			}
			if list != nil {
				a["keypoints"], a["num_keypoints"] = list, labelled
			}
			anns = append(anns, a)
			text += "\n"
		}
		if format == "yolo" {
			put(t, dir, strings.TrimSuffix(d.name, ".png")+".txt", []byte(text))
		}
	}
	if format == "yolo" {
		put(t, dir, "data.yaml", fmt.Appendf(nil, "names: [hue0, hue1, hue2]\nkpt_shape: [%d, 3]\nflip_idx: %s\n", len(pointNames), strings.ReplaceAll(fmt.Sprint(pointFlip), " ", ", ")))
		return src, file, drawings
	}
	data, err := json.Marshal(map[string]any{"images": images, "annotations": anns, "categories": categories})
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "a.json", data)
	return src, filepath.Join(dir, "a.json"), drawings
}

// plainPoint moves a point by plain formulas.
type plainPoint struct {
	x, y   float64
	w, h   float64 // of the image
	lost   bool
	unsure bool // it was on an edge
	mirror bool
}

// check notes whether the point is in the image.
func (p *plainPoint) check() {
	const edge = 1e-3
	out := max(-p.x, -p.y, p.x-p.w, p.y-p.h)
	p.unsure = p.unsure || math.Abs(out) < edge
	p.lost = p.lost || out > 0
}

// around applies a matrix around the middle of the image, which becomes that of the result.
func (p *plainPoint) around(a, b, c, d, w, h float64) {
	x, y := p.x-p.w/2, p.y-p.h/2
	p.x, p.y, p.w, p.h = a*x+b*y+w/2, c*x+d*y+h/2, w, h
}

func (p *plainPoint) step(t *testing.T, s augment.Step) {
	t.Helper()
	w, h := augment.Draw{Steps: []augment.Step{s}}.Size(int(p.w), int(p.h))
	switch s := s.(type) {
	case augment.HFlip:
		p.x, p.mirror = p.w-p.x, !p.mirror
	case augment.VFlip:
		p.y, p.mirror = p.h-p.y, !p.mirror
	case augment.CropBox:
		p.x, p.y, p.w, p.h = p.x-float64(s.X), p.y-float64(s.Y), float64(s.W), float64(s.H)
	case augment.ResizedCrop:
		p.x, p.y = (p.x-float64(s.X))*float64(s.Width)/float64(s.W), (p.y-float64(s.Y))*float64(s.Height)/float64(s.H)
		p.w, p.h = float64(s.Width), float64(s.Height)
	case augment.ResizeTo:
		p.x, p.y, p.w, p.h = p.x*float64(s.Width)/p.w, p.y*float64(s.Height)/p.h, float64(s.Width), float64(s.Height)
	case augment.Rotate:
		sin, cos := math.Sincos(s.Angle * math.Pi / 180)
		p.around(cos, sin, -sin, cos, float64(w), float64(h))
	case augment.Affine:
		sin, cos := math.Sincos(s.Angle * math.Pi / 180)
		tx, ty := math.Tan(s.Shear[0]*math.Pi/180), math.Tan(s.Shear[1]*math.Pi/180)
		// rotation · shear along y · shear along x
		a, b, c, d := cos+sin*ty, -sin, sin-cos*ty, cos
		b, d = b-a*tx, d-c*tx
		p.around(a*s.Scale, b*s.Scale, c*s.Scale, d*s.Scale, p.w, p.h)
		p.x, p.y = p.x+float64(s.Translate[0]), p.y+float64(s.Translate[1])
	case augment.Invert, augment.Brightness, augment.Erase:
	default:
		t.Fatalf("%T: no plain formula", s)
	}
	p.check()
}

// checkMoved compares the keypoints of a record with those of its drawing, moved by plain formulas,
// and counts the points compared and those that were lost.
func checkMoved(t *testing.T, e map[string]any, drawings map[string]*posed, o *ImageOptions, texts bool) (compared, lost int) {
	t.Helper()
	name := string(e[imagekey.Filename].([][]byte)[0])
	d, count := drawings[name], len(pointNames)
	var steps []augment.Step
	if e[imagekey.Ops] != nil {
		steps = drawOf(t, e).Steps
	}
	n := len(e[objects.KeyText].([][]byte))
	xs, ys := e[objects.KeyKeypointX].([]float32), e[objects.KeyKeypointY].([]float32)
	vs, nums := e[objects.KeyKeypointVisibility].([]int64), e[objects.KeyKeypointNum].([]int64)
	if len(xs) != n*count || len(ys) != n*count || len(vs) != n*count || len(nums) != n {
		t.Fatalf("%s: %d objects with %d, %d, %d and %d values", name, n, len(xs), len(ys), len(vs), len(nums))
	}
	if names, _ := e[objects.KeyKeypointText].([][]byte); texts && len(names) != n*count || !texts && names != nil {
		t.Fatalf("%s: %d names of %d points", name, len(names), n*count)
	} else if texts {
		for i, text := range names {
			if string(text) != pointNames[i%count] {
				t.Fatalf("%s: point %d is %q", name, i, text)
			}
		}
	}
	for i, text := range e[objects.KeyText].([][]byte) {
		k := slices.IndexFunc(d.rects, func(r rect) bool { return fmt.Sprint("hue", r.class) == string(text) })
		want := make([]plainPoint, count)
		visibility := make([]int, count)
		for q := range want {
			want[q].lost = true
		}
		for q, point := range d.points[k] {
			p := plainPoint{x: point.x, y: point.y, w: float64(d.w), h: float64(d.h), lost: point.visibility == 0}
			p.check()
			if o.Encode.Format == Keep {
				p.x, p.y = turnedPoint(d.orientation, p.x, p.y, p.w, p.h)
				if d.orientation >= 5 {
					p.w, p.h = p.h, p.w
				}
			}
			for _, s := range steps {
				p.step(t, s)
			}
			if o.Resizes() {
				g := o.Resize.Geometry(int(p.w), int(p.h))
				p.step(t, augment.ResizeTo{Width: g.ScaledWidth, Height: g.ScaledHeight})
				p.step(t, augment.CropBox{X: g.CropX, Y: g.CropY, W: g.WindowWidth, H: g.WindowHeight})
				p.step(t, augment.CropBox{X: -g.PadX, Y: -g.PadY, W: g.Width, H: g.Height})
			}
			to := q
			if p.mirror {
				to = pointFlip[q]
			}
			want[to], visibility[to] = p, point.visibility
		}
		num := 0
		for q, p := range want {
			at := i*count + q
			num += int(min(vs[at], 1))
			x, y := float64(xs[at])*p.w, float64(ys[at])*p.h
			switch {
			case p.unsure && vs[at] == 0 && xs[at] == 0 && ys[at] == 0:
			case p.lost && !p.unsure:
				if vs[at] != 0 || xs[at] != 0 || ys[at] != 0 {
					t.Errorf("%s, %s: %s is lost, and at %g, %g with %d", name, text, pointNames[q], x, y, vs[at])
				}
				lost++
			case vs[at] != int64(visibility[q]) || math.Abs(x-p.x) > 2e-4*max(1, p.w/50) || math.Abs(y-p.y) > 2e-4*max(1, p.h/50):
				t.Errorf("%s, %s: %s is at %g, %g with %d, want %g, %g with %d (%s)", name, text, pointNames[q], x, y, vs[at], p.x, p.y, visibility[q], e[imagekey.Ops])
			default:
				compared++
			}
		}
		if int64(num) != nums[i] {
			t.Errorf("%s, %s: %s is %d, and %d are labelled", name, text, objects.KeyKeypointNum, nums[i], num)
		}
	}
	return compared, lost
}

// keypointPolicies are policies for keypoints.
var keypointPolicies = []string{
	"", "hflip:0.5", "vflip:0.5|hflip:0.5", "random_crop:36|hflip:0.5|rotate:90..90", "vflip:0.5|pad:5|center_crop:60", "iou_crop:0.1,scale=0.3-1|hflip",
	"rotate:-40..40|hflip:0.3", "rotate:-40..40,expand=true|random_crop:50", "affine:20,translate=0.1,scale=0.8-1.2,shear=5|hflip:0.5",
	"random_resized_crop:40,scale=0.3-1|resize:30", "rotate:90..90,expand=true|invert:0.5|hflip", "one_of(hflip:1|vflip:1)|random_erasing:p=0.5",
}

// randomMoves draws options that move pixels.
func randomMoves(t *testing.T, r *rand.Rand) (o ImageOptions) {
	o.Encode.Format = PNG
	o.Name, o.Seed, o.Shards, o.Workers = "n", r.Uint64(), 1+r.IntN(3), 1+r.IntN(3)
	if spec := keypointPolicies[r.IntN(len(keypointPolicies))]; spec != "" {
		o.Augment = AugmentSpec{Policy: policy(t, spec), Copies: 1 + r.IntN(3), KeepOriginal: r.IntN(2) == 0}
		t.Log(spec)
	}
	switch r.IntN(4) {
	case 0:
		o.Resize = augment.ResizeSpec{Width: 70, Height: 44, Fit: []augment.Fit{augment.Stretch, augment.Crop, augment.Pad}[r.IntN(3)], Filter: augment.Nearest, NoAntialias: true}
	case 1:
		o.Resize = augment.ResizeSpec{Square: 50, Filter: augment.Nearest, NoAntialias: true}
	}
	return o
}

// TestRandomKeypoints moves random keypoints of COCO and YOLO with their images, directly and by way
// of records, and compares them with plain formulas.
func TestRandomKeypoints(t *testing.T) {
	compared, lost := 0, 0
	for _, seed := range torture.Sample(t, 10, torture.Seeds(24, 300)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 37))
			format := []string{"coco", "yolo"}[r.IntN(2)]
			src, file, drawings := writePosed(t, r, 4+r.IntN(8), format)
			o := with(file, randomMoves(t, r))
			if r.IntN(5) == 0 {
				o.Encode.Format, o.Augment, o.Resize = Keep, AugmentSpec{}, augment.ResizeSpec{}
			}
			out := t.TempDir()
			mustImages(t, src, out, o)
			check := func(out string, o *ImageOptions) {
				for _, e := range examples(t, out, "train") {
					c, l := checkMoved(t, e, drawings, o, format == "coco")
					compared, lost = compared+c, lost+l
				}
			}
			check(out, &o)
			if report, err := verify.Files(t.Context(), []string{out}, verify.Options{Deep: &verify.DeepOptions{}}); err != nil || !report.OK {
				t.Errorf("verify: %v %+v", err, report)
			}
			again := t.TempDir()
			o.Workers = 5 - o.Workers
			mustImages(t, src, again, o)
			sameSet(t, contents(t, again), contents(t, out))
			// By way of records.
			first, second := t.TempDir(), t.TempDir()
			plain := with(file, ImageOptions{Encode: EncodeSpec{Format: []Encoding{PNG, Keep}[r.IntN(2)]}})
			mustImages(t, src, first, plain)
			moves := randomMoves(t, r)
			if format == "yolo" { // records have no names, so that what is left is not known
				moves.Augment = AugmentSpec{}
			}
			if report, err := Images(t.Context(), first, second, moves); err != nil {
				t.Fatal(err, report)
			}
			check(second, &moves)
		})
	}
	if !t.Failed() && !testing.Short() && (compared < 100 || lost < 20) {
		t.Errorf("%d points compared and %d lost", compared, lost)
	}
}

// TestMixedKeypoints: a point in the middle of an object is on a pixel of its colour, also of the other
// images of a mixture.
func TestMixedKeypoints(t *testing.T) {
	src, file, _ := writePosed(t, rand.New(rand.NewPCG(41, 1)), 24, "coco")
	for _, spec := range []string{"hflip:0.5|mosaic:80", "hflip:0.5|cutmix|vflip:0.3", "mosaic:80|random_crop:60"} {
		o := with(file, ImageOptions{Encode: EncodeSpec{Format: PNG}, Augment: AugmentSpec{Policy: policy(t, spec), Copies: 2}})
		out := t.TempDir()
		mustImages(t, src, out, o)
		found, lost := 0, 0
		for _, e := range examples(t, out, "train") {
			im := decodePNG(t, e[imagekey.Encoded].([][]byte)[0])
			for i, text := range e[objects.KeyText].([][]byte) {
				at := i * len(pointNames)
				if e[objects.KeyKeypointVisibility].([]int64)[at] == 0 {
					lost++
					continue
				}
				x := float64(e[objects.KeyKeypointX].([]float32)[at]) * float64(im.Bounds().Dx())
				y := float64(e[objects.KeyKeypointY].([]float32)[at]) * float64(im.Bounds().Dy())
				want := hues[text[len(text)-1]-'0']
				got := im.At(min(int(x), im.Bounds().Dx()-1), min(int(y), im.Bounds().Dy()-1))
				r, g, b, _ := got.RGBA()
				if far := max(math.Abs(float64(r>>8)-float64(want.R)), math.Abs(float64(g>>8)-float64(want.G)), math.Abs(float64(b>>8)-float64(want.B))); far > 60 {
					t.Errorf("%s: %s: at %g, %g is %v, want %v", spec, text, x, y, got, want)
				}
				found++
			}
		}
		if found < 20 || lost == 0 {
			t.Errorf("%s: %d points found, %d lost", spec, found, lost)
		}
	}
}

// TestKeypointsOfAnnotations: what the features and the manifest say, and what is named in the account.
func TestKeypointsOfAnnotations(t *testing.T) {
	src, file, _ := writePosed(t, rand.New(rand.NewPCG(41, 2)), 6, "coco")
	out := t.TempDir()
	s := mustImages(t, src, out, with(file, ImageOptions{}))
	if len(s.LeftOut) != 1 || fmt.Sprint(s.LeftOut[0].Names) != "[categories[].skeleton (3)]" {
		t.Errorf("%+v", s.LeftOut)
	}
	m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]manifest.Feature{
		objects.KeyKeypointX: {Kind: "float", Class: manifest.ClassVector}, objects.KeyKeypointY: {Kind: "float", Class: manifest.ClassVector}, objects.KeyKeypointNum: {Kind: "int64", Class: manifest.ClassVector},
		objects.KeyKeypointVisibility: {Kind: "int64", Class: manifest.ClassVector}, objects.KeyKeypointText: {Kind: "bytes", Class: manifest.ClassText},
	} {
		i := slices.IndexFunc(m.Features, func(f manifest.Feature) bool { return f.Key == key })
		if i < 0 || m.Features[i].Kind != want.Kind || m.Features[i].Class != want.Class || fmt.Sprint(m.Features[i].Shape) != "[-1]" {
			t.Errorf("%s: %+v", key, m.Features)
		}
	}
}

// TestBrokenKeypoints: they cost the keypoints of one object, which is in the ledger.
func TestBrokenKeypoints(t *testing.T) {
	src := t.TempDir()
	put(t, src, "a.png", (&drawing{w: 40, h: 30, orientation: 1}).file())
	coco := func(keypoints string) string {
		return `{"images": [{"id": 1, "file_name": "a.png"}], "categories": [{"id": 1, "name": "p", "keypoints": ["l", "r"]}],
			"annotations": [{"id": 7, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "keypoints": ` + keypoints + `}]}`
	}
	for name, c := range map[string]struct{ text, want, points string }{
		"good":   {coco("[1, 2, 2, 3, 4, 1]"), "", "[2 1]"},
		"number": {coco("[1, 2, 2]"), "a.png 0 annotation annotation 7: keypoints: 1 point: want the 2 that category 1 lists; boxes stay", "[0 0]"},
		"NaN":    {coco("[1, NaN, 2, 3, 4, 1]"), "a.png 0 annotation annotation 7: keypoints: point 1 has a coordinate that is not finite; boxes stay", "[0 0]"},
		"v":      {coco("[1, 2, 3, 3, 4, 1]"), "a.png 0 annotation annotation 7: keypoints: point 1 has the visibility 3: want 0, 1 or 2; boxes stay", "[0 0]"},
		"out":    {coco("[1, 2, 2, 41, 4, 1]"), "", "[2 0]"},
	} {
		dir, out := t.TempDir(), t.TempDir()
		put(t, dir, "a.json", []byte(c.text))
		s := mustImages(t, src, out, with(filepath.Join(dir, "a.json"), ImageOptions{Options: Options{MaxErrors: Tolerance{Share: 1}}}))
		if s.Records != 1 || s.Annotations != 1 || s.Dropped != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		got := ""
		if c.want != "" {
			got = strings.Join(ledger(t, out), "\n")
		}
		e := examples(t, out, "train")[0]
		if points := fmt.Sprint(e[objects.KeyKeypointVisibility]); got != c.want || points != c.points || s.Errors != int64(strings.Count(c.want, "annotation 7")) {
			t.Errorf("%s: %s, %s; want %s, %s", name, got, points, c.want, c.points)
		}
	}
}

// TestKeypointsChangeShards: what records have of keypoints redoes them, and what they do not have of
// them does not.
func TestKeypointsChangeShards(t *testing.T) {
	src, dir, out := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, src, "a.png", (&drawing{w: 40, h: 30, orientation: 1}).file())
	put(t, src, "b.png", (&drawing{w: 40, h: 30, orientation: 1}).file())
	yaml := func(shape, flip, names string) map[string]string {
		return map[string]string{"data.yaml": "names: [p]\n" + shape + flip + names, "a.txt": "0 .5 .5 .5 .5 .4 .4 2 .6 .6 1\n"}
	}
	const shape, flip, names = "kpt_shape: [2, 3]\n", "flip_idx: [1, 0]\n", "kpt_names: [l_x, r_x]\n"
	o := with(dir, ImageOptions{Augment: AugmentSpec{Policy: policy(t, "brightness:0.1"), Copies: 1}, Encode: EncodeSpec{Format: PNG}})
	mirrored := o
	mirrored.Augment.Policy = policy(t, "hflip")
	for i, c := range []struct {
		files map[string]string
		o     ImageOptions
		same  bool // nothing is redone
	}{
		{yaml(shape, "", ""), o, false},
		{yaml(shape, "", ""), o, true},
		{yaml(shape, flip, ""), o, true}, // no image is mirrored
		{yaml(shape, "", names), o, false},
		{yaml(shape, "", "kpt_names: [r_x, l_x]\n"), o, false},
		{yaml(shape, "", names), mirrored, false},
		{yaml(shape, flip, names), mirrored, true},
		{yaml(shape, "flip_idx: [0, 1]\n", names), mirrored, false},
		{map[string]string{"a.txt": "0 .5 .5 .5 .5 .4 .4 2 .6 .6 2\n"}, mirrored, false},
		{map[string]string{"a.txt": "0 .5 .5 .5 .5\n"}, mirrored, false},
		{map[string]string{"data.yaml": "names: [p]\n"}, mirrored, false},
	} {
		for name, text := range c.files {
			put(t, dir, name, []byte(text))
		}
		c.o.Overwrite = true
		s := mustImages(t, src, out, c.o)
		if (s.Status == UpToDate) != c.same {
			t.Errorf("%d: %s", i, s.Status)
		}
		fresh := t.TempDir()
		mustImages(t, src, fresh, c.o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
}

// TestMirroredNames notes that names of mirrored points stay, only where it is so.
func TestMirroredNames(t *testing.T) {
	src := t.TempDir()
	put(t, src, "a.png", (&drawing{w: 40, h: 30, orientation: 1}).file())
	for name, c := range map[string]struct {
		yaml, policy string
		noted        bool
	}{
		"unknown":     {"kpt_shape: [2, 3]", "hflip", true},
		"not flipped": {"kpt_shape: [2, 3]", "rotate:90", false},
		"flip_idx":    {"kpt_shape: [2, 3]\nflip_idx: [0, 1]", "vflip", false},
		"names":       {"kpt_shape: [2, 3]\nkpt_names: [left, right]", "hflip", false},
		"other names": {"kpt_shape: [2, 3]\nkpt_names: [a, b]", "hflip", true},
		"none":        {"", "hflip", false},
	} {
		dir, out := t.TempDir(), t.TempDir()
		put(t, dir, "data.yaml", []byte("names: [p]\n"+c.yaml))
		put(t, dir, "a.txt", []byte("0 .5 .5 .5 .5\n"))
		var notes []string
		o := with(dir, ImageOptions{Augment: AugmentSpec{Policy: policy(t, c.policy), Copies: 1}, Encode: EncodeSpec{Format: PNG}})
		o.Note = func(text string) { notes = append(notes, text) }
		mustImages(t, src, out, o)
		const keep = "mirrored images keep their names"
		if noted := strings.Contains(strings.Join(notes, "\n"), keep); noted != c.noted {
			t.Errorf("%s: %q", name, notes)
		}
		if strings.Contains(c.yaml, "flip_idx") {
			continue // which records do not have
		}
		notes = nil
		again := ImageOptions{Options: Options{Name: "n", Note: o.Note}, Augment: AugmentSpec{Policy: policy(t, c.policy), Copies: 1}, Encode: EncodeSpec{Format: PNG}}
		mustImages(t, out, t.TempDir(), again)
		if noted := strings.Contains(strings.Join(notes, "\n"), keep); noted != c.noted {
			t.Errorf("%s, from records: %q", name, notes)
		}
	}
}

// TestKeypointsOfSeveralFiles: files whose categories list other names have the points of all; without
// names they must be as many.
func TestKeypointsOfSeveralFiles(t *testing.T) {
	src := t.TempDir()
	for _, name := range []string{"a.png", "b.png"} {
		put(t, src, name, (&drawing{w: 40, h: 30, orientation: 1}).file())
	}
	coco := func(name, names, keypoints string) string {
		return `{"images": [{"id": 1, "file_name": "` + name + `.png"}], "categories": [{"id": 1, "name": "p"` + names + `}],
			"annotations": [{"id": 7, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9]` + keypoints + `}]}`
	}
	for name, c := range map[string]struct{ a, b, want string }{
		"names": {
			coco("a", `, "keypoints": ["nose", "tail"]`, `, "keypoints": [4, 3, 2, 8, 6, 1]`), coco("b", `, "keypoints": ["ear", "nose"]`, `, "keypoints": [20, 15, 2, 30, 15, 1]`),
			"[nose tail ear] [0.1 0.2 0] [2 1 0]; [nose tail ear] [0.75 0 0.5] [1 0 2]",
		},
		"one without":    {coco("a", `, "keypoints": ["nose"]`, `, "keypoints": [4, 3, 2]`), coco("b", "", ""), "[nose] [0.1] [2]; [nose] [0] [0]"},
		"numbers":        {coco("a", "", `, "keypoints": [4, 3, 2]`), coco("b", "", `, "keypoints": [8, 6, 1]`), "[] [0.1] [2]; [] [0.2] [1]"},
		"numbers differ": {coco("a", "", `, "keypoints": [4, 3, 2]`), coco("b", "", `, "keypoints": [8, 6, 1, 1, 1, 1]`), "b.json cannot be in one set: objects have 1 keypoint without names in one, and 2 in the other"},
		"names of one":   {coco("a", "", `, "keypoints": [4, 3, 2]`), coco("b", `, "keypoints": ["x"]`, ""), "b.json cannot be in one set: the keypoints of one have names"},
		"none in either": {coco("a", "", ""), coco("b", "", `, "keypoints": []`), ""},
	} {
		dir, out := t.TempDir(), t.TempDir()
		put(t, dir, "a.json", []byte(c.a))
		put(t, dir, "b.json", []byte(c.b))
		o := with(filepath.Join(dir, "a.json"), ImageOptions{})
		o.Annotations.Files = append(o.Annotations.Files, AnnotationFile{Path: filepath.Join(dir, "b.json")})
		if _, err := Images(t.Context(), src, out, o); err != nil {
			if c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			continue
		}
		got := map[string]string{}
		for _, e := range examples(t, out, "train") {
			if e[objects.KeyKeypointX] != nil {
				got[string(e[imagekey.Filename].([][]byte)[0])] = fmt.Sprintf("%s %v %v", e[objects.KeyKeypointText], e[objects.KeyKeypointX], e[objects.KeyKeypointVisibility])
			}
		}
		text := got["a.png"] + "; " + got["b.png"]
		if text = strings.ReplaceAll(strings.TrimPrefix(text, "; "), "%!s(<nil>)", "[]"); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// TestKeypointsBeyondTheLimit: objects whose keypoints a record has no room for are in the ledger.
func TestKeypointsBeyondTheLimit(t *testing.T) {
	defer func(n int64) { placed.MaxKeypointBytes = n }(placed.MaxKeypointBytes)
	placed.MaxKeypointBytes = 40 // two objects of two points, with names
	src, dir, out := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, src, "a.png", (&drawing{w: 40, h: 30, orientation: 1}).file())
	anns := make([]string, 5)
	for i := range anns {
		anns[i] = fmt.Sprintf(`{"id": %d, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9]}`, i)
	}
	put(t, dir, "a.json", fmt.Appendf(nil, `{"images": [{"id": 1, "file_name": "a.png"}], "categories": [{"id": 1, "name": "p", "keypoints": ["l", "r"]}], "annotations": [%s]}`, strings.Join(anns, ",")))
	s := mustImages(t, src, out, with(filepath.Join(dir, "a.json"), ImageOptions{Options: Options{MaxErrors: Tolerance{Share: 1}}}))
	if s.Annotations != 2 || s.Dropped != 3 || s.Errors != 3 || !strings.Contains(ledger(t, out)[2], "annotation 4: the keypoints of the objects before it take 52 bytes, and a record holds at most 40") {
		t.Errorf("%+v %q", s, ledger(t, out))
	}
}
