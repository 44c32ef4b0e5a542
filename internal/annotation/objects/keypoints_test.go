package objects

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// parsePoints encodes a record with what fill adds, and parses its points for a number of boxes.
func parsePoints(t *testing.T, boxes int, fill func(b *tfrecord.Builder)) (*Keypoints, error) {
	t.Helper()
	var b tfrecord.Builder
	b.Reset()
	fill(&b)
	var e tfrecord.Example
	if err := e.Parse(b.Append(nil)); err != nil {
		t.Fatal(err)
	}
	k := &Keypoints{Count: 5, X: []float32{7}, Visibility: []int64{9}, Texts: [][]byte{{1}}} // of another record
	return k, k.Parse(&e.Features, boxes)
}

func TestParseKeypoints(t *testing.T) {
	xy := func(b *tfrecord.Builder, n int) {
		b.Float(KeyKeypointX, make([]float32, n)...)
		b.Float(KeyKeypointY, make([]float32, n)...)
	}
	for name, c := range map[string]struct {
		boxes int
		fill  func(b *tfrecord.Builder)
		want  string // the points of a box, or the error
	}{
		"none":  {2, func(b *tfrecord.Builder) {}, "0"},
		"empty": {0, func(b *tfrecord.Builder) { xy(b, 0); b.Int64(KeyKeypointNum); b.String(KeyKeypointText) }, "0"},
		"all": {2, func(b *tfrecord.Builder) {
			xy(b, 4)
			b.Int64(KeyKeypointVisibility, 1, 2, 0, 2)
			b.Int64(KeyKeypointNum, 2, 1)
			b.String(KeyKeypointText, "a", "b", "a", "b")
		}, "2"},
		"names of one box": {2, func(b *tfrecord.Builder) { xy(b, 4); b.String(KeyKeypointText, "a", "b") }, "2"},
		"no box":           {0, func(b *tfrecord.Builder) { xy(b, 4) }, "has 4 values and there is no box"},
		"ragged":           {2, func(b *tfrecord.Builder) { xy(b, 5) }, "x has 5 values for 2 boxes: want the same number for each"},
		"y":                {2, func(b *tfrecord.Builder) { b.Float(KeyKeypointX, 1, 2) }, "x has 2 values and image/object/keypoint/y 0: want as many"},
		"visibility":       {2, func(b *tfrecord.Builder) { xy(b, 4); b.Int64(KeyKeypointVisibility, 1, 2) }, "visibility 2: want as many, or none"},
		"only visibility":  {2, func(b *tfrecord.Builder) { b.Int64(KeyKeypointVisibility, 1, 2) }, "x has 0 values and image/object/keypoint/visibility 2"},
		"text":             {2, func(b *tfrecord.Builder) { xy(b, 4); b.String(KeyKeypointText, "a") }, "text 1: want as many, those of one box, or none"},
		"num":              {2, func(b *tfrecord.Builder) { xy(b, 4); b.Int64(KeyKeypointNum, 1) }, "num has 1 values for 2 boxes"},
		"kind":             {2, func(b *tfrecord.Builder) { b.Int64(KeyKeypointX, 1, 2) }, "x is int64: want float"},
	} {
		k, err := parsePoints(t, c.boxes, c.fill)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			continue
		}
		if fmt.Sprint(k.Count) != c.want || len(k.X) != k.Count*c.boxes || len(k.Visibility) != len(k.X) || len(k.Y) != len(k.X) {
			t.Errorf("%s: %+v, want %s", name, k, c.want)
		}
		for i := range c.boxes {
			if names := k.Names(i); len(k.Texts) > 0 && (len(names) != 2 || string(names[1]) != "b") || len(k.Texts) == 0 && names != nil {
				t.Errorf("%s: box %d has %q", name, i, names)
			}
		}
	}
	nan := float32(math.NaN())
	k, err := parsePoints(t, 1, func(b *tfrecord.Builder) {
		b.Float(KeyKeypointX, 0.5, nan, 0)
		b.Float(KeyKeypointY, 0.5, 0, float32(math.Inf(1)))
	})
	if err != nil || k.Stated || !slices.Equal(k.Visibility, []int64{2, 0, 0}) {
		t.Errorf("%+v, %v", k, err)
	}
}

func TestCheckKeypoint(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		x, y float32
		v    int64
		want string
	}{
		{0, 1, 2, ""}, {nan, -5, 0, ""}, {1.0005, 0, 1, ""}, {1.1, 0, 1, "want shares"}, {0, nan, 2, "want shares"}, {0, 0, 3, "visibility 3"}, {0, 0, -1, "visibility -1"},
	} {
		if err := CheckKeypoint(c.x, c.y, c.v); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestMirrorOf(t *testing.T) {
	for names, want := range map[string]string{
		"nose left_eye right_eye left_ear right_ear": "[0 2 1 4 3]",
		"REye LEye": "[]", "RightEye LeftEye Head": "[1 0 2]", "topleft topright bottomright bottomleft": "[1 0 3 2]",
		"L_F_Paw R_F_Paw Nose": "[1 0 2]", "eye.r eye.l": "[1 0]", "LEFT RIGHT": "[1 0]",
		"a b c": "[]", "nose": "[0]", "left_eye nose": "[]", "left_eye right_eye left_eye": "[]", "": "[0]", "bright left right": "[]",
		"left_l right_l left_r right_r": "[1 0 3 2]",
	} {
		list := strings.Split(names, " ")
		if got := fmt.Sprint(MirrorOf(list)); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
		var m Mirrors
		for range 2 {
			var texts [][]byte
			for _, name := range list {
				texts = append(texts, []byte(name))
			}
			if got := fmt.Sprint(m.Of(texts)); got != want {
				t.Errorf("%s: %s, want %s", names, got, want)
			}
			for _, text := range texts {
				clear(text) // the record is gone
			}
		}
	}
	var m Mirrors
	if m.Of(nil) != nil || m.Of([][]byte{[]byte("nose")}) == nil || m.Of(nil) != nil {
		t.Error("without names nothing is known")
	}
}
