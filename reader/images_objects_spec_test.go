package reader

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// A record whose objects do not fit is an error with its number, that says why.
func TestImagesSayWhichObjectsAreBad(t *testing.T) {
	im := randomImage(rand.New(rand.NewPCG(3, 4)), 6, 5, 3)
	png, err := augment.AppendPNG(nil, im)
	if err != nil {
		t.Fatal(err)
	}
	box := [4]float32{0, 0.25, 1, 0.75}
	good := objectRecord{image: png, boxes: [][4]float32{box, box}, labels: []int64{1, 2}}
	for want, change := range map[string]func(*objectRecord){
		`feature "image/object/class/label": 0 values for 2 boxes: want a label for each box`:         func(e *objectRecord) { e.labels = nil },
		"image/object/is_crowd has 1 values for 2 boxes":                                              func(e *objectRecord) { e.crowd = []int64{1} },
		"box 1: [0 0.25 2 0.75]: want shares of the image, from 0 to 1":                               func(e *objectRecord) { e.boxes[1][2] = 2 },
		"box 0: [NaN 0.25 1 0.75]":                                                                    func(e *objectRecord) { e.boxes[0][0] = float32(math.NaN()) },
		"box 0: [0 0.25 1 -Inf]":                                                                      func(e *objectRecord) { e.boxes[0][3] = float32(math.Inf(-1)) },
		"box 1: [0 0.875 1 0.75]: want xmin, ymin, xmax, ymax with each maximum at least its minimum": func(e *objectRecord) { e.boxes[1][1] = 0.875 },
	} {
		set := writeRecords(t, Options{}, 1, func(int) (records [][]byte) {
			for i := range 5 {
				e := good
				e.boxes = slices.Clone(good.boxes)
				if i == 3 {
					change(&e)
				}
				records = append(records, settest.Example(func(b *tfrecord.Builder) { e.fill(b, i) }))
			}
			return records
		})
		var err error
		for _, err = range Images(set.Records(), ImageSpec{Size: 4, Batch: 2, Objects: &columns.ObjectSpec{}}).All(t.Context()) {
		}
		var located *tfrecord.Error
		if !errors.As(err, &located) || located.Record != 3 || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want record 3, %s", err, want)
		}
	}
}

// Records of other sets have no objects, and need no label of the image.
func TestImagesWithoutObjects(t *testing.T) {
	png, err := augment.AppendPNG(nil, randomImage(rand.New(rand.NewPCG(3, 5)), 6, 5, 3))
	if err != nil {
		t.Fatal(err)
	}
	set := writeRecords(t, Options{}, 1, func(int) [][]byte {
		return slices.Repeat([][]byte{settest.Example(func(b *tfrecord.Builder) { b.Bytes(DefaultImageKey, png) })}, 3)
	})
	for most, want := range []columns.Objects{
		{Counts: []int64{0, 0, 0}, Splits: []int64{0, 0, 0, 0}},
		{Counts: []int64{0, 0, 0}, Boxes: make([]float32, 12), Labels: []int64{-1, -1, -1}, Indexes: []int64{-1, -1, -1}},
	} {
		for b, err := range Images(set.Records(), ImageSpec{Size: 4, Batch: 3, Objects: &columns.ObjectSpec{MaxBoxes: most}}).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, b.Objects, cmpopts.EquateEmpty()); diff != "" || b.Labels != nil {
				t.Error(diff, b.Labels)
			}
		}
	}
}

// TestMirroredKeypoints: it is an error if it is not known which points change places in a mirrored
// image, and only then.
func TestMirroredKeypoints(t *testing.T) {
	png, err := augment.AppendPNG(nil, randomImage(rand.New(rand.NewPCG(3, 5)), 6, 5, 3))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		policy string
		names  []string
		flip   []int
		want   string
	}{
		"names":       {"hflip:1", []string{"left", "right"}, nil, "[3 1 2 4 1 2]"},
		"flip":        {"hflip:1", nil, []int{1, 0}, "[3 1 2 4 1 2]"},
		"no sides":    {"hflip:1", []string{"a", "b"}, []int{0, 1}, "[4 1 2 3 1 2]"},
		"unknown":     {"hflip:1", []string{"a", "b"}, nil, "set KeypointFlip of the ObjectSpec"},
		"no names":    {"vflip:1", nil, nil, "set KeypointFlip of the ObjectSpec"},
		"turned":      {"hflip:1|vflip:1", nil, nil, "[4 7 2 3 7 2]"},
		"not flipped": {"brightness:0.1", nil, nil, "[4 1 2 5 1 2]"},
	} {
		set := writeRecords(t, Options{}, 1, func(int) [][]byte {
			e := objectRecord{image: png, boxes: [][4]float32{{0, 0, 1, 1}}, labels: []int64{1}, points: [][3]float32{{0.5, 0.125, 2}, {0.625, 0.125, 2}}, names: c.names}
			return [][]byte{settest.Example(func(b *tfrecord.Builder) { e.fill(b, 0) })}
		})
		spec := ImageSpec{Resize: augment.ResizeSpec{Width: 8, Height: 8, NoAntialias: true}, Batch: 1, Objects: &columns.ObjectSpec{Keypoints: 2, KeypointFlip: c.flip}}
		if spec.Policy, err = augment.ParsePolicy(c.policy); err != nil {
			t.Fatal(err)
		}
		for b, err := range Images(set.Records(), spec).All(t.Context()) {
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = fmt.Sprint(b.Objects.Keypoints)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

// What cannot be done is an error before anything is read, and so is a cache of another spec.
func TestObjectSpecs(t *testing.T) {
	p := imageSet(t, 3, nil).Records()
	for want, spec := range map[string]ImageSpec{
		"want Objects or Steps":                                      {Size: 4, Objects: &columns.ObjectSpec{}, Steps: columns.FlatSteps, Frames: 2},
		"want MixUp":                                                 {Size: 4, Objects: &columns.ObjectSpec{}, Mix: augment.Mix{CutMix: 1}},
		"want 16777216 boxes a batch at most":                        {Size: 4, Batch: 2, Objects: &columns.ObjectSpec{MaxBoxes: 1 << 24}},
		"a visibility of NaN at least: want 0 to 1":                  {Size: 4, Objects: &columns.ObjectSpec{MinVisibility: math.NaN()}},
		"-1 keypoints: want 1 to 1024, or 0 for none":                {Size: 4, Objects: &columns.ObjectSpec{Keypoints: -1}},
		"a flip of [1 1]: want the index of each of the 2 keypoints": {Size: 4, Objects: &columns.ObjectSpec{Keypoints: 2, KeypointFlip: []int{1, 1}}},
		"a flip of [0]: want the index of each of the 2 keypoints":   {Size: 4, Objects: &columns.ObjectSpec{Keypoints: 2, KeypointFlip: []int{0}}},
		"1025 keypoints: want 1 to 1024":                             {Size: 4, Objects: &columns.ObjectSpec{Keypoints: 1025}},
		"keypoints a batch at most":                                  {Size: 4, Objects: &columns.ObjectSpec{Keypoints: 1024, MaxBoxes: 1 << 15}},
		"-1 boxes at most":                                           {Size: 4, Objects: &columns.ObjectSpec{MaxBoxes: -1}},
		"BoxFormat(9): want xyxy":                                    {Size: 4, Objects: &columns.ObjectSpec{Format: 9}},
		"set LabelKey or leave out Classes":                          {Size: 4, Objects: &columns.ObjectSpec{}, Classes: 4},
	} {
		if _, err := Images(p, spec).Start(t.Context(), From{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	dir := t.TempDir()
	for i, want := range []error{nil, nil, ErrOtherCache} {
		spec := ImageSpec{Size: 4, Objects: &columns.ObjectSpec{Relative: i == 2}}
		var err error
		for _, err = range Images(p, spec).Cache(CacheOptions{Dir: dir}).All(t.Context()) {
		}
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}
