package steps

import (
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func TestStepJSON(t *testing.T) {
	for _, c := range []struct {
		step Step
		json string
	}{
		{HFlip{}, `{"op":"hflip"}`},
		{CropBox{X: -1, Y: 2, W: 3, H: 4}, `{"op":"crop","x":-1,"y":2,"w":3,"h":4}`},
		{CropBox{W: 3, H: 4, Fill: [3]uint8{0, 0, 1}}, `{"op":"crop","x":0,"y":0,"w":3,"h":4,"fill":[0,0,1]}`},
		{ResizedCrop{W: 3, H: 4, Width: 5, Height: 6, Filter: resample.Bicubic, Antialias: true},
			`{"op":"resized_crop","x":0,"y":0,"w":3,"h":4,"width":5,"height":6,"filter":"bicubic","antialias":true}`},
		{ResizeTo{Width: 5, Height: 6, Filter: resample.Area}, `{"op":"resize","width":5,"height":6,"filter":"area","antialias":false}`},
		{Rotate{Angle: 12.5, Filter: resample.Nearest}, `{"op":"rotate","angle":12.5,"filter":"nearest"}`},
		{Affine{Translate: [2]int{1, -2}, Scale: 0.1, Shear: [2]float64{3.5, 0}, Corner: true},
			`{"op":"affine","angle":0,"translate":[1,-2],"scale":0.1,"shear":[3.5,0],"corner":true,"filter":"bilinear"}`},
		{Perspective{Corners: [4][2]int{{1, 2}, {30, 0}, {28, 25}, {-3, 20}}, Fill: [3]uint8{1, 2, 3}},
			`{"op":"perspective","corners":[[1,2],[30,0],[28,25],[-3,20]],"filter":"bilinear","fill":[1,2,3]}`},
		{GaussianNoise{Sigma: 0.1, Seed: 18446744073709551615}, `{"op":"gaussian_noise","mean":0,"sigma":0.1,"seed":18446744073709551615}`},
		{Erase{W: 1, H: 2, Noise: true, Seed: 5}, `{"op":"erase","x":0,"y":0,"w":1,"h":2,"noise":true,"seed":5}`},
		{GaussianBlur{Kernel: [2]int{3, 5}, Sigma: [2]float64{0.1, 2}}, `{"op":"gaussian_blur","kernel":[3,5],"sigma":[0.1,2]}`},
	} {
		got, err := marshalStep(c.step)
		if err != nil || string(got) != c.json {
			t.Errorf("%#v is written as %s, %v; want %s", c.step, got, err, c.json)
		}
		back, err := unmarshalStep([]byte(c.json))
		if err != nil || back != c.step {
			t.Errorf("%s is read as %#v, %v", c.json, back, err)
		}
	}
}

func TestStepJSONOfAll(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range stepSamples {
		seen[c.step.op()] = true
		data, err := marshalStep(c.step)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if back, err := unmarshalStep(data); err != nil || back != Step(c.step) {
			t.Errorf("%s: %s is read as %#v, %v", c.name, data, back, err)
		}
	}
	for op := range StepReaders {
		if !seen[op] {
			t.Errorf("no sample of %s", op)
		}
	}
	if len(seen) != len(StepReaders) {
		t.Errorf("%d ops in the samples, %d can be read", len(seen), len(StepReaders))
	}
}

func TestUnmarshalStepRefuses(t *testing.T) {
	for _, c := range []struct{ json, err string }{
		{``, "step: "},
		{`[]`, "step: "},
		{`{"op":"hflip"} x`, "step: "},
		{`{}`, `step: no "op"`},
		{`{"op":7}`, "step: op: "},
		{`{"op":"flip"}`, `unknown op "flip": want one of affine, autocontrast,`},
		{`{"op":"hflip","p":1}`, "hflip: unknown field p"},
		{`{"op":"hue","Factor":0.1}`, `hue: no "factor"`},
		{`{"op":"hue","factor":0.1,"Factor":0.2}`, "hue: unknown field Factor"},
		{`{"op":"hue"}`, `hue: no "factor"`},
		{`{"op":"hue","factor":null}`, "hue: factor: null is not a value"},
		{`{"op":"hue","factor":"0.1"}`, "hue: factor: "},
		{`{"op":"hue","factor":0.6}`, "hue: factor 0.6: want -0.5 to 0.5"},
		{`{"op":"posterize","bits":1.5}`, "posterize: bits: "},
		{`{"op":"posterize","bits":99999999999999999999}`, "posterize: bits: "},
		{`{"op":"rotate","angle":1,"filter":"linear"}`, `rotate: filter: unknown filter "linear"`},
		{`{"op":"rotate","angle":1,"filter":"area"}`, "rotate: filter area: want nearest"},
		{`{"op":"rotate","angle":1,"filter":"nearest","fill":[1,2]}`, "rotate: fill: 2 values: want 3"},
		{`{"op":"rotate","angle":1,"filter":"nearest","fill":[1,2,256]}`, "rotate: fill: "},
		{`{"op":"rotate","angle":1,"filter":"nearest","fill":[1,2,null]}`, "rotate: fill: null"},
		{`{"op":"rotate","angle":1,"filter":"nearest","fill":"red"}`, "rotate: fill: "},
	} {
		s, err := unmarshalStep([]byte(c.json))
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %#v, error %v, want one that says %q", c.json, s, err, c.err)
		}
	}
	if data, err := marshalStep(Brightness{Factor: 1 / zero}); err == nil {
		t.Errorf("an infinite factor is written as %s", data)
	}
	if data, err := marshalStep(ResizeTo{Filter: 99}); err == nil {
		t.Errorf("a filter that isn't one is written as %s", data)
	}
}

var zero float64

// Whatever the JSON says, a step that is read is written again as the same step
// and can be done, or says why not.
func FuzzUnmarshalStep(f *testing.F) {
	for _, c := range stepSamples {
		data, err := marshalStep(c.step)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(20), uint8(13), true)
	}
	f.Add([]byte(`{"op":"affine","angle":1e5,"translate":[1000000,0],"scale":1e-4,"shear":[89.99,-89.99],"filter":"nearest"}`), uint8(1), uint8(1), false)
	var scratch workspace.Scratch
	var dst bitmap.Image
	f.Fuzz(func(t *testing.T, data []byte, w, h uint8, gray bool) {
		step, err := unmarshalStep(data)
		if err != nil {
			return
		}
		again, err := marshalStep(step)
		if err != nil {
			t.Fatalf("%#v: %v", step, err)
		}
		if back, err := unmarshalStep(again); err != nil || back != step {
			t.Fatalf("%s became %#v, %v", again, back, err)
		}
		channels := 3
		if gray {
			channels = 1
		}
		src := imagetest.Noise(1+int(w), 1+int(h), channels)
		toW, toH := step.size(src.Width, src.Height)
		if toW > 1000 || toH > 1000 {
			return // only slow
		}
		if step.apply(&dst, src, &scratch) == nil && (dst.Width != toW || dst.Height != toH || dst.Channels != channels) {
			t.Fatalf("%s of %dx%d: %dx%dx%d, said to be %dx%d", again, src.Width, src.Height, dst.Width, dst.Height, dst.Channels, toW, toH)
		}
	})
}
