package preview

import "testing"

func TestOpsText(t *testing.T) {
	for give, want := range map[string]string{
		`[]`:               "",
		`[{"op":"hflip"}]`: "hflip",
		`[{"op":"resized_crop","x":29,"y":25,"w":169,"h":172,"width":160,"height":160,"filter":"bilinear","antialias":true},{"op":"rotate","angle":-2.183230413305509,"filter":"nearest"}]`: "resized crop 169×172 at 29,25 · rotate -2.18",
		`[{"op":"affine","angle":0,"translate":[3,-4],"scale":1.25}]`:                                                                                        "affine angle 0 translate 3,-4 scale 1.25",
		`[{"op":"mixup","lambda":0.25,"partners":[{"key":"b/2.jpg","weight":0.75,"width":9,"height":7,"ops":[{"op":"hflip"}]}]},{"op":"hflip"}]`:             "mixup 25% with b/2.jpg 75% · hflip",
		`[{"op":"mosaic","lambda":0.371,"size":320,"center":[3,4],"partners":[{"key":"b","weight":0.229},{"key":"c","weight":0.4},{"key":"d","weight":0}]}]`: "mosaic 37% with b 23%, c 40%, d 0%",
		`[{"op":"a","partners":[],"lambda":0.5}]`: "a partners  lambda 0.5",
		`not JSON`:                    "not JSON",
		`{"op":"hflip"}`:              `{"op":"hflip"}`,
		`[{"angle":3}]`:               `[{"angle":3}]`,
		`[1]`:                         `[1]`,
		`[{"op":"a","b":{"c":[{}]}}]`: `a {"c":[{}]}`,
	} {
		if got := opsText(give); got != want {
			t.Errorf("opsText(%s) is %q, want %q", give, got, want)
		}
	}
}
