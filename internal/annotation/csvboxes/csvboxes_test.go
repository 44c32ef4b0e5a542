package csvboxes

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
	"github.com/tfrec/tfrec/internal/annotation/voc"
	"github.com/tfrec/tfrec/internal/dev/memtemp"
)

func TestMain(m *testing.M) { memtemp.Main(m) }

const (
	tutorial   = "filename,width,height,class,xmin,ymin,xmax,ymax\n"
	openImages = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside\n"
	retinaNet  = "path,x1,y1,x2,y2,class\n"
)

func read(t testing.TB, text string) (*annotation.Set, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "boxes.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Read(t.Context(), path, annotation.Options{})
	if err != nil {
		err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), path, "boxes.csv"))
	}
	return s, err
}

// summary is a set in one line: images, with their objects and faults, and faults of no image.
func summary(s *annotation.Set) string {
	var parts []string
	for i := range s.Images {
		im := &s.Images[i]
		text := im.Name
		if im.Width > 0 {
			text += fmt.Sprintf(" %dx%d", im.Width, im.Height)
		}
		if im.Relative {
			text += " shares"
		}
		text += ":"
		for _, o := range im.Objects {
			text += fmt.Sprintf(" %s %s %v", o.Name, s.Classes[o.Class].Name, o.Box)
			if o.Crowd != 0 || o.Truncated != 0 {
				text += fmt.Sprintf(" crowd %d truncated %d", o.Crowd, o.Truncated)
			}
		}
		for _, f := range im.Faults {
			text += " !" + f.Name + ": " + f.Reason
		}
		if im.Unreadable != "" {
			text += " unreadable: " + im.Unreadable
		}
		parts = append(parts, text)
	}
	for _, f := range s.Faults {
		parts = append(parts, "!"+f.Name+": "+f.Reason)
	}
	return strings.Join(parts, "; ")
}

func TestRead(t *testing.T) {
	for what, c := range map[string]struct{ text, want string }{
		"tutorial":              {tutorial + "b.jpg,100,80,cat,1,2,3,4\na.jpg,50,40,dog,1,2,3,4.5\nb.jpg,100,80,dog,-5,6,7,8\n", "a.jpg 50x40: line 3 dog {1 2 3 4.5}; b.jpg 100x80: line 2 cat {1 2 3 4} line 4 dog {-5 6 7 8}"},
		"other order and case":  {"XMAX, class ,ymin,YMax,Filename,xmin\r\n3,cat,2,4,a.jpg,1\r\n\r\n", "a.jpg: line 2 cat {1 2 3 4}"},
		"mark and quotes":       {"\ufeff" + tutorial + "\"a,\"\"b\"\".jpg\",9,9,\"a\ncat\",1,2,3,4\nc.jpg,9,9,dog,1,2,3,4", "a,\"b\".jpg 9x9: line 2 a\ncat {1 2 3 4}; c.jpg 9x9: line 4 dog {1 2 3 4}"},
		"semicolons":            {strings.ReplaceAll(tutorial, ",", ";") + "a.jpg;9;9;cat;1;2;3;4", "a.jpg 9x9: line 2 cat {1 2 3 4}"},
		"index of pandas":       {"," + tutorial + "0,a.jpg,9,9,cat,1,2,3,4\n", "a.jpg 9x9: line 2 cat {1 2 3 4}"},
		"no size":               {tutorial + "a.jpg,,0,cat,1,2,3,4\n", "a.jpg: line 2 cat {1 2 3 4}"},
		"Open Images":           {openImages + "00a,xclick,/m/01,1,0.1,0.5,0.2,1,0,1,0,0,0\n00a,xclick,/m/02,1,0,1,0,1,-1,-1,1,0,0\n", "00a shares: line 2 /m/01 {0.1 0.2 0.5 1} crowd 0 truncated 1 line 3 /m/02 {0 0 1 1} crowd 1 truncated 0"},
		"Open Images in pixels": {openImages + "a,x,/m/01,1,10,50,0.2,1,0,1,0,0,0\n", `a shares: !line 2: XMin is "10": want a share of the image, 0 to 1`},
		"a flag that is none":   {openImages + "a,x,/m/01,1,0,.5,0.2,1,0,1,2,0,0\n", `a shares: !line 2: IsGroupOf is "2": want 0, 1, or -1 if it is not known`},
		"RetinaNet":             {"/data/b.jpg,1,2,3,4,cat\na.jpg,,,,,\n", "/data/b.jpg: line 1 cat {1 2 3 4}; a.jpg:"},
		"RetinaNet, header":     {retinaNet + "a.jpg,,,,,\nb.jpg,1,2,3,4,cat\n", "a.jpg:; b.jpg: line 3 cat {1 2 3 4}"},
		"RetinaNet, empty":      {"b.jpg,,,,,\na.jpg,,,,,\n", "a.jpg:; b.jpg:"},
		"Windows":               {`img\a.jpg,1,2,3,4,cat`, "img/a.jpg: line 1 cat {1 2 3 4}"},
		"no objects, and one":   {retinaNet + "a.jpg,,,,,\na.jpg,1,2,3,4,cat\n", "a.jpg: line 3 cat {1 2 3 4} !line 2: it states that the image has no objects, and the image has one in line 3"},
		"a part of a box":       {retinaNet + "a.jpg,1,2,3,,cat\n", `a.jpg: !line 2: y2 is "": want a number`},
		"a class alone":         {retinaNet + "a.jpg,,,,,cat\n", `a.jpg: !line 2: x1 is "": want a number`},
		"a box without a class": {retinaNet + "a.jpg,1,2,3,4,\n", "a.jpg: !line 2: the class has no name"},
		"swapped":               {tutorial + "a.jpg,9,9,cat,3,2,1,4\n", "a.jpg 9x9: !line 2: the box is empty: x from 3 to 1, y from 2 to 4"},
		"not finite":            {tutorial + "a.jpg,9,9,cat,1,2,nan,4\na.jpg,9,9,cat,1,2,3,inf\n", "a.jpg 9x9: !line 2: the box has a coordinate of NaN: want finite numbers !line 3: the box has a coordinate of +Inf: want finite numbers"},
		"missing values":        {tutorial + "a.jpg,9,9,cat,NA,NA,NA,NA\na.jpg,9,9,NA,1,2,3,4\n", `a.jpg 9x9: !line 2: xmin is "NA": want a number !line 3: the class is "NA": tables write missing values so; if it is a class, rename it`},
		"rows of wrong length":  {tutorial + "a.jpg,9,9,cat,1,2,3\na.jpg,9,9,cat,1,2,3,4,5\na.jpg,9,9,cat,1,2,3,4\n", "a.jpg 9x9: line 4 cat {1 2 3 4}; !line 2: it has 7 fields: want 8; !line 3: it has 9 fields: want 8"},
		"text after a quote":    {tutorial + "\"a\"b,9,9,cat,1,2,3,4\na.jpg,9,9,cat,1,2,3,4\n", "a.jpg 9x9: line 3 cat {1 2 3 4}; !line 2: text after a closing quote in field 1: double the quotes inside a quoted field"},
		"no image":              {tutorial + ",9,9,cat,1,2,3,4\n", "!line 2: column filename: it names no image"},
		"not UTF-8":             {tutorial + "\xff.jpg,9,9,cat,1,2,3,4\na.jpg,9,9,\xff,1,2,3,4\n", "a.jpg 9x9: !line 3: the name of the class is not UTF-8 text; !line 2: column filename: the name of the image is not UTF-8 text"},
		"two sizes":             {tutorial + "a.jpg,9,8,cat,1,2,3,4\na.jpg,8,9,dog,1,2,3,4\n", "a.jpg 9x8: line 2 cat {1 2 3 4} !line 3: the image has 8 x 9 pixels here, and 9 x 8 in line 2"},
		"a long name":           {tutorial + strings.Repeat("a", 5000) + ",9,9,cat,1,2,3,4\n", "!line 2: column filename: the name of the image has 5000 bytes: the limit is 4096"},
		"a pixel":               {tutorial + "a.jpg,9,9,cat,0,0,1,1\na.jpg,9,9,cat,0,0,2,2\n", "a.jpg 9x9: line 2 cat {0 0 1 1} line 3 cat {0 0 2 2}"},
		"many faults":           {tutorial + strings.Repeat("a.jpg,9,9,cat,x,2,3,4\n", 1002) + "b.jpg,9,9,cat,1,2,3,4\n", `a.jpg 9x9: unreadable: more than 1000 of its annotations cannot be used; line 2: xmin is "x": want a number; b.jpg 9x9: line 1004 cat {1 2 3 4}`},

		"all between 0 and 1": {tutorial + "a.jpg,9,9,cat,0.1,0.1,0.5,1\n", "error: boxes.csv: boxes could be shares of the image or pixels, as all coordinates are between 0 and 1 (line 2: 0.1,0.1 to 0.5,1)"},
		"all 0 and 1":         {"a.jpg,0,0,1,1,cat\n", "error: boxes.csv: boxes could be shares of the image or pixels, as all coordinates are between 0 and 1 (line 1: 0,0 to 1,1)"},
		"both":                {tutorial + "a.jpg,9,9,cat,1,2,3,4\na.jpg,9,9,cat,0.1,0.1,0.5,1\n", "error: boxes.csv: boxes could be shares of the image (line 3: 0.1,0.1 to 0.5,1) or pixels (line 2: 1,2 to 3,4), and a table has one of these"},
		"two classes":         {"filename,class,label,xmin,ymin,xmax,ymax\n", `error: boxes.csv: line 1: the columns "class" and "label" both have the class of an object: remove one, or rename it`},
		"a column twice":      {"filename,class,xmin,x1,ymin,xmax,ymax\n", `error: boxes.csv: line 1: the columns "xmin" and "x1" both have the xmin of an object`},
		"missing columns":     {"\nfilename,width,height,xmin,ymin,xmax\n", "error: boxes.csv: line 2: it is not a header of a table of boxes, nor a row of one without a header (path,x1,y1,x2,y2,class): it has no column named class or label or labelname, ymax or y2"},
		"prose":               {"lorem ipsum\n", "error: boxes.csv: line 1: it is not a header"},
		"empty":               {"", "error: boxes.csv: the file is empty"},
		"a quote stays open":  {tutorial + "a.jpg,9,9,cat,1,2,3,4\n\"a.jpg,9,9,cat,1,2,3,4\n", "error: boxes.csv: line 3: a quote opens here and is never closed"},
		"UTF-16":              {"\xff\xfef\x00", "error: boxes.csv: line 1: it is not a header"}, // read as f
		"only wrong rows":     {tutorial + strings.Repeat("a,b\n", 1001), "error: boxes.csv: line 1002: more than 1000 rows cannot be used, such as line 2: it has 2 fields: want 8"},
	} {
		s, err := read(t, c.text)
		if err != nil {
			if !strings.HasPrefix("error: "+err.Error(), c.want) || !strings.HasPrefix(c.want, "error: ") {
				t.Errorf("%s:\n got %v\nwant %s", what, err, c.want)
			}
			continue
		}
		if got := summary(s); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, c.want)
		}
		for i := range s.Images {
			if im := &s.Images[i]; im.Source != "boxes.csv" || im.Line == 0 {
				t.Errorf("%s: %+v", what, im)
			}
		}
	}
}

// TestUnusedFields counts what records have no place for, not what stands for no value.
func TestUnusedFields(t *testing.T) {
	for text, want := range map[string]annotation.Fields{
		openImages + "a,xclick,/m/01,1,0,.5,0,.5,1,-1,-1,0,-1\na,,/m/01,0,0,.5,0,.5,-1,1,1,1,0\n": {
			"Source": 1, "Confidence": 1, "IsOccluded": 1, "IsDepiction": 1, "IsTruncated as not known": 1, "IsGroupOf as not known": 1,
		},
		",score," + tutorial + "0,-1,a.jpg,x,9,cat,1,2,3,4\n1,,a.jpg,9,-9,cat,1,2,3,4\n": {"Unnamed: 0": 1, "score": 1, "width": 1, "height": 1},
		retinaNet + "a.jpg,1,2,3,4,cat\n":                                                {},
	} {
		s, err := read(t, text)
		if err != nil || !maps.Equal(s.Unused, want) {
			t.Errorf("%q: %+v, %v, want %v", text, s, err, want)
		}
	}
}

// TestRandomTables: random objects come back from shuffled rows and columns of every form, as they do
// from Pascal VOC's files.
func TestRandomTables(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		model := map[string][]object{}
		for i := range 1 + r.IntN(6) {
			name := fmt.Sprintf("%simage %d,.jpg", []string{"", "train/", "é/"}[r.IntN(3)], i)
			model[name] = nil
			for range r.IntN(5) {
				model[name] = append(model[name], randomObject(r))
			}
		}
		name := slices.Sorted(maps.Keys(model))[0]
		model[name] = append(model[name], object{class: "whole", box: [4]int{0, 0, side, side}}) // so that pixels are above 1
		want := fromVOC(t, model)
		for _, form := range []string{tutorial, openImages, retinaNet, "bare"} {
			text := table(r, form, model)
			got, err := read(t, text)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			if diff := cmp.Diff(objectsOf(want, form == openImages), objectsOf(got, form == openImages)); diff != "" {
				t.Errorf("seed %d, %s: %s\n%s", seed, form, diff, text)
			}
			if diff := cmp.Diff(want.Classes, got.Classes); diff != "" {
				t.Errorf("seed %d, %s: %s", seed, form, diff)
			}
		}
	}
}

// side is the width and height of images.
const side = 64

// object is an object of the model, in pixels.
type object struct {
	class     string
	box       [4]int
	truncated int
}

func randomObject(r *rand.Rand) object {
	x, y := r.IntN(side-2), r.IntN(side-2)
	return object{[]string{"cat", "a dog", `"q", x`, "10", "2", "é"}[r.IntN(6)], [4]int{x, y, x + 2 + r.IntN(side-x-1), y + 2 + r.IntN(side-y-1)}, r.IntN(2)}
}

// fromVOC reads the model from Pascal VOC's files.
func fromVOC(t *testing.T, model map[string][]object) *annotation.Set {
	files := map[string]string{}
	for name, objects := range model {
		text := fmt.Sprintf("<annotation><filename>%s</filename><size><width>%d</width><height>%d</height></size>", filepath.Base(name), side, side)
		for _, o := range objects {
			text += fmt.Sprintf("<object><name>%s</name><truncated>%d</truncated><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox></object>", o.class, o.truncated, o.box[0], o.box[1], o.box[2], o.box[3])
		}
		files[strings.TrimSuffix(name, ".jpg")+".xml"] = text + "</annotation>"
	}
	s, err := voc.Read(t.Context(), annotationtest.Write(t, files), annotation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// table writes the model as a table of a form, with its rows and columns in a random order.
func table(r *rand.Rand, form string, model map[string][]object) string {
	header := strings.Split(strings.TrimSpace(strings.Replace(form, "bare", strings.TrimSpace(retinaNet), 1)), ",")
	if form != "bare" {
		r.Shuffle(len(header), func(i, j int) { header[i], header[j] = header[j], header[i] })
	}
	var rows []string
	for name, objects := range model {
		row := func(values map[string]string) {
			var fields []string
			for _, column := range header {
				field := values[strings.ToLower(column)]
				if strings.ContainsAny(field, `",`) || r.IntN(5) == 0 {
					field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
				}
				fields = append(fields, field)
			}
			rows = append(rows, strings.Join(fields, ",")+"\n")
		}
		values := map[string]string{"filename": name, "path": name, "imageid": strings.TrimSuffix(name, ".jpg"), "width": fmt.Sprint(side), "height": fmt.Sprint(side)}
		if len(objects) == 0 {
			row(values)
		}
		for _, o := range objects {
			for i, keys := range [][2]string{{"xmin", "x1"}, {"ymin", "y1"}, {"xmax", "x2"}, {"ymax", "y2"}} {
				values[keys[0]], values[keys[1]] = fmt.Sprint(o.box[i]), fmt.Sprint(o.box[i])
				if form == openImages {
					values[keys[0]] = fmt.Sprint(float64(o.box[i]) / side)
				}
			}
			values["class"], values["labelname"], values["istruncated"] = o.class, o.class, fmt.Sprint(o.truncated)
			row(values)
		}
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if form == "bare" {
		return strings.Join(rows, "")
	}
	return strings.Join(header, ",") + "\n" + strings.Join(rows, "")
}

// objectsOf lists the objects of a set as text, sorted, by image. flags says whether truncated counts.
func objectsOf(s *annotation.Set, flags bool) map[string][]string {
	all := map[string][]string{}
	for i := range s.Images {
		im := &s.Images[i]
		name := strings.TrimSuffix(im.Name, ".jpg")
		all[name] = []string{}
		scale := 1.0
		if im.Relative {
			scale = side
		}
		for _, o := range im.Objects {
			truncated := o.Truncated
			if !flags {
				truncated = 0
			}
			text := fmt.Sprintf("%s %g %g %g %g %d", s.Classes[o.Class].Name, o.Box.XMin*scale, o.Box.YMin*scale, o.Box.XMax*scale, o.Box.YMax*scale, truncated)
			all[name] = append(all[name], text)
		}
		if len(im.Faults) > 0 {
			all[name] = append(all[name], fmt.Sprint(im.Faults))
		}
		slices.Sort(all[name])
	}
	return all
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(tutorial + "a.jpg,9,9,cat,1,2,3,4\nb.jpg,9,8,\"d\"\"og\",NA,2,3,inf\n"))
	f.Add([]byte(openImages + "00a,xclick,/m/01,1,0.1,0.5,0.2,1,0,1,-1,0,0\n"))
	f.Add([]byte("/data/b.jpg,1,2,3,4,cat\r\na.jpg,,,,,\r\n\"x"))
	path := filepath.Join(f.TempDir(), "boxes.csv")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Read(t.Context(), path, annotation.Options{})
		if err != nil {
			return
		}
		for i := range s.Images {
			im := &s.Images[i]
			if im.Name == "" || i > 0 && im.Name <= s.Images[i-1].Name {
				t.Errorf("image %q after %q", im.Name, s.Images[max(i-1, 0)].Name)
			}
			for _, o := range im.Objects {
				if err := o.Box.Check(); err != nil || o.Name == "" || !math.IsNaN(o.Area) || int(o.Class) >= len(s.Classes) {
					t.Errorf("%+v: %v", o, err)
				}
			}
		}
	})
}
