package augment

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// mustParse parses a policy that has to be right.
func mustParse(t testing.TB, spec string) *Policy {
	t.Helper()
	p, err := ParsePolicy(spec)
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return p
}

// drawJSON is what is drawn, as records have it.
func drawJSON(t testing.TB, d Draw) string {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPolicyString(t *testing.T) {
	for spec, want := range map[string]string{
		"hflip":                                  "hflip",
		" hflip : 0.50 ":                         "hflip",
		"hflip:p=0.25":                           "hflip:0.25",
		"vflip:0|vflip:1":                        "vflip:0|vflip:1",
		"random_resized_crop:224,scale=0.08-1":   "random_resized_crop:224",
		"random_resized_crop:224x160,scale=.3-1": "random_resized_crop:224x160,0.3..1",
		"random_resized_crop:224,antialias=false,filter=bicubic,ratio=1": "random_resized_crop:224,ratio=1,filter=bicubic,antialias=false",
		"random_crop:32,4,#Ff8000":                                       "random_crop:32,4,ff8000",
		"random_crop:32,padding=4/8,fill=128":                            "random_crop:32,4/8,128",
		"random_crop:32,fill=255/128/0":                                  "random_crop:32,fill=ff8000",
		"center_crop:size=224,p=0.5":                                     "center_crop:224,p=0.5",
		"pad:4|pad:4/8,fill=#ff8000|pad:padding=0/8":                     "pad:4|pad:4/8,ff8000|pad:0/8",
		"iou_crop|iou_crop:0.5|iou_crop:0.10/1.0,scale=0.5-1,trials=40":  "iou_crop|iou_crop:0.5|iou_crop:0.1/1,0.5..1",
		"perspective|perspective:0.50,nearest,fill=9|perspective:1,p=1":  "perspective|perspective:filter=nearest,fill=9|perspective:1,p=1",
		"resize:256|resize:256x256|resize:300x200":                       "resize:256|resize:256x256|resize:300x200",
		"rotate:15|rotate:-10-20|rotate:-20--10":                         "rotate:15|rotate:-10..20|rotate:-20..-10",
		"rotate:-15..15|rotate:1e1|rotate:+5..1e2":                       "rotate:15|rotate:10|rotate:5..100",
		"rotate:-0":                                                  "rotate:0",
		"affine:0,0.1,0.9-1.1,10":                                    "affine:0,0.1,0.9..1.1,10",
		"affine:0,0.1/0.2,shear=-5..10/3":                            "affine:0,0.1/0.2,shear=-5..10/3",
		"color_jitter:0.4,0.4,0.4,0.1":                               "color_jitter:0.6..1.4,0.6..1.4,0.6..1.4,0.1",
		"color_jitter:hue=0.1":                                       "color_jitter:hue=0.1",
		"brightness:3":                                               "brightness:0..4",
		"posterize:4|posterize:2-4,1":                                "posterize:4|posterize:2..4,1",
		"gaussian_blur:5|gaussian_blur:3/5,sigma=1":                  "gaussian_blur:5|gaussian_blur:3/5,1",
		"random_erasing|random_erasing:value=random,p=1":             "random_erasing|random_erasing:1,value=random",
		"auto_augment:imagenet|auto_augment:svhn":                    "auto_augment|auto_augment:svhn",
		"rand_augment:2,9|rand_augment:3,15,bins=16":                 "rand_augment|rand_augment:3,15,16",
		"trivial_augment:fill=127":                                   "trivial_augment:fill=127",
		"one_of ( hflip\n| vflip )":                                  "one_of(hflip|vflip)",
		"some_of:1-2,0.5(hflip|sequence:0.5(vflip|invert))|equalize": "some_of:1..2,0.5(hflip|sequence:0.5(vflip|invert))|equalize",
	} {
		p := mustParse(t, spec)
		if got := p.String(); got != want {
			t.Errorf("%q is written %q, want %q", spec, got, want)
		}
		again := mustParse(t, p.String())
		for copy := range 20 {
			if a, b := p.Draw(1, "k", copy, 500, 375), again.Draw(1, "k", copy, 500, 375); !reflect.DeepEqual(a, b) {
				t.Errorf("%q draws %v, and %q draws %v", spec, a, p, b)
			}
		}
	}
}

func TestPolicyErrors(t *testing.T) {
	for _, c := range []struct {
		spec   string
		column int
		word   string
		reason string // part of it
	}{
		{"", 1, "", "want the name"},
		{"   ", 4, "", "want the name"},
		{"hflip|", 7, "", "want the name"},
		{"|hflip", 1, "|", "want the name"},
		{"hflip||vflip", 7, "|", "want the name"},
		{"vflip|hflp", 7, "hflp", "did you mean hflip?"},
		{"vflip|sharpen", 7, "sharpen", "did you mean sharpness?"},
		{"erasing", 1, "erasing", "did you mean random_erasing?"},
		{"frobnicate", 1, "frobnicate", "there are: random_resized_crop, "},
		{"hflip:", 7, "", "want a value"},
		{"hflip:,", 7, ",", "want a value"},
		{"hflip:p=", 9, "", "want a value"},
		{"hflip:=1", 7, "", "parameter's name"},
		{"hflip:q=1", 7, "q", "unknown parameter of hflip"},
		{"rotate:15,fil=1", 11, "fil", "did you mean fill?"},
		{"hflip:0.5,0.5", 11, "0.5", "one value too many: hflip takes p"},
		{"rotate:degrees=5,nearest", 18, "nearest", "unnamed value"},
		{"rotate:5,degrees=6", 10, "degrees", "given twice"},
		{"hflip:1.5", 7, "1.5", "p: want a number of 0 to 1"},
		{"hflip:-0.1", 7, "-0.1", "of 0 to 1"},
		{"hflip:nan", 7, "nan", "of 0 to 1"},
		{"hflip:0x1p-1", 7, "0x1p-1", "of 0 to 1"},
		{"hflip:1_0", 7, "1_0", "of 0 to 1"},
		{"rotate:1e999", 8, "1e999", "degrees: want a range"},
		{"rotate:20..10", 8, "20..10", "begins above its end"},
		{"rotate:-15", 8, "-15", "degrees: want a range"},
		{"rotate:10-", 8, "10-", "degrees: want a range"},
		{"rotate", 1, "rotate", "degrees is missing"},
		{"rotate:5,linear", 10, "linear", "did you mean bilinear?"},
		{"rotate:5,lanczos3", 10, "lanczos3", "nearest, bilinear, bicubic"},
		{"rotate:5,expand=yes", 17, "yes", "true, false"},
		{"hue:0.6", 5, "0.6", "of -0.5 to 0.5"},
		{"brightness:-0.1", 12, "-0.1", "brightness: want"},
		{"posterize:4.5", 11, "4.5", "a whole number or range lo..hi of 0 to 8"},
		{"posterize:9", 11, "9", "of 0 to 8"},
		{"gaussian_blur:4", 15, "4", "an odd number of 1 to 255"},
		{"pad:", 5, "", "want a value"},
		{"pad:-3", 5, "-3", "padding: want a whole number of 0 to 65535"},
		{"perspective:1.5", 13, "1.5", "of 0 to 1"},
		{"perspective:filter=area", 20, "area", "nearest, bilinear, bicubic"},
		{"iou_crop:0/2", 10, "0/2", "overlap: want a number of 0 to 1, or several with / between"},
		{"iou_crop:0//1", 10, "0//1", "overlap: want"},
		{"iou_crop:trials=0", 17, "0", "a whole number of 1 to 1000"},
		{"jpeg:0-50", 6, "0-50", "of 1 to 100"},
		{"random_resized_crop:0", 21, "0", "of 1 to 65535"},
		{"random_resized_crop:60000x60000", 21, "60000x60000", "more than"},
		{"random_resized_crop:224x", 21, "224x", "WxH"},
		{"random_resized_crop:224,scale=0-1", 31, "0-1", "scale: want"},
		{"random_crop:32,fill=256", 21, "256", "RRGGBB"},
		{"random_crop:32,fill=ff80", 21, "ff80", "RRGGBB"},
		{"random_crop:32,fill=1/2", 21, "1/2", "RRGGBB"},
		{"auto_augment:imagnet", 14, "imagnet", "did you mean imagenet?"},
		{"rand_augment:2,31", 16, "31", "less than bins"},
		{"rand_augment:bins=9", 1, "rand_augment", "m: want less than bins"},
		{"some_of:3(hflip|vflip)", 9, "3", "the 2 that are in the group"},
		{"some_of(hflip)", 1, "some_of", "n is missing"},
		{"one_of", 1, "one_of", "one_of(hflip|vflip)"},
		{"one_of()", 8, ")", "want the name"},
		{"one_of(hflip", 13, "", ") to close one_of"},
		{"hflip(vflip)", 1, "hflip", "holds no other operations"},
		{"hflip)", 6, ")", "no open ("},
		{"hflip vflip", 7, "vflip", "want | and another"},
		{"one_of(hflip)vflip", 14, "vflip", "want | and another"},
		{"hflip=0.5", 6, "=", "unexpected"},
		{"hflip:0.5:1", 10, ":", "unexpected"},
		{"é|hflp", 1, "é", "unknown operation"},
		{"equalize|é", 10, "é", "unknown operation"},
		{strings.Repeat("one_of(", 20) + "hflip" + strings.Repeat(")", 20), 120, "one_of", "nested"},
		{strings.Repeat("hflip|", 1000) + "vflip", 6001, "vflip", "more than 1000"},
	} {
		_, err := ParsePolicy(c.spec)
		var wrong *SpecError
		if !errors.As(err, &wrong) {
			t.Errorf("%.40q: %v, want a SpecError", c.spec, err)
			continue
		}
		if wrong.Line != 1 || wrong.Column != c.column || wrong.Word != c.word || !strings.Contains(wrong.Reason, c.reason) {
			t.Errorf("%.40q: %+v, want column %d, %q, %q", c.spec, *wrong, c.column, c.word, c.reason)
		}
	}
}

func TestSpecErrorText(t *testing.T) {
	for spec, want := range map[string]string{
		"vflip|hflp":    `augment: "hflp" at character 7: unknown operation; did you mean hflip?`,
		"vflip|\n hflp": `augment: "hflp" in line 2 at character 2: unknown operation; did you mean hflip?`,
		"vflip:":        `augment: the end at character 7: want a value here`,
	} {
		if _, err := ParsePolicy(spec); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", spec, err, want)
		}
	}
}

// TestDrawsAreKnown holds what some draws are. If it fails, seeds have lost
// their meaning: variants would differ from those of earlier versions.
func TestDrawsAreKnown(t *testing.T) {
	const everything = "random_resized_crop:224|random_crop:200,8|center_crop:190|resize:180|hflip|vflip|rotate:10|affine:5,0.1,0.9-1.1,5/5|" +
		"color_jitter:0.4,0.4,0.4,0.1|gamma:0.5-2|one_of(grayscale:1|invert:1|equalize:1)|some_of:2(posterize:2-6,1|solarize:100-200,1|autocontrast:1)|" +
		"sequence:p=0.5(sharpness:0-2,1|gaussian_blur:3)|gaussian_noise|random_erasing:1,value=random|jpeg:30-90"
	for _, c := range []struct {
		spec string
		seed uint64
		key  string
		copy int
		want string
	}{
		{"random_resized_crop:96,scale=0.3-1|hflip:0.5|color_jitter:0.4,0.4,0.4,0.1", 0, "daisy/1.jpg", 1, known0},
		{"auto_augment|auto_augment:cifar10|auto_augment:svhn|rand_augment|trivial_augment", 7, "daisy/1.jpg", 2, known1},
		{everything, 1<<64 - 1, "ß#?", 3, known2},
		{"pad:10/20,114|perspective:p=1|iou_crop:0.1/0.3/0.5|hflip", 4, "daisy/1.jpg", 5, known3},
	} {
		got := drawJSON(t, mustParse(t, c.spec).DrawBoxes(c.seed, c.key, c.copy, 500, 375, []Box{{XMin: 20, YMin: 30, XMax: 200, YMax: 300}, {XMin: 400.5, YMin: 10, XMax: 440, YMax: 50}}))
		if want := strings.ReplaceAll(c.want, "\n", ""); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.spec, got, want)
		}
	}
}

const (
	known0 = `[{"op":"resized_crop","x":178,"y":18,"w":289,"h":273,"width":96,"height":96,"filter":"bilinear","antialias":true},
{"op":"hflip"},
{"op":"contrast","factor":1.2701946370759576},
{"op":"hue","factor":-0.02581859561699716},
{"op":"saturation","factor":0.6085260912143328},
{"op":"brightness","factor":0.8365075353788227}]`
	known1 = `[{"op":"equalize"},
{"op":"rotate","angle":6.666666666666667,"filter":"nearest"},
{"op":"affine","angle":0,"translate":[226,0],"scale":1,"shear":[0,0],"filter":"nearest"},
{"op":"equalize"},
{"op":"solarize","threshold":85},
{"op":"solarize","threshold":178.5},
{"op":"affine","angle":0,"translate":[0,0],"scale":1,"shear":[5.142764557884242,0],"corner":true,"filter":"nearest"},
{"op":"affine","angle":0,"translate":[0,23],"scale":1,"shear":[0,0],"filter":"nearest"}]`
	known2 = `[{"op":"resized_crop","x":100,"y":161,"w":187,"h":205,"width":224,"height":224,"filter":"bilinear","antialias":true},
{"op":"crop","x":13,"y":-1,"w":200,"h":200},
{"op":"crop","x":5,"y":5,"w":190,"h":190},
{"op":"resize","width":180,"height":180,"filter":"bilinear","antialias":true},
{"op":"rotate","angle":-4.849174444395976,"filter":"nearest"},
{"op":"affine","angle":2.2251934735298615,"translate":[-14,14],"scale":1.0784423276662942,"shear":[3.0906337130422497,3.1233731851984317],"filter":"nearest"},
{"op":"contrast","factor":0.6982760111221593},
{"op":"hue","factor":-0.03539953496260109},
{"op":"brightness","factor":1.068659480512911},
{"op":"saturation","factor":1.2099954277596847},
{"op":"gamma","gamma":1.8336203006484735,"gain":1},
{"op":"equalize"},
{"op":"posterize","bits":6},
{"op":"autocontrast"},
{"op":"sharpness","factor":1.871509098104568},
{"op":"gaussian_blur","kernel":[3,3],"sigma":[1.9688608751145986,1.9688608751145986]},
{"op":"gaussian_noise","mean":0,"sigma":0.1,"seed":5536447926446160},
{"op":"erase","x":96,"y":47,"w":83,"h":68,"noise":true,"seed":6423898660568230},
{"op":"jpeg","quality":68}]`
	known3 = `[{"op":"crop","x":-10,"y":-20,"w":520,"h":415,"fill":[114,114,114]},
{"op":"perspective","corners":[[112,101],[414,45],[486,356],[91,318]],"filter":"bilinear"},
{"op":"crop","x":85,"y":55,"w":166,"h":150},
{"op":"hflip"}]`
)

// TestDrawsDependOnTheirArgumentsAlone draws in other orders and from many
// goroutines.
func TestDrawsDependOnTheirArgumentsAlone(t *testing.T) {
	p := mustParse(t, "random_resized_crop:96|color_jitter:0.4,0.4,0.4,0.1|trivial_augment|random_erasing:value=random")
	const n = 300
	draw := func(i int) Draw { return p.Draw(3, fmt.Sprint("k", i/3), i%3, 200+i, 300) }
	want := make([]Draw, n)
	for i := range want {
		want[i] = draw(i)
	}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := n - 1 - worker; i >= 0; i -= 1 + worker {
				if got := draw(i); !reflect.DeepEqual(got, want[i]) {
					t.Errorf("draw %d is %v, and was %v", i, got, want[i])
				}
			}
		})
	}
	wait.Wait()
	seen := map[string]bool{}
	for _, d := range want {
		seen[drawJSON(t, d)] = true
	}
	if len(seen) != n {
		t.Errorf("%d different draws of %d", len(seen), n)
	}
}

func FuzzParsePolicy(f *testing.F) {
	for _, s := range []string{
		"random_resized_crop:224,scale=0.3-1|hflip:0.5|color_jitter:0.4,0.4,0.4,0.1",
		"one_of:p=0.5(posterize:4|some_of:1-2(rotate:-10--5,fill=ff8000|affine:5,0.1/0.2,0.9..1.1,shear=3/-5..5))",
		"rand_augment:2,9,bins=31|auto_augment:svhn|trivial_augment|random_erasing:value=random", "hflip:1e-9|(", "gamma:1e-3-1", "rotate:.", "\xff|é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := ParsePolicy(spec)
		if err != nil {
			var wrong *SpecError
			if !errors.As(err, &wrong) || wrong.Line < 1 || wrong.Column < 1 || wrong.Reason == "" || !strings.Contains(spec, wrong.Word) {
				t.Fatalf("%q: %#v", spec, err)
			}
			return
		}
		again, err := ParsePolicy(p.String())
		if err != nil {
			t.Fatalf("%q is written %q: %v", spec, p, err)
		}
		if again.String() != p.String() {
			t.Fatalf("%q is written %q and then %q", spec, p, again)
		}
		for _, size := range [][2]int{{1, 1}, {500, 375}, {1, 5000}} {
			a, b := p.Draw(1, "k", 1, size[0], size[1]), again.Draw(1, "k", 1, size[0], size[1])
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("%q draws %v, and %q draws %v", spec, a, p, b)
			}
			var back Draw
			if err := json.Unmarshal([]byte(drawJSON(t, a)), &back); err != nil || !reflect.DeepEqual(a, back) {
				t.Fatalf("%q draws %v, read back as %v (%v)", spec, a, back, err)
			}
		}
	})
}
