package where

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// boxed are the features of records with boxes.
var boxed = slices.Concat(known, []Feature{
	{Key: objects.KeyXMin, Kind: tfrecord.KindFloat, List: true},
	{Key: objects.KeyYMin, Kind: tfrecord.KindFloat, List: true},
	{Key: objects.KeyXMax, Kind: tfrecord.KindFloat, List: true},
	{Key: objects.KeyYMax, Kind: tfrecord.KindFloat, List: true},
	{Key: objects.KeyLabel, Kind: tfrecord.KindInt64, List: true},
	{Key: objects.KeyText, Kind: tfrecord.KindBytes, List: true},
})

// sides builds boxes.
func sides(b *tfrecord.Builder, list ...[4]float32) {
	for k, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
		var values []float32
		for _, box := range list {
			values = append(values, box[k])
		}
		b.Float(key, values...)
	}
}

func twoBoxes(b *tfrecord.Builder) {
	sides(b, [4]float32{0, 0.25, 0.5, 0.75}, [4]float32{0.5, 0.5, 1, 0.625})
	b.Int64(objects.KeyLabel, 3, 9)
	b.String(objects.KeyText, "dog", "a cat")
	b.Int64(objects.KeyCrowd, 0, 1)
	b.Int64("image/width", 500)
}

func exampleOf(t testing.TB, build func(*tfrecord.Builder)) *tfrecord.Example {
	t.Helper()
	var b tfrecord.Builder
	build(&b)
	e := new(tfrecord.Example)
	if err := e.Parse(b.Append(nil)); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestBoxes(t *testing.T) {
	e := exampleOf(t, twoBoxes)
	for expression, want := range map[string]bool{
		`any(boxes, .text == "dog" && .area > 0.1)`:                 true,
		`any(boxes, .text == "a cat" && .area > 0.1)`:               false,
		`any(boxes, .label == 9 && .width == 0.5 && #.height < .2)`: true,
		`all(boxes, .xmax > .xmin && .ymax - .ymin == .height)`:     true,
		`none(boxes, .difficult or .truncated)`:                     true,
		`one(boxes, .crowd)`:                                        true,
		`count(boxes, .xmin >= 0.5) == 1`:                           true,
		`len(boxes) == 2 && width == 500`:                           true,
		`len(filter(boxes, .label in [3, 4])) == 1`:                 true,
		`boxes[0].text == "dog" && boxes[1].label == 9`:             true,
		`"dog" in map(boxes, .text)`:                                true,
		`max(map(boxes, .area)) == 0.25`:                            true,
		`sum(boxes, .area) == 0.3125`:                               true,
		`let boxes = 3; boxes > 2`:                                  true,
		`let b = boxes; any(b, .label == 3) && len(b) == 2`:         true,
	} {
		x, err := Compile(expression, boxed)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		for range 2 {
			if got, err := x.Match(context.Background(), &e.Features); err != nil || got != want {
				t.Errorf("%s: %v, %v; want %v", expression, got, err, want)
			}
		}
	}
	// A feature of the name comes first.
	x, err := Compile(`boxes == 7`, append(boxed, Feature{Key: "my/boxes", Kind: tfrecord.KindInt64}))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Match(context.Background(), &exampleOf(t, func(b *tfrecord.Builder) { b.Int64("my/boxes", 7) }).Features); !got || err != nil {
		t.Error(got, err)
	}
}

func TestBoxesErrors(t *testing.T) {
	for expression, want := range map[string]string{
		`any(boxes, .label == "dog")`: `mismatched types int64 and string); a box has the floats xmin, ymin, xmax, ymax, width, height and area, as shares of the image, the int label, the string text, and`,
		`any(boxes, .crowd == 1)`:     `mismatched types bool and int); a box has`,
		`any(boxes, .lable == 1)`:     `type box has no field lable; a box has`,
		`boxes > 3`:                   `mismatched types []box and int); a box has`,
		`any(boxes, # > 3)`:           `mismatched types box and int); a box has`,
		`has("boxes")`:                `no feature "boxes"`,
	} {
		_, err := Compile(expression, boxed)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
	if _, err := Compile(`len(boxes) > 1`, known); err == nil || !strings.Contains(err.Error(), `no feature "boxes", and no boxes: the records have no image/object/bbox/xmin`) {
		t.Error(err)
	}
}

// A record that lacks what is asked of its boxes does not match, one without boxes has none, and
// lists that do not fit are errors.
func TestBoxesOfOtherRecords(t *testing.T) {
	bare := func(b *tfrecord.Builder) { sides(b, [4]float32{0, 0, 1, 1}) }
	for _, c := range []struct {
		expression string
		build      func(*tfrecord.Builder)
		want       bool
		err        string
	}{
		{`len(boxes) == 0`, func(b *tfrecord.Builder) { b.Int64("image/width", 1) }, true, ""},
		{`all(boxes, .label == 3)`, func(b *tfrecord.Builder) { sides(b) }, true, ""},
		{`any(boxes, .area == 1 && !.crowd)`, bare, true, ""},
		{`any(boxes, .label == 3)`, bare, false, "lacks a value that the expression needs: \"image/object/class/label\""},
		{`boxes[0].area > 0`, bare, true, ""},
		{`boxes[0].area > 0`, func(b *tfrecord.Builder) { sides(b) }, false, "lacks a value that the expression needs: column 6 of the expression: index out of range"},
		{`f["object/label"][3] == 1`, func(b *tfrecord.Builder) { b.Int64("object/label", 1) }, false, "column 18 of the expression: index out of range"},
		{`boxes[-2].area > 0`, bare, false, "index out of range"},
		{`any(boxes, .text == "x")`, bare, false, "\"image/object/class/text\""},
		{`any(boxes, .area > 0)`, func(b *tfrecord.Builder) { bare(b); b.Int64(objects.KeyCrowd, 1, 2) }, false, "image/object/is_crowd has 2 values for 1 boxes"},
	} {
		x, err := Compile(c.expression, boxed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Match(context.Background(), &exampleOf(t, c.build).Features)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v; want %v, %s", c.expression, got, err, c.want, c.err)
		}
		if missing := strings.Contains(c.err, "image/object/class") || strings.Contains(c.err, "out of range"); missing != errors.Is(err, ErrMissing) {
			t.Errorf("%s: %v: missing is %v", c.expression, err, missing)
		}
	}
}

// One machine serves records of any number of boxes.
func TestBoxesAgainstAModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		least, label := rnd.Float64(), rnd.Int64N(4)
		x, err := Compile(fmt.Sprintf(`count(boxes, .area > %v && .label == %d) > 1`, least, label), boxed)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			var list [][4]float32
			var labels []int64
			n := 0
			for range rnd.IntN(9) {
				x, y := rnd.Float32(), rnd.Float32()
				list, labels = append(list, [4]float32{0, 0, x, y}), append(labels, rnd.Int64N(4))
				if float64(x)*float64(y) > least && labels[len(labels)-1] == label {
					n++
				}
			}
			e := exampleOf(t, func(b *tfrecord.Builder) { sides(b, list...); b.Int64(objects.KeyLabel, labels...) })
			if got, err := x.Match(context.Background(), &e.Features); err != nil || got != (n > 1) {
				t.Fatalf("%v %v: %v, %v", list, labels, got, err)
			}
		}
	}
}
