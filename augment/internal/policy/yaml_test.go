package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPolicyYAML(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"- hflip", "hflip"},
		{"- hflip:\n- vflip: 0.25", "hflip|vflip:0.25"},
		{"- random_resized_crop: {size: 224, scale: 0.3-1}", "random_resized_crop:224,0.3..1"},
		{"- random_resized_crop:\n    size: 224x160\n    scale: [0.3, 1]\n    antialias: false", "random_resized_crop:224x160,0.3..1,antialias=false"},
		{"- random_resized_crop:224,scale=0.3-1|hflip # text\n- \"vflip:1\"", "random_resized_crop:224,0.3..1|hflip|vflip:1"},
		{"- color_jitter: [0.4, 0.4, 0.4, 0.1]", "color_jitter:0.6..1.4,0.6..1.4,0.6..1.4,0.1"},
		{"- color_jitter: {brightness: [0.5, 1.5]}", "color_jitter:0.5..1.5"},
		{"- affine: {degrees: [-10, 20], translate: [0.1, 0.2], shear: [-5, 5, -1, 2]}", "affine:-10..20,0.1/0.2,shear=5/-1..2"},
		{"- affine: {degrees: 5, shear: [-5, 10]}", "affine:5,shear=-5..10"},
		{"- rotate: {degrees: 10, fill: [255, 128, 0]}\n- rotate: {degrees: 10, fill: \"#ff8000\"}", "rotate:10,fill=ff8000|rotate:10,fill=ff8000"},
		{"- random_crop: {size: 32, padding: [4, 8]}", "random_crop:32,4/8"},
		{"- pad: {padding: [4, 8], fill: 114}\n- perspective: {distortion_scale: 0.3, p: 1}", "pad:4/8,114|perspective:0.3,p=1"},
		{"- iou_crop: {overlap: [0, 0.5, 1], scale: [0.5, 1]}\n- iou_crop: {overlap: 0.3/1}", "iou_crop:0/0.5/1,0.5..1|iou_crop:0.3/1"},
		{"- one_of: [hflip, vflip: 1]", "one_of(hflip|vflip:1)"},
		{"- one_of:\n    p: 0.5\n    ops:\n      - posterize: 4\n      - some_of: {n: 1-2, ops: [invert, equalize]}", "one_of:0.5(posterize:4|some_of:1..2(invert|equalize))"},
		{"- auto_augment: cifar10\n- rand_augment: {n: 3, m: 5}\n- trivial_augment", "auto_augment:cifar10|rand_augment:3,5|trivial_augment"},
	} {
		p, err := ParsePolicyYAML([]byte(c.yaml), "p.yaml")
		if err != nil {
			t.Errorf("%s\n%v", c.yaml, err)
			continue
		}
		if got := p.String(); got != c.want {
			t.Errorf("%s\nis %q, want %q", c.yaml, got, c.want)
		}
	}
}

func TestPolicyYAMLErrors(t *testing.T) {
	for _, c := range []struct {
		yaml   string
		line   int
		column int
		word   string
		reason string
	}{
		{"", 1, 1, "", "want a list"},
		{"hflip: 1", 1, 1, "", "want a list"},
		{"[]", 1, 1, "", "want a list"},
		{"- hflip\n- hflp: 0.5", 2, 3, "hflp", "did you mean hflip?"},
		{"- hflip\n- vflip|hflp", 2, 9, "hflp", "did you mean hflip?"},
		{"- hflip\n- 'vflip|hflp'", 2, 10, "hflp", "did you mean hflip?"},
		{"- hflip: 1.5", 1, 10, "1.5", "p: want a number of 0 to 1"},
		{"- hflip: {q: 1}", 1, 11, "q", "unknown parameter of hflip"},
		{"- hflip: {p: 1, p: 0.5}", 1, 17, "p", "given twice"},
		{"- rotate:\n    degrees: 5\n    fill: [1, 2]", 3, 12, "1", "RRGGBB"},
		{"- rotate:\n    degrees: [1, [2]]", 2, 18, "", "want a number"},
		{"- rotate: {degrees: }", 1, 21, "", "want a value"},
		{"- rotate: ~", 1, 3, "rotate", "degrees is missing"},
		{"- hflip: 1\n  vflip: 1", 2, 3, "vflip", "one operation after each dash"},
		{"- ~", 1, 3, "~", "want an operation"},
		{"- [hflip]", 1, 3, "", "want an operation"},
		{"- one_of: hflip", 1, 3, "one_of", "want the operations"},
		{"- one_of: {p: 1}", 1, 3, "one_of", "want the operations"},
		{"- one_of: {ops: []}", 1, 17, "", "want a list"},
		{"- hflip: {ops: [vflip]}", 1, 11, "ops", "unknown parameter of hflip"},
		{"- some_of: {n: 3, ops: [hflip, vflip]}", 1, 16, "3", "the 2 that are in the group"},
		{"- &a hflip: 1\n- *a", 2, 3, "a", "want an operation"},
		{"- hflip: &a 1\n- vflip: *a", 2, 10, "a", "aliases are not supported"},
	} {
		_, err := ParsePolicyYAML([]byte(c.yaml), "p.yaml")
		var wrong *SpecError
		if !errors.As(err, &wrong) {
			t.Errorf("%s\n%v, want a SpecError", c.yaml, err)
			continue
		}
		if wrong.File != "p.yaml" || wrong.Line != c.line || wrong.Column != c.column || wrong.Word != c.word || !strings.Contains(wrong.Reason, c.reason) {
			t.Errorf("%s\n%+v, want %d:%d, %q, %q", c.yaml, *wrong, c.line, c.column, c.word, c.reason)
		}
	}
	if _, err := ParsePolicyYAML([]byte("- hflip: {"), "p.yaml"); err == nil || !strings.HasPrefix(err.Error(), "p.yaml: ") {
		t.Errorf("broken YAML: %v", err)
	}
	deep := strings.Repeat("[one_of: ", 40) + "[hflip]" + strings.Repeat("]", 40)
	if _, err := ParsePolicyYAML([]byte(deep), "p.yaml"); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Errorf("40 groups in one another: %v", err)
	}
}

func TestLoadPolicy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.YAML")
	if err := os.WriteFile(path, []byte("- hflip\n- rotate: 15\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{path: "hflip|rotate:15", "vflip": "vflip"} {
		p, err := LoadPolicy(arg)
		if err != nil || p.String() != want {
			t.Errorf("%s: %v, %v, want %s", arg, p, err, want)
		}
	}
	if _, err := LoadPolicy(path + "x.yml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	if err := os.WriteFile(path, []byte("#"+strings.Repeat(" ", maxSpec)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPolicy(path); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("too long a file: %v", err)
	}
}

func FuzzParsePolicyYAML(f *testing.F) {
	for _, s := range []string{"- hflip\n- rotate: {degrees: [1, 2]}", "- one_of:\n    p: 0.5\n    ops: [hflip, vflip|invert]", "- affine: [1, 2", "a: &x [*x]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicyYAML(data, "p.yaml")
		if err != nil {
			return
		}
		again, err := ParsePolicy(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q is written %q: %v", data, p, err)
		}
	})
}
