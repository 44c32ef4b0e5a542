package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// maskPNG returns a mask with one pixel set.
func maskPNG(t testing.TB, w, h int, palette bool) []byte {
	t.Helper()
	var im image.Image = image.NewGray(image.Rect(0, 0, w, h))
	if palette {
		im = image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White, color.Transparent})
	}
	return testpng.Encode(im)
}

// objectFile writes 24 records with two objects each, as the tools of TensorFlow's Object Detection
// API do, after applying harm.
func objectFile(t testing.TB, harm func(r []*sampleRecord)) string {
	t.Helper()
	var records []*sampleRecord
	for i := range 24 {
		w, h := 9+i%3, 12
		image := noisePNG(t, uint64(i), w, h)
		sum := sha256.Sum256(image)
		records = append(records, &sampleRecord{
			ints: map[string][]int64{"image/height": {int64(h)}, "image/width": {int64(w)}, objects.KeyLabel: {90, 3}, objects.KeyCrowd: {0, 1}, objects.KeyDifficult: {}},
			floats: map[string][]float32{
				objects.KeyXMin: {0, 0.25}, objects.KeyYMin: {0, 0.5}, objects.KeyXMax: {1.0000001, 0.5}, objects.KeyYMax: {1, 0.75}, objects.KeyArea: {5, 1},
			},
			texts: map[string][][]byte{
				imagekey.Encoded: {image}, "image/format": {[]byte("png")}, objects.KeySourceID: {fmt.Append(nil, i)}, objects.KeySHA256: {[]byte(hex.EncodeToString(sum[:]))},
				objects.KeyText: {[]byte("ant"), []byte("bee")}, objects.KeyMask: {maskPNG(t, w, h, false), maskPNG(t, w, h, false)},
				objects.KeySegmentation: {maskPNG(t, w, h, i%2 == 0)}, objects.KeySegmentationFormat: {[]byte("png")},
			},
		})
	}
	harm(records)
	path := filepath.Join(t.TempDir(), "x-train.tfrecord")
	var data []byte
	for _, r := range records {
		data = tfrecord.AppendFrame(data, r.encode())
	}
	settest.PutFile(t, path, data)
	return path
}

// TestDeepFindsFaultsOfObjects damages one record in one way at a time.
func TestDeepFindsFaultsOfObjects(t *testing.T) {
	inf := float32(math.Inf(1))
	float := func(key string, values ...float32) func(r *sampleRecord) {
		return func(r *sampleRecord) { r.floats[key] = values }
	}
	texts := func(key string, values ...[]byte) func(r *sampleRecord) {
		return func(r *sampleRecord) { r.texts[key] = values }
	}
	keypoints := func(harm func(r *sampleRecord)) func(r *sampleRecord) {
		return func(r *sampleRecord) {
			r.floats[objects.KeyKeypointX], r.floats[objects.KeyKeypointY] = []float32{0, 0.5, 0, 1}, []float32{0.25, 0.5, 0, 1.0000001}
			r.ints[objects.KeyKeypointVisibility], r.ints[objects.KeyKeypointNum] = []int64{1, 2, 0, 2}, []int64{2, 1}
			if harm != nil {
				harm(r)
			}
		}
	}
	gray, other := maskPNG(t, 10, 12, false), maskPNG(t, 12, 10, false)
	cut := gray[:len(gray)-20]
	huge := bytes.Clone(gray)
	copy(huge[16:], "\x7f\xff\xff\xff\x7f\xff\xff\xff")
	for name, test := range map[string]struct {
		harm func(r *sampleRecord)
		want string // "": no finding
	}{
		"nothing": {func(*sampleRecord) {}, ""},
		"no objects": {func(r *sampleRecord) {
			r.floats, r.ints[objects.KeyLabel] = nil, nil
			r.drop(objects.KeyText)
			r.drop(objects.KeyMask)
			r.drop(objects.KeyCrowd)
		}, ""},
		"rounding":        {float(objects.KeyXMin, -1e-7, 0.25), ""},
		"capitals":        {func(r *sampleRecord) { r.texts[objects.KeySHA256][0] = bytes.ToUpper(r.texts[objects.KeySHA256][0]) }, ""},
		"xmin over xmax":  {float(objects.KeyXMin, 0, 0.75), "f box train 4 " + objects.KeyXMin},
		"empty":           {float(objects.KeyYMax, 1, 0.5), "f box train 4 " + objects.KeyYMin},
		"xmax over 1":     {float(objects.KeyXMax, 1.25, 0.5), "f box train 4 " + objects.KeyXMax},
		"ymin below 0":    {float(objects.KeyYMin, -0.125, 0.5), "f box train 4 " + objects.KeyYMin},
		"NaN":             {float(objects.KeyYMin, 0, float32(math.NaN())), "f box train 4 " + objects.KeyYMin},
		"infinite":        {float(objects.KeyYMax, inf, -inf), "f box train 4 " + objects.KeyYMax},
		"both axes":       {func(r *sampleRecord) { float(objects.KeyXMax, 2, 2)(r); float(objects.KeyYMax, 2, 2)(r) }, "f box train 4 " + objects.KeyXMax + "|f box train 4 " + objects.KeyYMax},
		"a side too few":  {float(objects.KeyYMax, 1), "f objects train 4"},
		"an area too few": {float(objects.KeyArea, 1), "f objects train 4"},
		"a label too few": {func(r *sampleRecord) { r.ints[objects.KeyLabel] = []int64{90} }, "f label_text train 4 " + objects.KeyLabel + "|f objects train 4"},
		"keypoints":       {keypoints(nil), ""},
		"without visibilities": {keypoints(func(r *sampleRecord) {
			r.drop(objects.KeyKeypointVisibility)
			r.drop(objects.KeyKeypointNum)
			r.floats[objects.KeyKeypointX][0] = inf
		}), ""},
		"a point too few":        {keypoints(func(r *sampleRecord) { r.floats[objects.KeyKeypointY] = []float32{0} }), "f objects train 4"},
		"points of no box":       {keypoints(func(r *sampleRecord) { r.floats[objects.KeyKeypointX] = make([]float32, 7) }), "f objects train 4"},
		"visibility 3":           {keypoints(func(r *sampleRecord) { r.ints[objects.KeyKeypointVisibility][1] = 3 }), "f keypoint train 4 " + objects.KeyKeypointVisibility},
		"a point outside":        {keypoints(func(r *sampleRecord) { r.floats[objects.KeyKeypointX][1] = 1.25 }), "f keypoint train 4 " + objects.KeyKeypointX},
		"a point at NaN":         {keypoints(func(r *sampleRecord) { r.floats[objects.KeyKeypointY][3] = float32(math.NaN()) }), "f keypoint train 4 " + objects.KeyKeypointY},
		"a point not used":       {keypoints(func(r *sampleRecord) { r.floats[objects.KeyKeypointY][2] = 7 }), ""},
		"another num":            {keypoints(func(r *sampleRecord) { r.ints[objects.KeyKeypointNum][1] = 2 }), "w keypoint train 4 " + objects.KeyKeypointNum},
		"a mask too few":         {texts(objects.KeyMask, gray), "f objects train 4"},
		"another text":           {texts(objects.KeyText, []byte("bee"), []byte("bee")), "f label_text train 4 " + objects.KeyLabel},
		"checksum":               {texts(objects.KeySHA256, []byte("00")), "f sha256 train 4 " + objects.KeySHA256},
		"mask not a PNG":         {texts(objects.KeyMask, gray, []byte("\xff\xd8\xff\xe0")), "f mask train 4 " + objects.KeyMask},
		"mask empty":             {texts(objects.KeyMask, nil, gray), "f mask train 4 " + objects.KeyMask},
		"mask of another size":   {texts(objects.KeyMask, gray, other), "f mask train 4 " + objects.KeyMask},
		"mask of huge size":      {texts(objects.KeyMask, huge, huge), "f mask train 4 " + objects.KeyMask},
		"mask in colour":         {texts(objects.KeyMask, noisePNG(t, 1, 10, 12), gray), "f mask train 4 " + objects.KeyMask},
		"mask with a palette":    {texts(objects.KeyMask, maskPNG(t, 10, 12, true), gray), "f mask train 4 " + objects.KeyMask},
		"mask cut":               {texts(objects.KeyMask, gray, cut), "f picture train 4 " + objects.KeyMask},
		"semantic mask missing":  {texts(objects.KeySegmentation, nil), ""},
		"semantic in colour":     {texts(objects.KeySegmentation, noisePNG(t, 1, 10, 12)), "f mask train 4 " + objects.KeySegmentation},
		"semantic size":          {texts(objects.KeySegmentation, other), "f mask train 4 " + objects.KeySegmentation},
		"semantic cut":           {texts(objects.KeySegmentation, cut), "f picture train 4 " + objects.KeySegmentation},
		"two semantic masks":     {texts(objects.KeySegmentation, gray, gray), "f mask train 4 " + objects.KeySegmentation},
		"semantic mask's format": {texts(objects.KeySegmentationFormat, []byte("jpeg")), "f format train 4 " + objects.KeySegmentationFormat},
	} {
		path := objectFile(t, func(r []*sampleRecord) { test.harm(r[4]) })
		near := strings.Contains(name, "mask")
		report := verifyDeep(t, Options{Deep: &DeepOptions{Decode: decodePNG, Near: near}}, path)
		got := brief(report)
		for i := 0; i < len(got); i++ {
			if strings.HasPrefix(got[i], "w missing") { // of a feature that this record alone lacks
				got = append(got[:i], got[i+1:]...)
				i--
			}
		}
		if s := strings.Join(got, "|"); s != test.want {
			t.Errorf("%s: %q, want %q: %+v", name, s, test.want, report.Deep.Findings)
		}
		if report.OK == strings.HasPrefix(test.want, "f ") || report.Deep.Images != 24 || near && report.Deep.Near.Records > 0 {
			t.Errorf("%s: OK is %v, %d images, %+v", name, report.OK, report.Deep.Images, report.Deep.Near)
		}
		if name == "nothing" && (report.Deep.Objects != 48 || report.Deep.Masks != 72) {
			t.Errorf("%d objects, %d masks", report.Deep.Objects, report.Deep.Masks)
		}
		for _, f := range report.Deep.Findings {
			if f.Message == "" || f.Advice == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestDeepLabelMap compares labels with the label map beside the records.
func TestDeepLabelMap(t *testing.T) {
	const names = "item { id: 90 name: 'ant' }\nitem { id: 3 name: 'bee' }\n"
	for _, test := range []struct{ file, want, notChecked string }{
		{names, "", ""},
		{names + "item { id: 1 name: 'cat' }", "", ""},
		{"item { id: 90 name: 'ant' }", strings.Repeat("|f label train # "+objects.KeyLabel, 24)[1:], ""},
		{strings.ReplaceAll(names, "bee", "bug"), strings.Repeat("|f label_text train # "+objects.KeyLabel, 24)[1:], ""},
		{"item {", "", "label_map.pbtxt"},
	} {
		path := objectFile(t, func([]*sampleRecord) {})
		settest.PutFile(t, filepath.Join(filepath.Dir(path), manifest.LabelMapFile), []byte(test.file))
		report := verifyDeep(t, Options{}, path)
		var want []string
		for i, one := range strings.Split(test.want, "|") {
			if one != "" {
				want = append(want, strings.Replace(one, "#", fmt.Sprint(i), 1))
			}
		}
		if got := strings.Join(brief(report), "|"); got != strings.Join(want, "|") {
			t.Errorf("%s: %s", test.file, got)
		}
		if !strings.Contains(fmt.Sprint(report.Deep.NotChecked), test.notChecked) {
			t.Errorf("%s: not checked %v", test.file, report.Deep.NotChecked)
		}
		if l := report.Deep.Labels[0]; test.notChecked == "" && l.From != manifest.LabelMapFile {
			t.Errorf("%+v", l)
		}
	}
}

// TestDeepMasksOfAnImageThatIsNotDecoded compares them with the declared size.
func TestDeepMasksOfAnImageThatIsNotDecoded(t *testing.T) {
	path := objectFile(t, func(r []*sampleRecord) { r[4].texts[objects.KeyMask][1] = maskPNG(t, 10, 11, false) })
	report := verifyDeep(t, Options{Deep: &DeepOptions{}}, path)
	if got := strings.Join(brief(report), "|"); got != "f mask train 4 "+objects.KeyMask {
		t.Error(got)
	}
}

// TestDeepFindsALeakDespiteOtherMasks has one image in two splits, with other masks and boxes.
func TestDeepFindsALeakDespiteOtherMasks(t *testing.T) {
	path := objectFile(t, func(r []*sampleRecord) {
		r[8].texts[imagekey.Encoded], r[8].ints["image/width"], r[8].texts[objects.KeySHA256] = r[2].texts[imagekey.Encoded], r[2].ints["image/width"], r[2].texts[objects.KeySHA256]
		r[8].texts[objects.KeyMask] = nil
	})
	if got := strings.Join(brief(verifyDeep(t, Options{}, path)), "|"); !strings.Contains(got, "w duplicate train 8 train 2") {
		t.Error(got)
	}
}

// TestDeepBoxesAgreeWithAPlainModel has random boxes, of which some are wrong.
func TestDeepBoxesAgreeWithAPlainModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	sides := []float32{0, 0.25, 0.5, 1, 1 + 5e-7, -5e-7, 1.00001, -0.00001, float32(math.NaN()), float32(math.Inf(-1))}
	within := func(x float32) bool { return float64(x) >= -boxRounding && float64(x) <= 1+boxRounding }
	path, wrong := filepath.Join(t.TempDir(), "x.tfrecord"), map[int64]bool{}
	settest.ExampleFile(t, path, 2000, func(i int, b *tfrecord.Builder) {
		var values [4][]float32
		for range rng.IntN(4) {
			box := [4]float32{0.1, 0.1, 0.9, 0.9}
			for k := range box {
				if rng.IntN(8) == 0 {
					box[k] = sides[rng.IntN(len(sides))]
				}
				values[k] = append(values[k], box[k])
			}
			good := within(box[0]) && within(box[1]) && within(box[2]) && within(box[3]) && box[0] < box[2] && box[1] < box[3]
			wrong[int64(i)] = wrong[int64(i)] || !good
		}
		for k, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
			b.Float(key, values[k]...)
		}
	})
	found := map[int64]bool{}
	for _, f := range verifyDeep(t, Options{MaxFaults: 5000}, path).Deep.Findings {
		if f.Kind == FindingBox {
			found[f.Record] = true
		}
	}
	for i := range int64(2000) {
		if found[i] != wrong[i] {
			t.Errorf("record %d: found %v, want %v", i, found[i], wrong[i])
		}
	}
}

// TestDeepManyBoxes has a record of 5 MB, all of whose boxes are wrong: one finding an axis. A
// record with a label too few is not read further.
func TestDeepManyBoxes(t *testing.T) {
	const boxes = 300_000
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	settest.ExampleFile(t, path, 2, func(i int, b *tfrecord.Builder) {
		values := make([]float32, boxes)
		for _, axis := range objects.Axes {
			b.Float(axis.Min, values...)
			b.Float(axis.Max, values...)
		}
		b.Int64(objects.KeyLabel, make([]int64, boxes-i)...)
	})
	report := verifyDeep(t, Options{}, path)
	if got := strings.Join(brief(report), "|"); got != "f box  0 "+objects.KeyXMin+"|f box  0 "+objects.KeyYMin+"|f objects  1" {
		t.Error(got)
	}
	if m := report.Deep.Findings[0].Message; !strings.Contains(m, "300000 of the 300000 boxes are wrong") {
		t.Error(m)
	}
}
