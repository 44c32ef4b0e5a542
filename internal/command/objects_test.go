package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestFiguresOfObjects has three images: of one object, two objects and none.
func TestFiguresOfObjects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	var file []byte
	for i := range 3 {
		var b tfrecord.Builder
		n := []int{1, 2, 0}[i]
		b.Float(objects.KeyXMin, []float32{0, 0.5}[:n]...)
		b.Float(objects.KeyYMin, []float32{0, 0.5}[:n]...)
		b.Float(objects.KeyXMax, []float32{0.25, 1}[:n]...)
		b.Float(objects.KeyYMax, []float32{0.125, 1}[:n]...)
		b.Int64(objects.KeyLabel, []int64{90, 3}[:n]...)
		b.String(objects.KeyText, []string{"cat\x1b[31m", "dog"}[:n]...)
		b.Int64("image/width", 200)
		b.Int64("image/height", 100)
		file = tfrecord.AppendFrame(file, b.Append(nil))
	}
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	for verb, want := range map[string][]string{
		"stats": {
			"3 objects in 3 images, 1 without\n", "an image: 0 to 2, mean 1, median 1  ", "width / height: 2 to 4, mean 3.333, median 4",
			"sizes: small (below 32x32 pixels) 2, 66.67%; medium 1, 33.33%", "90 cat", "2  66.67%  in 2 images",
		},
		"inspect": {"3 objects in 3 images, 1 without\n", "share of the image: 0.03125 to 0.25", "3 dog"},
	} {
		out, err := tfrec(t, verb, path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) || strings.Contains(string(out), "\x1b") {
				t.Errorf("%s lacks %q: %s", verb, w, out)
			}
		}
		out, err = tfrec(t, verb, "--json", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{`"objects":{"images":3,"empty":1,"objects":3,`, `"classes":[{"id":3,"name":"dog","objects":1,"images":1},{"id":90,`, `"sizes":{"small":2,"medium":1,"large":0}`} {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s --json lacks %s: %s", verb, w, out)
			}
		}
	}
	out, err := tfrec(t, "verify", "--deep", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "; 3 boxes, 0 masks\n") {
		t.Errorf("%s", out)
	}
}

// TestDriftOfObjects compares a set with itself, with one of other objects, and with one without
// any.
func TestDriftOfObjects(t *testing.T) {
	write := func(name string, right float32, ids ...int64) string {
		path := filepath.Join(t.TempDir(), name)
		var file []byte
		for range 4 {
			var b tfrecord.Builder
			b.Int64("image/width", 100)
			b.Int64("image/height", 100)
			if len(ids) > 0 {
				sides := func(x float32) []float32 { return slices.Repeat([]float32{x}, len(ids)) }
				b.Float(objects.KeyXMin, sides(0)...)
				b.Float(objects.KeyYMin, sides(0)...)
				b.Float(objects.KeyXMax, sides(right)...)
				b.Float(objects.KeyYMax, sides(0.25)...)
				b.Int64(objects.KeyLabel, ids...)
			}
			file = tfrecord.AppendFrame(file, b.Append(nil))
		}
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, none := write("a", 0.5, 1, 1, 2, 2), write("b", 1, 1, 2), write("none", 1)
	skewed := write("skewed", 0.5, 1, 1, 1, 2)
	for _, c := range []struct {
		a, b string
		want []string
		json []string
	}{
		{a, a, []string{"objects: 16 in 4 images, 0% without, drift 0\n", "objects of an image  0", "classes: 0% of the objects"}, []string{`"in":"both","score":0,`}},
		{a, b, []string{"objects: 16 -> 8 in 4 images, 0% without, drift 1\n", "width / height       1      2 -> 4 ", "small 0%, medium 100%, large 0%; drift 0", "classes: 0% of the objects"}, []string{`"images":[4,4],"objects":[16,8],"in":"both","score":1,`}},
		{a, skewed, []string{"drift 0.25\n", "classes: 25% of the objects would have to change theirs\n", "1  50 -> 75%\n"}, []string{`"score":0.25,"empty":[0,0],`, `"distance":0.25,"shares":[{"id":1,"shares":[0.5,0.75]}`}},
		{a, none, []string{"objects: 16 -> 0 in 4 -> 0 images, 0% without, only in A\n"}, []string{`"in":"a","score":1,"empty":[0,0]}`}},
		{none, none, nil, nil},
	} {
		text, err := tfrec(t, "stats", "--compare", c.a, c.b).Output()
		if err != nil {
			t.Fatal(err)
		}
		data, err := tfrec(t, "stats", "--json", "--compare", c.a, c.b).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(string(text), w) {
				t.Errorf("no %q: %s", w, text)
			}
		}
		for _, w := range c.json {
			if !strings.Contains(string(data), w) {
				t.Errorf("no %s: %s", w, data)
			}
		}
		if c.want == nil && (strings.Contains(string(text), "objects") || strings.Contains(string(data), `"objects":`)) {
			t.Errorf("objects of sets without any: %s %s", text, data)
		}
	}
}
