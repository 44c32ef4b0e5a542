package convert

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/verify"
)

// Random conversions of annotated images, with all that TestRandomConversions does. Each annotation
// is in the records, dropped, or in the ledger, as often as it should be; and boxes and masks are
// where the colours of their objects are.
func TestRandomConversionsOfObjects(t *testing.T) {
	for _, seed := range torture.Sample(t, 12, torture.Seeds(24, 1000)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newObjectsTrial(t, rand.New(rand.NewPCG(seed, 2323))).run()
		})
	}
}

// annotatedFile is an image that may be there, with annotations that may be.
type annotatedFile struct {
	drawing
	missing    bool // the image
	cut        bool // the image is damaged
	unmasked   bool // without a mask of classes
	bare       bool // without annotations
	unreadable bool // its file of annotations, if it has one of its own
	broken     int  // annotations, half of which only the image shows to be
}

// objectsTrial is the input of a trial of annotated images.
type objectsTrial struct {
	*conversionTrial
	format  string
	archive string // "" or the extension of the archive that has the images
	exact   bool   // boxes fit the colours, but for rounding
	regions bool
	masks   bool     // of classes
	splits  []string // of the annotations; nil: none
	o       ImageOptions
	files   map[string]*annotatedFile
}

// trialPolicies are policies; exact says that boxes around objects stay tight.
var trialPolicies = []struct {
	spec  string
	exact bool
}{
	{"", true}, {"", true}, {"hflip:0.5", true}, {"random_crop:36|hflip:0.5|rotate:90..90", true}, {"vflip:0.5|pad:5|center_crop:60", true}, {"iou_crop:0.1,scale=0.3-1|hflip", true},
	{"rotate:-40..40", false}, {"rotate:-40..40,expand=true|random_crop:50", false}, {"perspective:0.5,p=1|hflip", false}, {"affine:20,translate=0.1,scale=0.8-1.2,shear=5|iou_crop:0.1,scale=0.3-1", false},
	{"random_resized_crop:40,scale=0.3-1|resize:30", false},
}

func newObjectsTrial(t *testing.T, r *rand.Rand) *conversionTrial {
	x := &objectsTrial{conversionTrial: newTrial(t, r), files: map[string]*annotatedFile{}}
	c := x.conversionTrial
	x.format = []string{"coco", "voc", "yolo", "kitti", "labelme", "csv"}[r.IntN(6)]
	x.archive = []string{"", "", "", ".tar", ".zip", ".tar.gz"}[r.IntN(6)]
	x.regions = r.IntN(2) == 0 && (x.format == "coco" || x.format == "labelme")
	x.masks = r.IntN(3) == 0
	c.options.Limit, c.options.MaxErrors = 0, Tolerance{Share: []float64{1, 1, 1, 0.5}[r.IntN(4)]}
	if r.IntN(3) == 0 {
		x.splits, c.options.Splits = []string{"train", "holdout"}, nil
	}
	x.drawOptions()
	for _, dir := range []string{x.annotations(), x.masksDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.convert = func(ctx context.Context, out string, common Options) (*Summary, error) {
		o := x.o
		o.Options = common
		return Images(ctx, x.src+x.archive, out, o)
	}
	c.reoption = func() {
		x.drawOptions()
		c.options.Shards = r.IntN(5)
	}
	c.change = x.change
	c.check = x.check
	c.say("%s, archive %q, regions %v, masks %v, splits %v", x.format, x.archive, x.regions, x.masks, x.splits)
	return c
}

// annotations is the directory of the annotations.
func (x *objectsTrial) annotations() string { return filepath.Join(filepath.Dir(x.src), "ann") }

// masksDir is the directory of the masks of classes.
func (x *objectsTrial) masksDir() string { return filepath.Join(filepath.Dir(x.src), "masks") }

// drawOptions draws what is made of the images.
func (x *objectsTrial) drawOptions() {
	r, o := x.r, ImageOptions{Encode: EncodeSpec{Format: []Encoding{PNG, PNG, Keep}[x.r.IntN(3)]}}
	o.Annotations.InstanceMasks, o.Annotations.Format = x.regions, x.format
	o.Annotations.MinVisibility = []float64{0, 0, 0.3, 1}[r.IntN(4)]
	o.Annotations.DropEmpty = r.IntN(4) == 0
	o.Annotations.KeepUnannotated = !o.Annotations.DropEmpty && x.splits == nil && r.IntN(4) == 0
	if x.masks {
		o.Annotations.Masks = x.masksDir()
	}
	if r.IntN(5) == 0 {
		o.Select.Exclude = []string{"sub/**", "*\\[1\\]*", "[A-Z]*/**"}[r.IntN(3):][:1]
	}
	x.exact = true
	if o.Encode.Format == PNG {
		p := trialPolicies[r.IntN(len(trialPolicies))]
		x.exact = p.exact
		if p.spec != "" {
			o.Augment = AugmentSpec{Policy: policy(x.t, p.spec), Copies: 1 + r.IntN(3), KeepOriginal: r.IntN(2) == 0}
		}
		switch r.IntN(5) {
		case 0:
			o.Resize = augment.ResizeSpec{Width: 70, Height: 44, Fit: []augment.Fit{augment.Stretch, augment.Crop, augment.Pad}[r.IntN(3)], Filter: augment.Nearest, NoAntialias: true}
		case 1:
			o.Resize = augment.ResizeSpec{Square: 50, Filter: augment.Nearest, NoAntialias: true}
		case 2:
			o.Resize, x.exact = augment.ResizeSpec{Width: 41, Height: 67, Fit: augment.Pad}, false
		}
		x.say("policy %q, resize %+v", p.spec, o.Resize)
	}
	for _, split := range x.splits {
		o.Annotations.Files = append(o.Annotations.Files, AnnotationFile{Split: split, Path: x.part(split)})
	}
	if x.splits == nil {
		o.Annotations.Files = []AnnotationFile{{Path: x.part("all")}}
	}
	x.o = o
}

// part is the file or directory of annotations of a split.
func (x *objectsTrial) part(split string) string {
	switch x.format {
	case "coco":
		return filepath.Join(x.annotations(), split+".json")
	case "csv":
		return filepath.Join(x.annotations(), split+".csv")
	}
	return filepath.Join(x.annotations(), split)
}

// splitOf is the split of a file of annotations.
func (x *objectsTrial) splitOf(name string) string {
	if x.splits == nil {
		return "all"
	}
	return x.splits[len(name)%2]
}

var trialNames = []string{
	"a.png", "b c.png", "é.png", "x.y.z.png", "sub/d.png", "sub dir/e f.png", "深/い/g.png", "h%20.png", "sub/i[1].png", "j=k,l.png", "UP/M.PNG", "#n'.png", "o&p.png", "-q.png", "r..s.png",
}

func (x *objectsTrial) change() {
	r := x.r
	name := trialNames[r.IntN(len(trialNames))]
	f := x.files[name]
	switch {
	case f == nil || r.IntN(3) == 0:
		f = &annotatedFile{drawing: drawDrawing(r, 0)}
		f.name = name
		if x.format == "yolo" || x.format == "kitti" {
			f.stored = false
		}
		if r.IntN(4) == 0 {
			f.broken = 1 + r.IntN(3)
		}
		x.files[name] = f
	case r.IntN(5) == 0 && len(x.files) > 4:
		delete(x.files, name)
	case r.IntN(3) == 0:
		f.missing = !f.missing
	case r.IntN(6) == 0:
		f.cut = !f.cut
	case r.IntN(4) == 0:
		f.unmasked = !f.unmasked
	case r.IntN(2) == 0:
		f.bare = !f.bare
	default:
		f.unreadable = !f.unreadable && !annotation.IsFile(x.format)
	}
	x.say("%s: %+v", name, x.files[name])
	x.writeImage(name)
	x.writeAnnotations(name)
	x.writeMask(name)
}

// touch gives a file a time of its own.
func (x *objectsTrial) touch(path string) {
	x.clock = x.clock.Add(time.Second)
	if err := os.Chtimes(path, x.clock, x.clock); err != nil {
		x.t.Fatal(err)
	}
}

// save replaces a file, or removes it if it has no data.
func (x *objectsTrial) save(path string, data []byte) {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if data == nil {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			x.t.Fatal(err)
		}
		return
	}
	temp := filepath.Join(filepath.Dir(x.src), "temp")
	if err == nil {
		err = os.WriteFile(temp, data, 0o644)
	}
	if err == nil {
		x.touch(temp)
		err = os.Rename(temp, path)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// image is the file, or what is left of it.
func (f *annotatedFile) image() []byte {
	data := f.file()
	if f.cut {
		data = data[:len(data)/2]
	}
	return data
}

// writeMask writes the mask of the classes of an image: hueK is K+1.
func (x *objectsTrial) writeMask(name string) {
	f := x.files[name]
	var file []byte
	if f != nil && !f.unmasked {
		w, h, _ := f.annotated(image.Rectangle{})
		mask := image.NewGray(image.Rect(0, 0, w, h))
		for _, r := range f.rects {
			_, _, box := f.annotated(r.box)
			draw.Draw(mask, box, image.NewUniform(color.Gray{Y: uint8(r.class) + 1}), image.Point{}, draw.Src)
		}
		file = testpng.Encode(mask)
	}
	x.save(filepath.Join(x.masksDir(), filepath.FromSlash(strings.TrimSuffix(name, path.Ext(name))+".png")), file)
}

func (x *objectsTrial) writeImage(name string) {
	if x.archive == "" {
		var data []byte
		if f := x.files[name]; f != nil && !f.missing {
			data = f.image()
		}
		x.save(filepath.Join(x.src, filepath.FromSlash(name)), data)
		return
	}
	all := map[string]string{"notes.txt": "no image"}
	for name, f := range x.files {
		if !f.missing {
			all[name] = string(f.image())
		}
	}
	packed := filepath.Join(filepath.Dir(x.src), "packed"+x.archive)
	packFiles(x.t, packed, 1, all)
	x.touch(packed)
	if err := os.Rename(packed, x.src+x.archive); err != nil {
		x.t.Fatal(err)
	}
}

// writeAnnotations writes those of an image, or, with COCO, of all.
func (x *objectsTrial) writeAnnotations(name string) {
	if whole := map[string]func(split string) []byte{"coco": x.coco, "csv": x.csv}[x.format]; whole != nil {
		for _, split := range append([]string{"all"}, x.splits...) {
			x.save(x.part(split), whole(split))
		}
		return
	}
	for _, split := range append([]string{"all"}, x.splits...) {
		if x.format == "yolo" {
			x.save(filepath.Join(x.part(split), "classes.txt"), []byte("hue0\nhue1\nhue2\n"))
		} else {
			x.save(filepath.Join(x.part(split), "README.txt"), []byte("the directory is there\n"))
		}
	}
	ext := map[string]string{"voc": ".xml", "yolo": ".txt", "kitti": ".txt", "labelme": ".json"}[x.format]
	to := filepath.Join(x.part(x.splitOf(name)), filepath.FromSlash(strings.TrimSuffix(name, path.Ext(name))+ext))
	f := x.files[name]
	switch {
	case f == nil || f.bare:
		x.save(to, nil)
	case f.unreadable:
		x.save(to, []byte("<\xff{"))
	default:
		x.save(to, []byte(map[string]func() string{"voc": f.voc, "yolo": f.yolo, "kitti": f.kitti, "labelme": f.labelme}[x.format]()))
	}
}

// coco returns the file of a split.
func (x *objectsTrial) coco(split string) []byte {
	var drawings []drawing
	var more []map[string]any
	for _, name := range slices.Sorted(maps.Keys(x.files)) {
		if f := x.files[name]; !f.bare && x.splitOf(name) == split {
			for i := range f.broken {
				box := []int{1, 1, 0, 5}
				if i%2 > 0 {
					box = []int{500, 1, 5, 5}
				}
				more = append(more, map[string]any{"id": 1000 + len(more), "image_id": 100 + len(drawings), "category_id": 3, "bbox": box, "segmentation": [][]int{{1, 1, 5, 5, 1, 5}}})
			}
			drawings = append(drawings, f.drawing)
		}
	}
	return cocoOf(drawings, more...)
}

// csv returns the table of a split.
func (x *objectsTrial) csv(split string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	write := func(fields ...any) {
		row := make([]string, len(fields))
		for i, v := range fields {
			row[i] = fmt.Sprint(v)
		}
		_ = w.Write(row) // of a buffer
	}
	write("filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax")
	for _, name := range slices.Sorted(maps.Keys(x.files)) {
		f := x.files[name]
		if f.bare || x.splitOf(name) != split {
			continue
		}
		width, height, _ := f.annotated(image.Rectangle{})
		if len(f.rects) == 0 && f.broken == 0 {
			write(name, width, height, "", "", "", "", "")
		}
		for i := range f.broken {
			write(name, width, height, "hue0", 500*(i%2), 1, 505*(i%2), 5)
		}
		for _, r := range f.rects {
			_, _, box := f.annotated(r.box)
			write(name, width, height, fmt.Sprint("hue", r.class), box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
		}
	}
	w.Flush()
	return b.Bytes()
}

func (f *annotatedFile) voc() string {
	w, h, _ := f.annotated(image.Rectangle{})
	text := fmt.Sprintf("<annotation><size><width>%d</width><height>%d</height></size>\n", w, h)
	object := func(class int, b image.Rectangle) {
		text += fmt.Sprintf("<object><name>hue%d</name><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox></object>\r\n", class, b.Min.X, b.Min.Y, b.Max.X, b.Max.Y)
	}
	for i := range f.broken {
		object(0, image.Rectangle{Min: image.Pt(500*(i%2), 1), Max: image.Pt(505*(i%2), 5)})
	}
	for _, r := range f.rects {
		_, _, b := f.annotated(r.box)
		object(r.class, b)
	}
	return text + "</annotation>"
}

func (f *annotatedFile) yolo() (text string) {
	for _, r := range f.rects {
		b := r.box
		text += fmt.Sprintf("%d %.9f %.9f %.9f %.9f\n", r.class, float64(b.Min.X+b.Max.X)/2/float64(f.w), float64(b.Min.Y+b.Max.Y)/2/float64(f.h), float64(b.Dx())/float64(f.w), float64(b.Dy())/float64(f.h))
	}
	for i := range f.broken {
		text += []string{"7 0.5 0.5 0.5 0.5\n", "0 5.5 0.5 0.5 0.5\n"}[i%2]
	}
	return text
}

func (f *annotatedFile) kitti() (text string) {
	for i := range f.broken {
		text += []string{"hue0 0 0 -10 5 5 1\n", "hue0 0 0 -10 500 5 505 9 -1 -1 -1 -1000 -1000 -1000 -10\n"}[i%2]
	}
	for _, r := range f.rects {
		text += fmt.Sprintf("hue%d 0.00 0 -10 %d.00 %d.00 %d.00 %d.00 -1 -1 -1 -1000 -1000 -1000 -10\n", r.class, r.box.Min.X, r.box.Min.Y, r.box.Max.X, r.box.Max.Y)
	}
	return text
}

func (f *annotatedFile) labelme() string {
	w, h, _ := f.annotated(image.Rectangle{})
	shapes := []any{}
	shape := func(class int, b image.Rectangle) {
		shapes = append(shapes, map[string]any{
			"label": fmt.Sprint("hue", class), "shape_type": "polygon",
			"points": [][2]int{{b.Min.X, b.Min.Y}, {b.Max.X, b.Min.Y}, {b.Max.X, b.Max.Y}, {b.Min.X, b.Max.Y}},
		})
	}
	for i := range f.broken {
		shape(0, image.Rectangle{Min: image.Pt(500*(i%2), 1), Max: image.Pt(505*(i%2), 5)})
	}
	for _, r := range f.rects {
		_, _, b := f.annotated(r.box)
		shape(r.class, b)
	}
	data, err := json.Marshal(map[string]any{"shapes": shapes, "imageWidth": w, "imageHeight": h})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// check holds a set to its input.
func (x *objectsTrial) check(s *Summary) {
	t := x.t
	report, err := verify.Files(t.Context(), []string{x.out}, verify.Options{Deep: new(verify.DeepOptions)})
	if err != nil || !report.OK {
		t.Fatalf("verify: %v, %+v", err, report)
	}
	found, inRecords := map[string]int{}, int64(0)
	splits := map[string]string{}
	for split := range s.Splits {
		for _, e := range examples(t, x.out, split) {
			name := string(e[imagekey.Filename].([][]byte)[0])
			found[name]++
			splits[name] = split
			inRecords += int64(len(e[objects.KeyLabel].([]int64)))
			x.checkColours(e)
		}
	}
	lines := x.ledgerStages()
	made, faults, filtered, unreadable, unknown := int64(0), int64(0), int64(0), int64(0), false
	for name, f := range x.files {
		copies := 1
		if x.o.Augment.Policy != nil && (x.splits != nil && x.splitOf(name) == "train" || splits[name] == "train") {
			if copies = x.o.Augment.Copies; x.o.Augment.KeepOriginal {
				copies++
			}
		}
		unlisted := f.bare && !(x.format == "yolo" && x.splits == nil || x.o.Annotations.KeepUnannotated)
		want, stages := copies, []string(nil)
		switch {
		case f.bare && f.missing, unlisted, !x.o.Select.Wants(name):
			want = 0
		case x.masks && f.unmasked && !f.missing:
			want, stages = 0, []string{"read"}
		case f.unreadable && !f.bare:
			want, stages, unreadable = 0, []string{plan.StageAnnotation}, unreadable+1
		case f.bare && !f.cut:
		case f.missing:
			want, stages = 0, []string{"read"}
		case f.cut:
			want, stages = 0, []string{"decode"}
		default:
			made += int64(copies * len(f.rects))
			stages = slices.Repeat([]string{plan.StageAnnotation}, f.broken)
		}
		// Without its records nobody knows which split it is in, and how many records are left out.
		unknown = unknown || want > 0 && found[name] == 0 && x.splits == nil && x.o.Augment.Policy != nil
		if got := found[name]; got > want || got < want && !x.o.Annotations.DropEmpty {
			t.Errorf("%s: %d records, want %d", name, got, want)
		}
		filtered += int64(want - found[name])
		got := lines[strings.TrimSuffix(name, path.Ext(name))]
		if f.cut && len(got) <= x.o.Augment.Copies+1 { // a line for each copy
			got = slices.Compact(got)
		}
		if !slices.Equal(got, stages) {
			t.Errorf("%s: ledger %v, want %v", name, got, stages)
		}
		faults += int64(len(slices.DeleteFunc(stages, func(s string) bool { return s != plan.StageAnnotation })))
		if x.splits != nil && found[name] > 0 && splits[name] != x.splitOf(name) {
			t.Errorf("%s is in %s", name, splits[name])
		}
	}
	if s.Annotations != inRecords || s.Filtered != filtered && !unknown {
		t.Errorf("%d objects in records and %d records left out: %+v %+v", inRecords, filtered, s, s.AnnotationCounts)
	}
	if got := s.Annotations + s.Dropped; got != made+faults-unreadable && !unknown {
		t.Errorf("%d objects and %d dropped, want %d and %d faults together", s.Annotations, s.Dropped, made, faults-unreadable)
	}
}

// ledgerStages returns the stages of the ledger's entries by the names of images, without extensions.
func (x *objectsTrial) ledgerStages() map[string][]string {
	stages := map[string][]string{}
	data, err := os.ReadFile(filepath.Join(x.out, manifest.LedgerFile))
	if err != nil && !os.IsNotExist(err) {
		x.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var b setdir.BadSample
		if err := json.Unmarshal([]byte(line), &b); err != nil {
			x.t.Fatal(err)
		}
		name := strings.TrimSuffix(b.Key, path.Ext(b.Key))
		stages[name] = append(stages[name], b.Stage)
	}
	return stages
}

// checkColours compares the objects of a record with the colours of its image: pixels of an
// object's colour are in its box and its mask, and these are no larger than rounding makes them, if
// they are exact.
func (x *objectsTrial) checkColours(e map[string]any) {
	t, name := x.t, e[imagekey.Filename].([][]byte)[0]
	im := decodePNG(t, e[imagekey.Encoded].([][]byte)[0])
	w, h := float64(im.Bounds().Dx()), float64(im.Bounds().Dy())
	seen := map[byte]bool{}
	for k, text := range e[objects.KeyText].([][]byte) {
		class := text[len(text)-1]
		seen[class] = true
		at, pixels := extent(im, hues[class-'0'])
		side := func(key string, of float64) float64 { return float64(e[key].([]float32)[k]) * of }
		x0, y0, x1, y1 := side(objects.KeyXMin, w), side(objects.KeyYMin, h), side(objects.KeyXMax, w), side(objects.KeyYMax, h)
		most := 3.0 // half a pixel, enlarged
		if x.exact {
			most = 1.01
		}
		if len(pixels) > 0 && (float64(at.Min.X) < x0-most || float64(at.Min.Y) < y0-most || float64(at.Max.X) > x1+most || float64(at.Max.Y) > y1+most) {
			t.Errorf("%s: hue%c at %v is not in its box, %g,%g to %g,%g", name, class, at, x0, y0, x1, y1)
		}
		if x.exact && (math.Abs(float64(at.Min.X)-x0) > most || math.Abs(float64(at.Min.Y)-y0) > most || math.Abs(float64(at.Max.X)-x1) > most || math.Abs(float64(at.Max.Y)-y1) > most) &&
			(len(pixels) > 0 || x1-x0 > 1 && y1-y0 > 1) { // what is narrower may be between two pixels
			t.Errorf("%s: hue%c at %v is not all of its box, %g,%g to %g,%g", name, class, at, x0, y0, x1, y1)
		}
		if !x.regions {
			continue
		}
		_, mask := extent(annotationtest.Gray(t, e[objects.KeyMask].([][]byte)[k]), color.RGBA{1, 1, 1, 255})
		for p := range pixels {
			if !mask[p] {
				t.Errorf("%s: hue%c at %v is not in its mask", name, class, p)
				break
			}
		}
		if x.exact && len(mask) != len(pixels) {
			t.Errorf("%s: the mask of hue%c has %d pixels, the image %d", name, class, len(mask), len(pixels))
		}
	}
	f := x.files[string(name)]
	if x.masks {
		x.checkMask(e, im)
	}
	for _, r := range f.rects {
		if _, pixels := extent(im, hues[r.class]); len(pixels) > 0 && !seen['0'+byte(r.class)] && !f.bare && x.o.Annotations.MinVisibility == 0 {
			t.Errorf("%s: %d pixels of hue%d and no object", name, len(pixels), r.class)
		}
	}
}

// checkMask compares the mask of classes of a record with the colours of its image.
func (x *objectsTrial) checkMask(e map[string]any, im image.Image) {
	t, name := x.t, e[imagekey.Filename].([][]byte)[0]
	mask := annotationtest.Gray(t, e[objects.KeySegmentation].([][]byte)[0])
	if mask.Bounds() != im.Bounds() {
		t.Errorf("%s: a mask of %v for %v", name, mask.Bounds(), im.Bounds())
		return
	}
	for class, hue := range hues {
		_, pixels := extent(im, hue)
		for p := range pixels {
			if mask.GrayAt(p.X, p.Y).Y != uint8(class)+1 {
				t.Errorf("%s: hue%d at %v is %d in the mask", name, class, p, mask.GrayAt(p.X, p.Y).Y)
				break
			}
		}
		if n := bytes.Count(mask.Pix, []byte{uint8(class) + 1}); x.exact && n != len(pixels) {
			t.Errorf("%s: %d pixels of hue%d, and %d in the mask", name, len(pixels), class, n)
		}
	}
}
