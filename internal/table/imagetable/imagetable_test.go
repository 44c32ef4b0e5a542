package imagetable

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/table"
)

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch {
	case strings.HasSuffix(name, ".gz"):
		w = gzip.NewWriter(&b)
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if w != nil {
		_, err := w.Write(data)
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// rows reads a table: "line path=label" or "line error".
func rows(t testing.TB, table *Table) []string {
	t.Helper()
	var list []string
	for row, err := range table.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Err != nil {
			list = append(list, fmt.Sprintf("%d %v", row.Line, row.Err))
		} else {
			list = append(list, fmt.Sprintf("%d %s=%s", row.Line, row.Path, row.Labels[0]))
		}
	}
	return list
}

func TestTables(t *testing.T) {
	const short = "the row has only 1 of 2 fields: want a path and a label"
	for _, c := range []struct {
		name, text string
		o          Options
		want       []string
		ignored    string
	}{
		{"a.csv", "path,label\na.jpg,x\nb.jpg,y\n", Options{}, []string{"2 a.jpg=x", "3 b.jpg=y"}, ""},
		{"bom.csv", "\ufeffPath , LABEL\r\na.jpg,x\r\n", Options{}, []string{"2 a.jpg=x"}, ""},
		{"a.tsv", "filename\tclass\nsub dir/a.jpg\tbig cat\n", Options{}, []string{"2 sub dir/a.jpg=big cat"}, ""},
		{"semicolon.csv", "label;file\nx;a.jpg\n", Options{}, []string{"2 a.jpg=x"}, ""},
		{"more.csv", "width,image,category,height\n1,a.jpg,x,2\n", Options{}, []string{"2 a.jpg=x"}, `"width", "height"`},
		{"pandas.csv", ",file_name,tags\n0,a.jpg,x\n1,b.jpg,y\n", Options{}, []string{"2 a.jpg=x", "3 b.jpg=y"}, `""`},
		{"first.csv", "id,path,target,label\n7,a.jpg,1,x\n", Options{}, []string{"2 a.jpg=x"}, `"id", "target"`},
		{"ids.csv", "id,breed\n01,x\n02.JPG,y\n", Options{LabelColumn: "breed", Suffix: ".jpg"}, []string{"2 01.jpg=x", "3 02.JPG=y"}, ""},
		{"given.csv", "where,what,path,label\na.jpg,x,b.jpg,y\n", Options{PathColumn: "Where", LabelColumn: "what"}, []string{"2 a.jpg=x"}, `"path", "label"`},
		{"taken.csv", "id,image\na.jpg,x\n", Options{LabelColumn: "image"}, []string{"2 a.jpg=x"}, ""},
		{"none.csv", "a.jpg,x\nb.jpg,y,z\n", Options{}, []string{"1 a.jpg=x", "2 b.jpg=y"}, ""},
		{"none wide.csv", "a.jpg,x,1\n", Options{}, []string{"1 a.jpg=x"}, `"column 3"`},
		{"image.csv", "image,cat\nlabel,dog\n", Options{IsImage: func(p string) bool { return p == "image" }}, []string{"1 image=cat", "2 label=dog"}, ""},
		{"list.txt", "n01/a.jpg 0\nn02/my cat.jpg  12 \n\nb,c.jpg\t3\n", Options{}, []string{"1 n01/a.jpg=0", "2 n02/my cat.jpg=12", "4 b,c.jpg=3"}, ""},
		{"list header.txt", "path label\na.jpg 1\nb.jpg\n", Options{}, []string{"2 a.jpg=1", "3 " + short}, ""},
		{"list ids.txt", "a 1\nb 2\n", Options{Suffix: ".png"}, []string{"1 a.png=1", "2 b.png=2"}, ""},
		{"ragged.csv", "path,label\na.jpg\nb.jpg,x,more\n,y\n\"c\"d,z\ne.jpg,\n", Options{}, []string{
			"2 " + short, "3 b.jpg=x", "4 =y", "5 text after a closing quote in field 1: double the quotes inside a quoted field", "6 e.jpg="}, ""},
		{"quoted.csv", "path,label\n\"a, b.jpg\",\"two\nlines\"\nc.jpg,\"\"\"x\"\"\"\n", Options{}, []string{"2 a, b.jpg=two\nlines", "4 c.jpg=\"x\""}, ""},
		{"only header.csv", "path,label\n", Options{}, nil, ""},
	} {
		for _, compressed := range []string{"", ".gz", ".zst"} {
			table, err := Open(t.Context(), write(t, c.name+compressed, []byte(c.text)), c.o)
			if err != nil {
				t.Errorf("%s%s: %v", c.name, compressed, err)
				continue
			}
			if got := rows(t, table); !slices.Equal(got, c.want) {
				t.Errorf("%s%s: rows %q, want %q", c.name, compressed, got, c.want)
			}
			if _, _, ignored := table.Columns(); Quote(ignored) != c.ignored {
				t.Errorf("%s%s: ignored %q, want %s", c.name, compressed, ignored, c.ignored)
			}
		}
	}
}

// images are those of TestHeaders: a.jpg, b.jpg and so on.
func images(p string) bool { return len(p) == 5 && p[0] >= 'a' && p[0] <= 'f' && p[1:] == ".jpg" }

// likeImages are paths with an extension, and those of images without it.
func likeImages(p string) bool { return strings.HasSuffix(p, ".jpg") || images(p+".jpg") }

// TestHeaders: the first row is a header if it has a known name, names no image while others do, or
// is of other kinds than the rows below.
func TestHeaders(t *testing.T) {
	jpg, none := Options{Suffix: ".jpg"}, Options{}
	for _, c := range []struct {
		text   string
		o      Options
		header Header
		want   string
	}{
		{"id_code,diagnosis\na,x\nb,y\nc,x\n", jpg, FoundHeader, "2 a.jpg=x 3 b.jpg=y 4 c.jpg=x"},
		{"id_code,diagnosis\na,x\nb,y\n", none, FoundHeader, "2 a=x 3 b=y"}, // the suffix is missing
		{"id_code,diagnosis\n1,2\n2,0\n", none, FoundHeader, "2 1=2 3 2=0"},
		{"image_id,label\na,x\n", jpg, KnownHeader, "2 a.jpg=x"},
		{"Id,Target\na,x\n", jpg, KnownHeader, "2 a.jpg=x"},
		{"label_name,image_name\nx,a.jpg\ny,b.jpg\n", none, FoundHeader, "2 a.jpg=x 3 b.jpg=y"},
		{"class,picture,age\nx,a.jpg,1\n", none, KnownHeader, "2 a.jpg=x"},
		{",picture,breed\n0,a.jpg,x\n1,b.jpg,y\n", Options{LabelColumn: "breed"}, KnownHeader, "2 a.jpg=x 3 b.jpg=y"},
		{"0,1\na.jpg,x\nb.jpg,y\n", none, FoundHeader, "2 a.jpg=x 3 b.jpg=y"}, // as pandas names columns
		{",0,1\n0,a.jpg,x\n1,b.jpg,y\n", none, FoundHeader, "2 a.jpg=x 3 b.jpg=y"},
		{"picture breed\na.jpg x\nb.jpg y\n", none, FoundHeader, "2 a.jpg=x 3 b.jpg=y"},
		{"picture,NA\na.jpg,1\n", none, FoundHeader, "2 a.jpg=1"},

		{"a.jpg,x\nb.jpg,y\n", none, NoHeader, "1 a.jpg=x 2 b.jpg=y"},
		{"x,a.jpg\ny,b.jpg\n", none, NoHeader, "1 a.jpg=x 2 b.jpg=y"},
		{"x a.jpg\ny b.jpg\n", none, NoHeader, "1 a.jpg=x 2 b.jpg=y"},
		{"gone.jpg,x\na.jpg,1\nb.jpg,2\n", none, NoHeader, "1 gone.jpg=x 2 a.jpg=1 3 b.jpg=2"},
		{"gone.jpg,label\na.jpg,x\n", none, NoHeader, "1 gone.jpg=label 2 a.jpg=x"},
		{"a.jpg,class\nb.jpg,x\n", none, NoHeader, "1 a.jpg=class 2 b.jpg=x"},
		{"z,x\na,x\nb,y\n", jpg, NoHeader, "1 z.jpg=x 2 a.jpg=x 3 b.jpg=y"}, // a label that occurs again
		{"z,5\na,x\nb,y\n", jpg, NoHeader, "1 z.jpg=5 2 a.jpg=x 3 b.jpg=y"},
		{"z,5\na,3\nb,4\n", jpg, NoHeader, "1 z.jpg=5 2 a.jpg=3 3 b.jpg=4"},
		{"a,unknown\nb,1\nc,2\n", jpg, NoHeader, "1 a.jpg=unknown 2 b.jpg=1 3 c.jpg=2"},
		{"u,v\nw,x\n", none, NoHeader, "1 u=v 2 w=x"},
		{"x,y\n", none, NoHeader, "1 x=y"},
	} {
		for _, name := range []string{"t.csv", "t.csv.gz"} {
			c.o.IsImage, c.o.LikeImage = images, likeImages
			table, err := Open(t.Context(), write(t, name, []byte(c.text)), c.o)
			if err != nil {
				t.Errorf("%q: %v", c.text, err)
				continue
			}
			if got := strings.Join(rows(t, table), " "); got != c.want || table.Header() != c.header {
				t.Errorf("%q: header %v, rows %s, want %v, %s", c.text, table.Header(), got, c.header, c.want)
			}
		}
	}
}

func TestTablesThatAreRefused(t *testing.T) {
	wide := strings.Repeat("x,", 30) + "path\n"
	for _, c := range []struct {
		name, text string
		o          Options
		want       string
	}{
		{"empty", "", Options{}, "the file is empty"},
		{"blank", "\n\n", Options{}, "no rows"},
		{"one column", "a.jpg\nb.jpg\n", Options{}, "one column only"},
		{"no label", "path,breed,age\na.jpg,x,1\n", Options{}, `which column holds the label? LabelSpec.Column names it; none is called label, class, target, category, tags; the columns are "path", "breed", "age"`},
		{"captions", "file_name,caption\na.jpg,a cat\n", Options{}, "which column holds the label?"},
		{"no path", "picture,label,age\na.jpg,x,1\n", Options{}, "which column holds the path? LabelSpec.PathColumn names it"},
		{"no path of two", "label,class\nx,y\n", Options{}, "which column holds the path? LabelSpec.PathColumn names it"},
		{"many columns", wide, Options{}, "11 more"},
		{"unknown path", "path,label\na.jpg,x\n", Options{PathColumn: "where"}, `there is no path column "where"; the columns are "path", "label"`},
		{"unknown label", "path,label\na.jpg,x\n", Options{LabelColumn: "what"}, `there is no label column "what"`},
		{"label not given", "where,what,why\na.jpg,x,y\n", Options{PathColumn: "where"}, "which column holds the label?"},
		{"two path columns", "where,path\na.jpg,x\n", Options{PathColumn: "where"}, "which column holds the label?"},
		{"the same", "path,label\na.jpg,x\n", Options{PathColumn: "path", LabelColumn: "Path"}, `column "path" can't hold paths and labels`},
		{"no path left", "path,label\na.jpg,x\n", Options{LabelColumn: "path"}, "which column holds the path?"},
		{"json", `{"path": "a.jpg", "label": "x"}` + "\n", Options{}, "not a CSV file but JSON: convert.Table takes JSON lines, or give a list"},
		{"parquet", "PAR1....", Options{}, "Parquet"},
		{"utf16", "p\x00a\x00", Options{}, "it is UTF-16LE"},
		{"open quote", "\"path,label\n", Options{}, "never closed"},
		{"bad header", "\"path\"x,label\n", Options{}, "line 1: text after a closing quote"},
	} {
		path := write(t, "t.csv", []byte(c.text))
		if _, err := Open(t.Context(), path, c.o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	good := strings.Repeat("a.jpg,x\n", 200_000) // more than is read to find the columns
	table, err := Open(t.Context(), write(t, "t.csv", []byte("path,label\n"+good+"b.jpg,\"y\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for _, last = range table.Rows(t.Context()) {
	}
	if last == nil || !strings.Contains(last.Error(), "t.csv: line 200002: a quote opens here") {
		t.Errorf("a quote that is never closed: %v", last)
	}
}

// TestRandomTables writes tables with any text in their fields and reads them back.
func TestRandomTables(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const letters = "ab/. ,;\t|\"'\n\\é\x00"
	word := func() string {
		var b strings.Builder
		for range 1 + rnd.IntN(9) {
			b.WriteString(string([]rune(letters)[rnd.IntN(len([]rune(letters)))]))
		}
		return b.String()
	}
	for round := range 300 {
		columns := []string{strings.ToUpper(pathNames[rnd.IntN(len(pathNames))]), labelNames[rnd.IntN(len(labelNames))], "other", "more"}[:2+rnd.IntN(3)]
		order := rnd.Perm(len(columns))
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma = []rune(",;\t|")[rnd.IntN(4)]
		line := func(fields []string) {
			out := make([]string, len(fields))
			for i, f := range fields {
				out[order[i]] = f
			}
			if err := w.Write(out); err != nil {
				t.Fatal(err)
			}
		}
		line(columns)
		var want []string
		for range 50 {
			fields := []string{word(), word(), word(), word()}[:len(columns)]
			line(fields)
			want = append(want, fields[0]+"="+strings.TrimSpace(fields[1]))
		}
		w.Flush()
		table, err := Open(t.Context(), write(t, "t"+[]string{".csv", ".gz", ".zst"}[round%3], b.Bytes()), Options{})
		if err != nil {
			t.Fatalf("round %d: %v\n%s", round, err, b.String())
		}
		var got []string
		for row, err := range table.Rows(t.Context()) {
			if err != nil || row.Err != nil {
				t.Fatal(err, row.Err)
			}
			got = append(got, row.Path+"="+row.Labels[0])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %q, want %q\n%s", round, got, want, b.String())
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("path,label\na.jpg,x\n"), "", "")
	f.Add([]byte("a.jpg 1\n"), "path", ".jpg")
	f.Add([]byte("id;x\n\"1\";\n"), "x", ".png")
	f.Fuzz(func(t *testing.T, data []byte, column, suffix string) {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		table, err := Open(t.Context(), path, Options{LabelColumn: column, Suffix: suffix})
		if err != nil {
			return
		}
		checkLines(t, table)
		o := Options{NoLabels: true, Separator: suffix}
		for i, name := range table.header {
			o.Features = append(o.Features, Feature{Name: name, Kind: kinds[i%len(kinds)]})
		}
		if table, err = Open(t.Context(), path, o); err == nil {
			checkLines(t, table)
		}
	})
}

var kinds = []table.Kind{table.Unknown, table.Int64, table.Float, table.Bytes}

// checkLines reads a table, whose rows are in the order of their lines and have the values of all
// features.
func checkLines(t *testing.T, opened *Table) {
	line := int64(0)
	for row, err := range opened.Rows(t.Context()) {
		if err != nil {
			return
		}
		if row.Line <= line {
			t.Fatalf("line %d after %d", row.Line, line)
		}
		line = row.Line
		for i := range opened.Features() {
			if row.Err != nil {
				break
			}
			if _, first, end, ok := row.Value(i); ok && end != first+1 {
				t.Fatalf("line %d: %d values of feature %d", line, end-first, i)
			}
		}
	}
}

// TestTablesAreBounded reads a table that inflates to more rows than callers are to hold.
func TestTablesAreBounded(t *testing.T) {
	row := "a.png," + strings.Repeat("x", 1000) + "\n"
	table, err := Open(t.Context(), write(t, "labels.csv.gz", []byte(strings.Repeat(row, 1000))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if table.most != maxTable {
		t.Errorf("the limit is %d", table.most)
	}
	table.most = 500 * len(row)
	n, last := 0, error(nil)
	for _, err := range table.Rows(t.Context()) {
		n, last = n+1, err
	}
	if n < 499 || n > 501 || last == nil || !strings.Contains(last.Error(), "split the table") {
		t.Errorf("%d rows, %v", n, last)
	}
}
