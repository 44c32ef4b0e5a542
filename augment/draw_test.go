package augment

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func TestDrawApplyErrors(t *testing.T) {
	src := imagetest.Wave(10, 10, 3)
	var dst Image
	err := Draw{Steps: []Step{HFlip{}, ResizedCrop{X: 5, W: 10, H: 10, Width: 3, Height: 3}}}.Apply(&dst, src, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "step 1: resized_crop: ") {
		t.Errorf("error %v", err)
	}
	err = Draw{Steps: []Step{JPEGArtefacts{Quality: 50}}}.Apply(&dst, src, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "step 0: jpeg: ") {
		t.Errorf("error %v", err)
	}
	if err := (Draw{}).Apply(&dst, &Image{}, nil); err == nil {
		t.Error("an empty image was copied")
	}
}

func TestDrawJSON(t *testing.T) {
	if got := drawJSON(t, Draw{}); got != "[]" {
		t.Errorf("an empty draw is %s", got)
	}
	d := mustParse(t, "random_resized_crop:96|rotate:30|trivial_augment|gaussian_noise").Draw(1, "k", 1, 500, 375)
	var back Draw
	if err := json.Unmarshal([]byte(drawJSON(t, d)), &back); err != nil || !reflect.DeepEqual(d, back) {
		t.Errorf("%v came back as %v (%v)", d, back, err)
	}
	for text, want := range map[string]string{
		`{}`:                        "draw: ",
		`[{"op":"hflip"},{}]`:       "draw: step 1: ",
		`[{"op":"hflp"}]`:           "hflp",
		`[{"op":"hflip","x":1}]`:    "x",
		`[{"op":"hue","factor":1}]`: "factor",
	} {
		if err := json.Unmarshal([]byte(text), &back); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestDrawApplyAllocatesNothing(t *testing.T) {
	d := Draw{Steps: []Step{HFlip{}, Invert{}, CropBox{X: 3, Y: 3, W: 20, H: 20}}}
	src := imagetest.Wave(40, 30, 3)
	var dst Image
	var scratch Scratch
	if n := testing.AllocsPerRun(50, func() {
		if err := d.Apply(&dst, src, &scratch); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDraw(b *testing.B) {
	p := mustParse(b, "random_resized_crop:224,scale=0.3-1|hflip|color_jitter:0.4,0.4,0.4,0.1|rand_augment")
	b.ReportAllocs()
	for b.Loop() {
		p.Draw(1, "daisy/1234.jpg", 2, 500, 375)
	}
}
