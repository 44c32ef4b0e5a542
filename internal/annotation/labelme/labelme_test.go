package labelme

import (
	"encoding/json"
	"fmt"
	"image"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
)

func read(t *testing.T, files map[string]string, o annotation.Options) (*annotation.Set, error) {
	t.Helper()
	return Read(t.Context(), annotationtest.Write(t, files), o)
}

func TestOddFiles(t *testing.T) {
	file := func(shapes string) string {
		return `{"version": "5.4.1", "flags": {}, "shapes": [` + shapes + `], "imagePath": "..\\src\\x.png", "imageData": "aGk=", "imageHeight": 30, "imageWidth": 40}`
	}
	shape := func(kind, points string) string {
		return fmt.Sprintf(`{"label": "cat", "points": %s, "group_id": null, "shape_type": %q, "flags": {}}`, points, kind)
	}
	const rectangle = "1.png 40x30; object 1 cat {1 2 3.5 4} -"
	for what, c := range map[string]struct{ json, want string }{
		"a rectangle":             {file(shape("rectangle", "[[1, 2], [3.5, 4]]")), rectangle},
		"other corners":           {file(shape("rectangle", "[[3.5, 2], [1, 4]]")), rectangle},
		"four corners":            {file(shape("rectangle", "[[3.5, 2], [1, 2], [1, 4], [3.5, 4]]")), rectangle},
		"mark and line ends":      {"\ufeff" + strings.ReplaceAll(file(shape("rectangle", "[[1, 2], [3.5, 4]]")), ", ", ",\r\n"), rectangle},
		"a polygon":               {file(shape("polygon", "[[1, 2], [3, 4], [2, 9]]")), "1.png 40x30; object 1 cat {1 2 3 9} 3"},
		"a shape without a type":  {file(`{"label": "cat", "points": [[1, 2], [3, 4], [2, 9]]}`), "1.png 40x30; object 1 cat {1 2 3 9} 3"},
		"a circle":                {file(shape("circle", "[[10, 20], [13, 24]]")), "1.png 40x30; object 1 cat {5 15 15 25} 128"},
		"a turned rectangle":      {file(shape("rotation", "[[2, 0], [4, 2], [2, 4], [0, 2]]")), "1.png 40x30; object 1 cat {0 0 4 4} 4"},
		"another":                 {file(shape("oriented_rectangle", "[[2, 0], [4, 2], [2, 4], [0, 2]]")), "1.png 40x30; object 1 cat {0 0 4 4} 4"},
		"members in another case": {`{"Shapes": 1, "shapes": [{"label": "cat", "points": [[1, 2], [3, 4], [2, 9]], "POINTS": 1, "Label": "dog"}], "SHAPES": 2}`, "1.json 0x0; object 1 cat {1 2 3 9} 3"},
		"members of other types":  {`{"shapes": [], "imagePath": null, "imageWidth": "40", "imageHeight": 1.5, "imageData": null}`, "1.json 0x0"},
		"a label with escapes":    {file(`{"label": "c\u0061t", "shape_type": "p\u006flygon", "points": [[1, 2], [3, 4], [2, 9]]}`), "1.png 40x30; object 1 cat {1 2 3 9} 3"},
		"a label that is none":    {file(`{"label": [1], "points": [[1, 2], [3, 4], [2, 9]]}`), `1.png 40x30; object 1: its label is "[1]": want text`},
		"points that are none":    {file(`{"label": "cat", "points": {"x": 1}}`), `1.png 40x30; object 1: its points are "{\"x\": 1}": want a list`},
		"a point of nothing":      {file(shape("polygon", "[[1, 2], [], [2, 9]]")), `1.png 40x30; object 1: point 2 is "[]": want two numbers, x and y`},
		"not a number":            {file(shape("polygon", "[[1, 2], [NaN, 1], [2, 9]]")), "1.png 40x30; object 1: the box has a coordinate of NaN: want finite numbers"},
		"no shapes":               {file(""), "1.png 40x30"},
		"a point":                 {file(shape("point", "[[1, 2]]")), "1.png 40x30; object 1: a point has no box"},
		"a line":                  {file(shape("linestrip", "[[1, 2], [3, 4]]")), "1.png 40x30; object 1: a linestrip has no box"},
		"a mask":                  {file(shape("mask", "[[1, 2], [3, 4]]")), `1.png 40x30; object 1 cat {1 2 4 5} -; object 1: it has no PNG`},
		"two points":              {file(shape("polygon", "[[1, 2], [3, 4]]")), "1.png 40x30; object 1: it is a polygon with 2 points: want at least three"},
		"a corner":                {file(shape("rectangle", "[[1, 2]]")), "1.png 40x30; object 1: it is a rectangle with 1 points: want two corners"},
		"no radius":               {file(shape("circle", "[[1, 2], [1, 2]]")), "1.png 40x30; object 1: the box is empty: x from 1 to 1, y from 2 to 2"},
		"half a circle":           {file(shape("circle", "[[1, 2]]")), "1.png 40x30; object 1: it is a circle with 1 points: want its centre and a point on it"},
		"an empty box":            {file(shape("rectangle", "[[1, 2], [1, 4]]")), "1.png 40x30; object 1: the box is empty: x from 1 to 1, y from 2 to 4"},
		"points in 3D":            {file(shape("polygon", "[[1, 2, 3], [3, 4, 3], [2, 9, 3]]")), `1.png 40x30; object 1: point 1 is "[1, 2, 3]": want two numbers, x and y`},
		"points that are text":    {file(shape("polygon", `[["1", 2]]`)), "1.png 40x30; object 1: point 1 is \"[\\\"1\\\", 2]\": want two numbers, x and y"},
		"numbers that are large":  {file(shape("polygon", `[[1e999, 2]]`)), "1.png 40x30; object 1: it is a polygon with 1 points: want at least three"},
		"a circle that is large":  {file(shape("circle", `[[-1e308, 2], [1e308, 2]]`)), "1.png 40x30; object 1: the box has a coordinate of -Inf: want finite numbers"},
		"no label":                {file(`{"points": [[1, 2], [3, 4]], "shape_type": "rectangle"}`), "1.png 40x30; object 1: the class has no name"},
		"good after bad":          {file(`1, "x", [], null, ` + shape("rectangle", "[[1, 2], [3, 4]]")), "1.png 40x30; object 5 cat {1 2 3 4} -; object 1: it is \"1\": want a JSON object; object 2: it is \"\\\"x\\\"\": want a JSON object; object 3: it is \"[]\": want a JSON object; object 4: it is \"null\": want a JSON object"},
		"empty":                   {"", `unreadable: it cannot be read: byte 0: "", want a JSON object`},
		"cut":                     {file("")[:50], "unreadable: it cannot be read: byte 48: a string is not closed"},
		"more than one":           {file("") + "{}", `unreadable: it cannot be read: byte 136: "{}", want nothing after the object`},
		"a list":                  {"[]", `unreadable: it cannot be read: byte 0: "[]", want a JSON object`},
		"no list of shapes":       {`{"images": []}`, "unreadable: it has no shapes: not a LabelMe file"},
		"null":                    {`{"shapes": null}`, "unreadable: it has no shapes: not a LabelMe file"},
		"shapes that are no list": {`{"shapes": {}}`, `unreadable: it cannot be read: byte 11: "{}}", want the list of shapes`},
		"two lists":               {`{"shapes": [], "shapes": []}`, `unreadable: it cannot be read: "shapes" occurs twice`},
		"not UTF-8":               {file("\"\xff\""), "unreadable: it is not UTF-8 text"},
		"deep":                    {strings.Repeat("[", 100000), "unreadable: it cannot be read: byte 0: \"" + strings.Repeat("[", 40) + "\"..., want a JSON object"},
		"deep shapes":             {file(strings.Repeat("[", 100000)), "unreadable: it cannot be read: byte 109: lists and objects are nested too deep"},
		"many faults":             {file("0" + strings.Repeat(",0", 5000)), "unreadable: it cannot be read: more than 1000 of its annotations cannot be used; object 1: it is \"0\": want a JSON object"},
	} {
		s, err := read(t, map[string]string{"1.json": c.json}, annotation.Options{Regions: true})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		im := &s.Images[0]
		got := fmt.Sprintf("%s %dx%d", im.Name, im.Width, im.Height)
		if im.Unreadable != "" {
			got = "unreadable: " + im.Unreadable
		}
		for _, o := range im.Objects {
			points := "-"
			if o.Region != nil {
				points = fmt.Sprint(len(o.Region.Polygons[0]) / 2)
				if o.Region.Width != 0 || o.Region.Height != 0 {
					points += fmt.Sprintf(" in %dx%d", o.Region.Width, o.Region.Height)
				}
			}
			got += fmt.Sprintf("; %s %s %v %s", o.Name, s.Classes[o.Class].Name, o.Box, points)
		}
		for _, f := range im.Faults {
			got += "; " + f.Name + ": " + f.Reason
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, c.want)
		}
	}
}

// TestImagesInFiles: the image in a file is not looked at, and does not count as shapes.
// TestUnusedShapes counts, by its type, what objects cover besides their boxes, unless it is asked for.
func TestUnusedShapes(t *testing.T) {
	const text = `{"shapes": [
		{"label": "a", "points": [[1, 2], [3, 4]], "shape_type": "rectangle", "score": 0.5},
		{"label": "a", "points": [[1, 2], [3, 4], [2, 9]], "shape_type": "polygon"},
		{"label": "a", "points": [[1, 2], [3, 4], [2, 9]]},
		{"label": "a", "points": [[1, 2], [3, 2], [2, 2]], "shape_type": "polygon"},
		{"label": "a", "points": [[10, 20], [13, 24]], "shape_type": "circle"},
		{"label": "a", "points": [[2, 0], [4, 2], [2, 4], [0, 2]], "shape_type": "rotation"}]}`
	for regions, want := range map[bool]annotation.Fields{
		true:  {"score": 1},
		false: {"score": 1, "polygon": 2, "circle": 1, "rotation": 1},
	} {
		s, err := read(t, map[string]string{"1.json": text}, annotation.Options{Regions: regions})
		if err != nil || !maps.Equal(s.Unused, want) {
			t.Errorf("regions %v: %v, %v, want %v", regions, err, s.Unused, want)
		}
	}
}

func TestImagesInFiles(t *testing.T) {
	image := strings.Repeat("aGVs", 4<<20+1) // more than shapes may have
	files := map[string]string{
		"1.json": `{"imageData": "` + image + `", "shapes": [{"label": "a", "points": [[1, 2], [3, 4]], "shape_type": "rectangle"}]}`,
		"2.json": `{"shapes": ["` + image + `"]}`,
	}
	s, err := read(t, files, annotation.Options{})
	if err != nil || len(s.Images[0].Objects) != 1 || !strings.Contains(s.Images[1].Unreadable, "the limit is") {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestRandom writes random rectangles and polygons, and compares what is read with them.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		files, want := map[string]string{}, map[string][]string{}
		for i := range r.IntN(30) + 1 {
			var shapes []map[string]any
			name := fmt.Sprintf("%d/%03d", i%3, i)
			for range r.IntN(5) {
				n, kind, label := 2, "rectangle", string(rune('a'+r.IntN(4)))
				if r.IntN(2) == 0 {
					n, kind = 3+r.IntN(9), "polygon"
				}
				points, b := make([][2]float64, n), [4]float64{1e9, 1e9, -1e9, -1e9}
				for j := range points {
					p := [2]float64{r.Float64() * 500, r.Float64() * 500}
					points[j] = p
					b = [4]float64{min(b[0], p[0]), min(b[1], p[1]), max(b[2], p[0]), max(b[3], p[1])}
				}
				shapes = append(shapes, map[string]any{"label": label, "points": points, "shape_type": kind})
				want[name+".jpg"] = append(want[name+".jpg"], fmt.Sprint(label, " ", b))
			}
			text, err := json.Marshal(map[string]any{"shapes": append([]map[string]any{}, shapes...), "imagePath": "x.jpg"})
			if err != nil {
				t.Fatal(err)
			}
			files[name+".json"] = string(text)
		}
		for _, workers := range []int{1, 4} {
			s, err := read(t, files, annotation.Options{Workers: workers})
			if err != nil || len(s.Images) != len(files) {
				t.Fatal(len(s.Images), err)
			}
			for _, im := range s.Images {
				var got []string
				for _, o := range im.Objects {
					got = append(got, fmt.Sprint(s.Classes[o.Class].Name, " ", [4]float64{o.Box.XMin, o.Box.YMin, o.Box.XMax, o.Box.YMax}))
				}
				if im.Unreadable != "" || len(im.Faults) > 0 || fmt.Sprint(got) != fmt.Sprint(want[im.Name]) {
					t.Fatalf("%+v, want %v", im, want[im.Name])
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"shapes": [{"label": "a", "points": [[1, 2], [3, 4]], "shape_type": "rectangle"}, 0], "imagePath": "a.jpg", "imageWidth": 3}`))
	f.Add([]byte(`{"shapes": [{"label": "a", "points": [[1, 2], [3, 4], [9, 0.5e1]], "shape_type": "polygon"}]}`))
	f.Add([]byte(`{"shapes": [{"label": "a", "points": [[1, 2], [3, 3]], "shape_type": "mask", "mask": "` + maskText(image.NewGray(image.Rect(0, 0, 3, 2))) + `", "group_id": 1}], "imageWidth": 9, "imageHeight": 8}`))
	f.Add([]byte("\ufeff" + `{"shapes": [{"label": "a", "points": [[1, 2], [3, 4]], "shape_type": "circle"}, {}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := parser{regions: true}
		im := annotation.Image{Name: "1.json", Source: "1.json"}
		if err := p.parse(&im, data); err != nil {
			return
		}
		for _, o := range im.Objects {
			if err := o.Box.Check(); err != nil || o.Name == "" || !math.IsNaN(o.Area) || o.Region != nil && len(o.Region.Runs) == 0 && len(o.Region.Polygons[0]) < 6 {
				t.Errorf("%+v: %v", o, err)
			}
		}
		p.names.Assign(&annotation.Set{Images: []annotation.Image{im}})
	})
}
