package convert

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestLabelTables: all usual formats of label tables make the same set.
func TestLabelTables(t *testing.T) {
	src := filepath.Join(t.TempDir(), "flat")
	var rows [][2]string
	for i := range 24 {
		name := fmt.Sprintf("sub/%02d.png", i)
		put(t, src, name, pngOf(i))
		rows = append(rows, [2]string{name, strconv.Itoa(i % 12)})
	}
	table := func(header, row string) []byte {
		text := header
		for _, r := range rows {
			text += strings.NewReplacer("PATH", r[0], "ID", strings.TrimSuffix(r[0], ".png"), "LABEL", r[1]).Replace(row) + "\n"
		}
		return []byte(text)
	}
	zip := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(data)
		w.Close()
		return b.Bytes()
	}
	var want map[string]string
	for _, c := range []struct {
		name string
		data []byte
		o    ImageOptions
		note string
	}{
		{"l.csv", table("path,label\n", "PATH,LABEL"), ImageOptions{}, ""},
		{"none.csv", table("", "PATH,LABEL"), ImageOptions{}, "none.csv: taken as a table without a header: paths are in column 1, labels in column 2"},
		{"turned.csv", table("", "LABEL, PATH"), ImageOptions{}, "paths are in column 2, labels in column 1"},
		{"own.csv", table("file of it;sort\n", "PATH;LABEL"), ImageOptions{}, `the first row is taken as its header: paths are in column "file of it", labels in "sort"`},
		{"l.tsv", table("File\tClass\tweight\n", "PATH\tLABEL\t1"), ImageOptions{}, `paths are in column "File", labels in "Class"; ignored: "weight"`},
		{"l.csv.gz", zip(table("target;image_path\n", "LABEL;PATH")), ImageOptions{}, `paths are in column "image_path"`},
		{"l.txt", table("", "PATH LABEL"), ImageOptions{}, "without a header"},
		{"header.txt", table("which what\n", "PATH LABEL"), ImageOptions{}, `the first row is taken as its header: paths are in column "which", labels in "what"`},
		{"floats.csv", table("path,label\n", "PATH,LABEL.0"), ImageOptions{}, ""},
		{"spaces.csv", table("path,label\n", "PATH, LABEL"), ImageOptions{}, "spaces around labels do not count, as in \" "},
		{"ids.csv", table("id,label\n", "ID,LABEL"), ImageOptions{Labels: LabelSpec{PathSuffix: ".png"}}, `paths are in column "id"`},
		{"ids.txt", table("", "ID LABEL"), ImageOptions{Labels: LabelSpec{PathSuffix: ".png"}}, "without a header"},
		{"Kaggle.csv", table("id_code,diagnosis\n", "ID,LABEL"), ImageOptions{Labels: LabelSpec{PathSuffix: ".png"}}, `the first row is taken as its header: paths are in column "id_code", labels in "diagnosis"`},
		{"given.csv", table("where,what\n", "PATH,LABEL"), ImageOptions{Labels: LabelSpec{PathColumn: "where", Column: "WHAT"}}, ""},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		put(t, filepath.Dir(file), c.name, c.data)
		c.o.Labels.File, c.o.Options = file, Options{Name: "n", Shards: 2}
		said := notes(&c.o.Options)
		out := t.TempDir()
		s := mustImages(t, src, out, c.o)
		if s.Records != 24 || s.SkippedFiles != 0 {
			t.Errorf("%s: %+v", c.name, s)
		}
		if n := strings.Join(*said, "\n"); !strings.Contains(n, c.note) || c.note == "" && n != "" {
			t.Errorf("%s: notes %q, want %q", c.name, n, c.note)
		}
		if want == nil {
			want = contents(t, out)
		}
		sameSet(t, contents(t, out), want)
	}
}

// TestRowsOfNoImage: a row whose image does not exist is a ledger entry, and what many of them have
// in common is a note and a cause of the error.
func TestRowsOfNoImage(t *testing.T) {
	src := filepath.Join(t.TempDir(), "flat")
	put(t, src, "01.png", pngOf(1))
	put(t, src, "02.PNG", pngOf(2))
	put(t, src, "03.png", pngOf(3))
	long := strings.Repeat("x", 300) + ".png"
	file := filepath.Join(t.TempDir(), "l.csv")
	put(t, filepath.Dir(file), "l.csv", []byte("picture,breed\n01,a\n02,a\n03.png,a\n03.png/x,a\n"+long+",a\n\"a\x00b\",a\n"))
	o := ImageOptions{Labels: LabelSpec{File: file}}
	said := notes(&o.Options)
	_, err := Images(context.Background(), src, t.TempDir(), o)
	var bad *BadSamplesError
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	reasons := map[int64]string{}
	for _, s := range bad.Samples {
		if s.Stage != "read" || s.Source != "l.csv" {
			t.Errorf("%+v", s)
		}
		reasons[s.Line] = s.Key + ": " + s.Reason
	}
	for line, want := range map[int64]string{
		2: "01: no such file in the source: 01",
		3: "02: no such file in the source: 02",
		5: "03.png/x: no such file",
		6: long + ": no such file",
		7: "no such file",
	} {
		if !strings.Contains(reasons[line], want) {
			t.Errorf("line %d: %q, want %q", line, reasons[line], want)
		}
	}
	if len(reasons) != 5 {
		t.Errorf("%d rows: %v", len(reasons), reasons)
	}
	want := []string{
		"l.csv: no image for 1 row whose path lacks .png, such as 01 on line 2, where there is 01.png: LabelSpec.PathSuffix .png appends it",
		"l.csv: no image for 1 row whose path lacks .PNG, such as 02 on line 3, where there is 02.PNG: LabelSpec.PathSuffix .PNG appends it",
	}
	if !slices.Equal(bad.Causes, want) || !strings.Contains(strings.Join(*said, "\n"), strings.Join(want, "\n")) {
		t.Errorf("causes %q, notes %q", bad.Causes, *said)
	}
}

// TestPathsOfRows: paths are those of images below the source, also if they are absolute or have
// backslashes; why others are not is said once.
func TestPathsOfRows(t *testing.T) {
	src := filepath.Join(t.TempDir(), "images")
	for i, name := range []string{"a.png", "sub/b.png", "sub/c.PNG", "deep/down/d.jpeg"} {
		put(t, src, name, pngOf(i))
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(src, link); err != nil {
		t.Fatal(err)
	}
	for written, c := range map[string]struct{ image, note, cause string }{
		"./sub//b.png":               {image: "sub/b.png"},
		"sub\\b.png":                 {"sub/b.png", "backslashes in paths are taken as slashes, in 1 row, such as sub\\b.png on line 2", ""},
		" a.png":                     {"a.png", "spaces around paths do not count, in 1 row", ""},
		src + "/sub/b.png":           {"sub/b.png", "absolute paths below the source are taken relative to it, in 1 row", ""},
		link + "/sub/b.png":          {"", "", "path is absolute and not below the source, but in " + link + "/, such as"},
		"/other/x/sub/b.png":         {"", "", "path is absolute and not below the source, but in /other/x/, such as /other/x/sub/b.png on line 2, where there is sub/b.png: write paths relative to the source, or convert the directory that has them"},
		"C:\\data\\sub\\b.png":       {"", "", "not below the source, but in C:/data/"},
		"s3://bucket/x/a.png":        {"", "", "not below the source, but in s3://bucket/x/"},
		"images/sub/b.png":           {"", "", "path begins with images/, as the source is called, such as images/sub/b.png on line 2, where there is sub/b.png: convert the directory above it"},
		"../images/a.png":            {"", "", "path begins with ../images/, as the source is called"},
		"other/sub/b":                {"", "", "path begins with other/ and path lacks .png"},
		"sub/b":                      {"", "", "path lacks .png, such as sub/b on line 2, where there is sub/b.png: LabelSpec.PathSuffix .png appends it"},
		"b.png":                      {"", "", "path lacks sub/, such as b.png on line 2, where there is sub/b.png: convert "},
		"down/d":                     {"", "", "path lacks deep/ and path lacks .jpeg"},
		"Sub/c.png":                  {"", "", "path differs in case"},
		"deep/down/d.jpg":            {"", "", "path has another extension"},
		"none.png":                   {},
		"":                           {},
		"/":                          {},
		"//":                         {},
		"x:":                         {},
		strings.Repeat("/", 100_000): {},
	} {
		for _, from := range []string{src, link}[:1+strings.Count(written, link)] {
			if from == link {
				c.image, c.note, c.cause = "sub/b.png", "absolute paths below the source", ""
			}
			file := filepath.Join(t.TempDir(), "t.csv")
			put(t, filepath.Dir(file), "t.csv", fmt.Appendf(nil, "path,label\n%q,x\ndeep/down/d.jpeg,y\n", strings.ReplaceAll(written, "\\", "\x00")))
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Dir(file), "t.csv", bytes.ReplaceAll(data, []byte(`\x00`), []byte(`\`)))
			o := ImageOptions{Labels: LabelSpec{File: file}, Options: Options{MaxErrors: Tolerance{Count: 1}}}
			said := notes(&o.Options)
			out := t.TempDir()
			mustImages(t, from, out, o)
			got, all := records(t, out, "train"), strings.Join(*said, "\n")
			if _, ok := got[c.image]; len(got) != 1+min(1, len(c.image)) || !ok && c.image != "" {
				t.Errorf("%.99q: %d records, %q", written, len(got), *said)
			}
			for _, want := range []string{c.note, c.cause} {
				if !strings.Contains(all, want) {
					t.Errorf("%.99q: %q, want %q", written, *said, want)
				}
			}
			if n := strings.Count(all, "no image for") + strings.Count(all, ", in 1 row"); n != min(1, len(c.note+c.cause)) {
				t.Errorf("%.99q: %q", written, *said)
			}
		}
	}
}

func TestOptionsAboutLabelTables(t *testing.T) {
	src := directories(t, 3)
	for _, c := range []struct {
		o    ImageOptions
		want string
	}{
		{ImageOptions{Labels: LabelSpec{PathColumn: "a"}}, "LabelSpec.PathColumn: is for LabelSpec.File"},
		{ImageOptions{Labels: LabelSpec{Column: "a"}}, "LabelSpec.Column: is for LabelSpec.File"},
		{ImageOptions{Labels: LabelSpec{PathSuffix: ".jpg"}}, "LabelSpec.PathSuffix: is for LabelSpec.File"},
		{ImageOptions{Labels: LabelSpec{File: "l.csv", PathSuffix: "/1.jpg"}}, "LabelSpec.PathSuffix: \"/1.jpg\": want a file name suffix"},
	} {
		if _, err := Images(context.Background(), src, t.TempDir(), c.o); !ofOption(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestRowsOfLabelTablesAreBounded gives tables that end in an endless row, with a quote
// and without.
func TestRowsOfLabelTablesAreBounded(t *testing.T) {
	src := t.TempDir()
	put(t, src, "a.png", pngOf(1))
	const file = "labels.csv"
	for want, data := range map[string][]byte{
		"more than 1048576 bytes; is a quote missing?": []byte("a.png,a\n" + strings.Repeat("x", 3<<20)),
		"line 2: row too long":                         []byte("a.png,a\n\"" + strings.Repeat("\n", 3<<20)),
		"line 1: row too long":                         bytes.Repeat([]byte("x"), 3<<20),
		"not a CSV file but binary":                    make([]byte, 3<<20),
	} {
		labels := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(labels, data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Images(context.Background(), src, filepath.Join(t.TempDir(), "out"), ImageOptions{Labels: LabelSpec{File: labels}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
