package labelme

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/region"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// maskText is a mask as LabelMe writes it.
func maskText(im image.Image) string {
	return base64.StdEncoding.EncodeToString(testpng.Encode(im))
}

// TestGroups writes random shapes, some of them in groups, and compares the objects with a model:
// those of one label and group are one object, whose pixels are those of all of its shapes.
func TestGroups(t *testing.T) {
	r := torture.Rand(t)
	const w, h = 23, 17
	type object struct {
		label   string
		box     annotation.Box
		drawn   []uint8
		outline bool
	}
	for range 200 {
		var shapes []map[string]any
		var want []*object
		groups := map[string]*object{}
		for range r.IntN(8) {
			label := string(rune('a' + r.IntN(2)))
			shape := map[string]any{"label": label, "group_id": nil}
			box := annotation.Box{XMin: float64(r.IntN(w)), YMin: float64(r.IntN(h))}
			box.XMax, box.YMax = box.XMin+1+float64(r.IntN(w-int(box.XMin))), box.YMin+1+float64(r.IntN(h-int(box.YMin)))
			drawn, outline := make([]uint8, w*h), true
			corners := []float64{box.XMin, box.YMin, box.XMax, box.YMin, box.XMax, box.YMax, box.XMin, box.YMax}
			switch r.IntN(3) {
			case 0:
				outline = false
				shape["shape_type"], shape["points"] = "rectangle", [][]float64{corners[:2], corners[4:6]}
			case 1:
				corners = corners[:6] // a triangle
				shape["shape_type"], shape["points"] = "polygon", [][]float64{corners[:2], corners[2:4], corners[4:6]}
			case 2:
				im := image.NewGray(image.Rect(0, 0, int(box.XMax-box.XMin), int(box.YMax-box.YMin)))
				for i := range im.Pix {
					if im.Pix[i] = uint8(r.IntN(3) * 100); im.Pix[i] > 0 {
						drawn[(int(box.YMin)+i/im.Stride)*w+int(box.XMin)+i%im.Stride] = 1
					}
				}
				shape["shape_type"], shape["mask"] = "mask", maskText(im)
				shape["points"] = [][]float64{{box.XMin, box.YMin}, {box.XMax - 1, box.YMax - 1}}
			}
			if shape["mask"] == nil {
				if err := region.Fill(drawn, w, h, &annotation.Region{Polygons: [][]float64{corners}}); err != nil {
					t.Fatal(err)
				}
			}
			key := ""
			if r.IntN(3) > 0 {
				id := r.IntN(3)
				shape["group_id"], key = id, fmt.Sprint(label, id)
			}
			o := groups[key]
			if o == nil || key == "" {
				o = &object{label: label, box: box, drawn: make([]uint8, w*h)}
				want, groups[key] = append(want, o), o
			}
			o.box, o.outline = o.box.Union(box), o.outline || outline
			for i, v := range drawn {
				o.drawn[i] |= v
			}
			shapes = append(shapes, shape)
		}
		text, err := json.Marshal(map[string]any{"shapes": append([]map[string]any{}, shapes...), "imageWidth": w, "imageHeight": h})
		if err != nil {
			t.Fatal(err)
		}
		for _, regions := range []bool{true, false} {
			s, err := read(t, map[string]string{"1.json": string(text)}, annotation.Options{Regions: regions})
			if err != nil || len(s.Images[0].Faults) > 0 || len(s.Images[0].Objects) != len(want) {
				t.Fatalf("%s: %+v, %v; want %d objects", text, s, err, len(want))
			}
			for i, o := range s.Images[0].Objects {
				m := want[i]
				if s.Classes[o.Class].Name != m.label || o.Box != m.box || (o.Region != nil) != (m.outline && regions) {
					t.Fatalf("%s: object %d is %+v, want %+v", text, i, o, m)
				}
				if o.Region == nil {
					continue
				}
				got := make([]uint8, w*h)
				if err := region.Fill(got, w, h, o.Region); err != nil || !bytes.Equal(got, m.drawn) {
					t.Fatalf("%s: object %d: %v\n%v, want\n%v", text, i, err, got, m.drawn)
				}
			}
		}
	}
}

// TestBrokenMasks: a mask that cannot be used is a fault, and its box an object.
func TestBrokenMasks(t *testing.T) {
	gray := maskText(image.NewGray(image.Rect(0, 0, 3, 2)))
	deep := maskText(image.NewGray16(image.Rect(0, 0, 3, 2)))
	colours := maskText(image.NewNRGBA(image.Rect(0, 0, 3, 2)))
	palette := maskText(image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White}))
	const size = `"imageWidth": 40, "imageHeight": 30, `
	for what, c := range map[string]struct{ size, points, mask, want string }{
		"whole":          {size, "[[1, 2], [3, 3]]", `"` + gray + `"`, ""},
		"with fractions": {size, "[[1.7, 2.2], [3.9, 3.5]]", `"` + gray + `"`, ""},
		"16 bits":        {size, "[[1, 2], [3, 3]]", `"` + deep + `"`, ""},
		"a palette":      {size, "[[1, 2], [3, 3]]", `"` + palette + `"`, ""},
		"escapes":        {size, "[[1, 2], [3, 3]]", `"` + strings.ReplaceAll(gray, "/", `\/`) + `\n"`, ""},
		"no PNG":         {size, "[[1, 2], [3, 3]]", "null", `its PNG is "null": want text`},
		"no base64":      {size, "[[1, 2], [3, 3]]", `"!"`, "its PNG is not in base64"},
		"no image":       {size, "[[1, 2], [3, 3]]", `"aGVsbG8="`, "it cannot be read as a PNG"},
		"cut short":      {size, "[[1, 2], [3, 3]]", `"` + gray[:60] + `"`, "it cannot be read as a PNG"},
		"another size":   {size, "[[1, 2], [3, 4]]", `"` + gray + `"`, "its PNG has 3 x 2 pixels, and its points 3 x 3"},
		"colours":        {size, "[[1, 2], [3, 3]]", `"` + colours + `"`, "its PNG has colours: want a grayscale one"},
		"outside":        {size, "[[38, 2], [40, 3]]", `"` + gray + `"`, "its pixels are from (38,2) to (40,3), in an image of 40 x 30"},
		"far outside":    {size, "[[-1e300, 2], [1e300, 3]]", `"` + gray + `"`, "its pixels are from"},
		"no size":        {"", "[[1, 2], [3, 3]]", `"` + gray + `"`, "the file states an image of 0 x 0 pixels"},
		"a bomb":         {`"imageWidth": 60000, "imageHeight": 60000, `, "[[1, 2], [59000, 59000]]", `"` + gray + `"`, "it covers 59000 x 58999 pixels: the limit is"},
		"too large":      {`"imageWidth": 1000000, "imageHeight": 1000000, `, "[[1, 2], [3, 3]]", `"` + gray + `"`, "the file states an image of 1000000 x 1000000"},
	} {
		text := `{` + c.size + `"shapes": [{"label": "cat", "shape_type": "mask", "points": ` + c.points + `, "mask": ` + c.mask + `}]}`
		for _, regions := range []bool{true, false} {
			s, err := read(t, map[string]string{"1.json": text}, annotation.Options{Regions: regions})
			if err != nil || len(s.Images[0].Objects) != 1 {
				t.Fatalf("%s: %+v, %v", what, s, err)
			}
			im := &s.Images[0]
			switch o := &im.Objects[0]; {
			case !regions || c.want == "":
				if len(im.Faults) > 0 || (o.Region != nil) != regions {
					t.Errorf("%s: %+v", what, im)
				}
			case len(im.Faults) != 1 || im.Faults[0].Part != annotation.PartMask || im.Faults[0].Name != "object 1" || !strings.HasPrefix(im.Faults[0].Reason, c.want) || o.Region != nil || !o.NoMask:
				t.Errorf("%s: %+v, want %s", what, im, c.want)
			}
		}
	}
}
