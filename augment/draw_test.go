package augment

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// wave is an image with something in it to see.
func wave(w, h, channels int) *Image {
	var im Image
	im.Reset(w, h, channels)
	for i := range im.Pix {
		im.Pix[i] = uint8(i*7 + i/w*13)
	}
	return &im
}

func TestDrawApply(t *testing.T) {
	steps := []Step{CropBox{X: -2, Y: 3, W: 30, H: 20}, HFlip{}, Brightness{1.5}, ResizeTo{Width: 11, Height: 13, Antialias: true}, Invert{}}
	for n := range len(steps) + 1 {
		src := wave(40, 30, 3)
		before := bytes.Clone(src.Pix)
		want := *src
		for _, s := range steps[:n] {
			var next Image
			if err := s.apply(&next, &want, nil); err != nil {
				t.Fatal(err)
			}
			want = next
		}
		d := Draw{Steps: steps[:n]}
		var scratch Scratch
		for _, sc := range []*Scratch{nil, &scratch, &scratch} {
			var got Image
			if err := d.Apply(&got, src, sc); err != nil {
				t.Fatal(err)
			}
			if got.Width != want.Width || got.Height != want.Height || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%d steps at once differ from one after another", n)
			}
			if &got.Pix[0] == &src.Pix[0] {
				t.Errorf("%d steps: the result shares memory with the source", n)
			}
		}
		if !bytes.Equal(src.Pix, before) {
			t.Errorf("%d steps changed the source", n)
		}
	}
}

func TestDrawApplyErrors(t *testing.T) {
	src := wave(10, 10, 3)
	var dst Image
	err := Draw{Steps: []Step{HFlip{}, ResizedCrop{X: 5, W: 10, H: 10, Width: 3, Height: 3}}}.Apply(&dst, src, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "step 1: resized_crop: ") {
		t.Errorf("error %v", err)
	}
	err = Draw{Steps: []Step{JPEGArtefacts{50}}}.Apply(&dst, src, nil)
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
	src := wave(40, 30, 3)
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
