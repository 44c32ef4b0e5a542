package voc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
)

// write writes files below a new directory.
const good = `<annotation><folder>x</folder><filename>1.jpg</filename><size><width>40</width><height>30</height><depth>3</depth></size>
<object><name>cat</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult>
<bndbox><xmin>1</xmin><ymin>2.5</ymin><xmax>11</xmax><ymax>12</ymax></bndbox>
<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></part></object></annotation>
`

// text says what was read of an image, in a line.
func text(s *annotation.Set, im *annotation.Image) string {
	if im.Unreadable != "" {
		return "unreadable: " + im.Unreadable
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %dx%d", im.Name, im.Width, im.Height)
	for _, o := range im.Objects {
		fmt.Fprintf(&b, "; %s %s %v %q %d %d", o.Name, s.Classes[o.Class].Name, o.Box, o.View, o.Truncated, o.Difficult)
	}
	for _, f := range im.Faults {
		fmt.Fprintf(&b, "; %s: %s", f.Name, f.Reason)
	}
	return b.String()
}

func TestOddFiles(t *testing.T) {
	const whole = `1.jpg 40x30; object 1 cat {1 2.5 11 12} "Left" 1 0`
	object := func(fields string) string { return "<annotation><object>" + fields + "</object></annotation>" }
	box := "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>"
	for what, c := range map[string]struct{ xml, want string }{
		"good":                    {good, whole},
		"byte order mark":         {"\ufeff" + good, whole},
		"Windows line ends":       {strings.ReplaceAll(good, "\n", "\r\n"), whole},
		"declaration":             {"\ufeff<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n" + good, whole},
		"comments":                {"<!-- a -->" + strings.ReplaceAll(good, ">cat", ">c<!-- b -->at") + "<!-- c -->", whole},
		"ASCII":                   {`<?xml version="1.0" encoding="US-ASCII"?>` + good, whole},
		"Latin-1":                 {`<?xml version="1.0" encoding="ISO-8859-1"?>` + strings.ReplaceAll(good, ">cat", ">\xe4"), strings.ReplaceAll(whole, " cat", " ä")},
		"another encoding":        {`<?xml version="1.0" encoding="windows-1252"?>` + good, `unreadable: it cannot be read as XML: xml: opening charset "windows-1252": the encoding "windows-1252" is not supported: save it as UTF-8`},
		"UTF-16":                  {"\xff\xfe<\x00a\x00>\x00", "unreadable: it is UTF-16: save it as UTF-8"},
		"UTF-16, the other order": {"\xfe\xff\x00<\x00a", "unreadable: it is UTF-16: save it as UTF-8"},
		"not UTF-8":               {strings.ReplaceAll(good, ">cat", ">\xe4"), "unreadable: it cannot be read as XML: XML syntax error on line 2: invalid UTF-8"},
		"escapes":                 {object("<name> o&#39;val&amp;ring\n</name>" + box), `1.xml 0x0; object 1 o'val&ring {1 2 3 4} "" 0 0`},
		"no objects":              {"<annotation/>", "1.xml 0x0"},
		"empty":                   {"", "unreadable: it has no XML element"},
		"text":                    {"hello", "unreadable: it has no XML element"},
		"another root":            {"<html/>", "unreadable: it is not an annotation: the root element is <html>"},
		"two roots":               {good + good, "unreadable: it has a second root element"},
		"cut":                     {good[:len(good)/2], "unreadable: it cannot be read as XML: XML syntax error on line 2: unexpected EOF"},
		"long names":              {"<annotation><" + strings.Repeat("a", 1<<20) + ">", "unreadable: it cannot be read as XML: XML syntax error on line 1: unexpected EOF"},
		"long names that differ":  {"<annotation></" + strings.Repeat("ä", 1000) + ">", "unreadable: it cannot be read as XML: XML syntax error on line 1: element <annotation> closed by </" + strings.Repeat("ä", 106) + "..."},
		"DOCTYPE":                 {"<!DOCTYPE annotation>" + good, "unreadable: it has a DOCTYPE, which may define entities: remove it"},
		"bomb":                    {`<!DOCTYPE a [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]>` + object("<name>&b;</name>"+box), "unreadable: it has a DOCTYPE, which may define entities: remove it"},
		"entity":                  {object("<name>&b;</name>" + box), "unreadable: it cannot be read as XML: XML syntax error on line 1: invalid character entity &b;"},
		"deep":                    {"<annotation>" + strings.Repeat("<object>", 100), "unreadable: elements are nested more than 64 deep"},
		"no name":                 {object(box), "1.xml 0x0; object 1: the class has no name"},
		"long name":               {object("<name>" + strings.Repeat("a", 2000) + "</name>" + box), "1.xml 0x0; object 1: the name of the class has 2000 bytes: the limit is 1024"},
		"longer name":             {object("<name>" + strings.Repeat("a", 20000) + "</name>" + box), "1.xml 0x0; object 1: its <name> has 4096 bytes or more"},
		"no box":                  {object("<name>a</name>"), "1.xml 0x0; object 1: it has no <bndbox>"},
		"half a box":              {object("<name>a</name><bndbox><xmin>1</xmin></bndbox>"), "1.xml 0x0; object 1: its <bndbox> lacks one of <xmin>, <ymin>, <xmax> and <ymax>"},
		"two boxes":               {object("<name>a</name>" + box + box), "1.xml 0x0; object 1: it has more than one <xmin>"},
		"empty box":               {object("<name>a</name>" + strings.ReplaceAll(box, "<xmax>3", "<xmax>1")), "1.xml 0x0; object 1: the box is empty: x from 1 to 1, y from 2 to 4"},
		"box of a pixel":          {object("<name>a</name>" + strings.ReplaceAll(strings.ReplaceAll(box, "<xmax>3", "<xmax>2"), "<ymax>4", "<ymax>3")), `1.xml 0x0; object 1 a {1 2 2 3} "" 0 0`},
		"not finite":              {object("<name>a</name>" + strings.ReplaceAll(box, "<xmax>3", "<xmax>nan")), "1.xml 0x0; object 1: the box has a coordinate of NaN: want finite numbers"},
		"too large":               {object("<name>a</name>" + strings.ReplaceAll(box, "<xmax>3", "<xmax>1e999")), "1.xml 0x0; object 1: the box has a coordinate of +Inf: want finite numbers"},
		"not a number":            {object("<name>a</name>" + strings.ReplaceAll(box, "<xmax>3", "<xmax>three")), `1.xml 0x0; object 1: its <xmax> is "three": want a number`},
		"no number":               {object("<name>a</name>" + strings.ReplaceAll(box, "<xmax>3", "<xmax>")), `1.xml 0x0; object 1: its <xmax> is "": want a number`},
		"unspecified":             {object("<name>a</name><pose>Unspecified</pose><truncated>Unspecified</truncated><difficult>true</difficult>" + box), `1.xml 0x0; object 1 a {1 2 3 4} "Unspecified" 0 1`},
		"flags above 1":           {object("<name>a</name><truncated>0.3</truncated><difficult>2</difficult>" + box), `1.xml 0x0; object 1 a {1 2 3 4} "" 1 1`},
		"flags below 0":           {object("<name>a</name><truncated>-1</truncated><difficult>-1</difficult>" + box), `1.xml 0x0; object 1 a {1 2 3 4} "" 0 0`},
		"fields twice":            {object("<name>a</name><pose>Left</pose><pose>Rear</pose><truncated>1</truncated><truncated/><difficult/><difficult>1</difficult>" + box), `1.xml 0x0; object 1 a {1 2 3 4} "Left" 1 0`},
		"names twice":             {object("<name>a</name><name>b</name>" + box), "1.xml 0x0; object 1: it has more than one <name>"},
		"not a flag":              {object("<name>a</name><difficult>very</difficult>" + box), `1.xml 0x0; object 1: its <difficult> is "very": want 0 or 1`},
		"good after bad":          {"<annotation><object/><object><name>a</name>" + box + "</object></annotation>", `1.xml 0x0; object 2 a {1 2 3 4} "" 0 0; object 1: it has no <bndbox>`},
		"object in another":       {object("<name>a</name>" + box + "<object><name>b</name>" + box + "</object>"), `1.xml 0x0; object 1 a {1 2 3 4} "" 0 0`},
		"box outside of object":   {"<annotation>" + box + "<name>a</name></annotation>", "1.xml 0x0"},
		"many faults":             {"<annotation>" + strings.Repeat("<object/>", 5000) + "</annotation>", "unreadable: more than 1000 of its annotations cannot be used; object 1: it has no <bndbox>"},
		"size that is not a size": {"<annotation><size><width>-4</width><height>1e300</height></size></annotation>", "1.xml 0x0"},
		"file name with a path":   {"<annotation><filename>C:\\a b\\x.PNG</filename></annotation>", "1.PNG 0x0"},
		"file name without":       {"<annotation><filename>1</filename></annotation>", "1.xml 0x0"},
	} {
		dir := annotationtest.Write(t, map[string]string{"1.xml": c.xml})
		s, err := Read(t.Context(), dir, annotation.Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := text(s, &s.Images[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, c.want)
		}
	}
}

// TestRandom writes random sets, and compares what is read with what was written, for some numbers
// of workers.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	classes := []string{"10", "2", "Zebra", "cat", "dog", "ä"} // sorted as bytes
	for range 20 {
		want := &annotation.Set{Format: "voc"}
		files, used := map[string]string{"notes.txt": "x", ".hidden/9.xml": "x", "._1.xml": "x"}, map[int]bool{}
		for i := range r.IntN(40) + 1 {
			name := fmt.Sprintf("%c/%03d.xml", 'a'+rune(i/10), i)
			im := annotation.Image{Name: strings.Replace(name, "xml", "jpg", 1), Source: name, Width: r.IntN(900) + 1, Height: r.IntN(900) + 1}
			xml := fmt.Sprintf("<annotation><filename>x.jpg</filename><size><width>%d</width><height>%d</height></size>", im.Width, im.Height)
			for n := range r.IntN(4) {
				class := r.IntN(len(classes))
				used[class] = true
				x, y := float64(r.IntN(4000))/4, r.Float64()*500
				o := annotation.Object{Name: fmt.Sprintf("object %d", n+1), Class: int32(class), Box: annotation.Box{XMin: x, YMin: y, XMax: x + r.Float64() + 0.01, YMax: y + 7},
					Truncated: int8(r.IntN(2)), Difficult: int8(r.IntN(2)), View: []string{"", "Left", "Rear"}[r.IntN(3)]}
				number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
				parts := []string{
					"<name>" + classes[class] + "</name>", "<pose>" + o.View + "</pose>", fmt.Sprintf("<truncated>%d</truncated>\n", o.Truncated), fmt.Sprintf("<difficult> %d</difficult>", o.Difficult),
					"<bndbox><ymax>" + number(o.Box.YMax) + "</ymax><xmin>" + number(o.Box.XMin) + "</xmin>\n<ymin>" + number(o.Box.YMin) + "</ymin><xmax> " + number(o.Box.XMax) + "</xmax></bndbox>",
					"<part><name>tail</name></part>", "<occluded>0</occluded>", "<actions><run>0</run></actions>",
				}
				unused := annotation.Fields{"part": 1}
				if r.IntN(2) == 0 {
					unused["attributes"] = 1
					parts = append(parts, "<attributes><attribute><name>colour</name><value>red</value></attribute></attributes>")
				}
				if r.IntN(2) == 0 {
					unused["actions"] = 1
					parts[len(parts)-1] += "<actions><run>0</run><walk>1</walk></actions>"
				}
				if want.Unused == nil {
					want.Unused = annotation.Fields{}
				}
				want.Unused.Merge(unused)
				r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				xml += "<object>" + strings.Join(parts, "\n") + "</object>"
				im.Objects = append(im.Objects, o)
			}
			files[name] = xml + "</annotation>"
			want.Images = append(want.Images, im)
		}
		index := map[int]int32{}
		for i, name := range classes {
			if used[i] {
				index[i] = int32(len(want.Classes))
				want.Classes = append(want.Classes, annotation.Class{ID: int64(len(want.Classes)) + 1, Name: name})
			}
		}
		if want.Classes == nil {
			want.Classes = []annotation.Class{}
		}
		for _, im := range want.Images {
			for i := range im.Objects {
				im.Objects[i].Class = index[int(im.Objects[i].Class)]
			}
		}
		dir := annotationtest.Write(t, files)
		for _, workers := range []int{0, 1, 3, 16} {
			got, err := Read(t.Context(), dir, annotation.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			for _, im := range got.Images {
				for i := range im.Objects {
					if !math.IsNaN(im.Objects[i].Area) {
						t.Fatalf("area %v", im.Objects[i].Area)
					}
					im.Objects[i].Area = 0
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%d workers: got %+v\nwant %+v", workers, got, want)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("\ufeff<?xml version=\"1.0\" encoding=\"latin1\"?>" + good))
	f.Add([]byte("<!DOCTYPE a [<!ENTITY a \"b\">]><annotation/>"))
	f.Add([]byte("<annotation><object><object><bndbox/></object><name>&lt;</name></object></annotation>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var names annotation.Names
		im := annotation.Image{Name: "1.xml", Source: "1.xml"}
		if err := parse(&im, data, &names); err != nil {
			return
		}
		if n := len(im.Objects) + len(im.Faults); n > len(data)/9 {
			t.Errorf("%d objects in %d bytes", n, len(data))
		}
		for _, o := range im.Objects {
			if err := o.Box.Check(); err != nil || o.Name == "" || !math.IsNaN(o.Area) {
				t.Errorf("%+v: %v", o, err)
			}
		}
		names.Assign(&annotation.Set{Images: []annotation.Image{im}})
	})
}

func BenchmarkParse(b *testing.B) {
	object := good[strings.Index(good, "<object>"):strings.Index(good, "</annotation>")]
	data := []byte(strings.Replace(good, object, strings.Repeat(object, 10), 1))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var names annotation.Names
	for b.Loop() {
		im := annotation.Image{Name: "1.xml"}
		if err := parse(&im, data, &names); err != nil || len(im.Objects) != 10 {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads a directory of 100,000 small files.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	for i := range 100000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.xml", i)), []byte(good), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if s, err := Read(b.Context(), dir, annotation.Options{}); err != nil || len(s.Images) != 100000 {
			b.Fatal(len(s.Images), err)
		}
	}
}
