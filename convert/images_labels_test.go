package convert

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		{"none.csv", table("", "PATH,LABEL"), ImageOptions{}, ""},
		{"l.tsv", table("File\tClass\tweight\n", "PATH\tLABEL\t1"), ImageOptions{}, `paths are in column "File", labels in "Class"; ignored: "weight"`},
		{"l.csv.gz", zip(table("target;image_path\n", "LABEL;PATH")), ImageOptions{}, `paths are in column "image_path"`},
		{"l.txt", table("", "PATH LABEL"), ImageOptions{}, ""},
		{"ids.csv", table("id,label\n", "ID,LABEL"), ImageOptions{Labels: LabelSpec{PathSuffix: ".png"}}, `paths are in column "id"`},
		{"ids.txt", table("", "ID LABEL"), ImageOptions{Labels: LabelSpec{PathSuffix: ".png"}}, ""},
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

// TestRowsOfNoImage: a row whose image does not exist is a ledger entry, with a hint at what may be
// meant.
func TestRowsOfNoImage(t *testing.T) {
	src := filepath.Join(t.TempDir(), "flat")
	put(t, src, "01.png", pngOf(1))
	put(t, src, "02.PNG", pngOf(2))
	put(t, src, "03.png", pngOf(3))
	long := strings.Repeat("x", 300) + ".png"
	file := filepath.Join(t.TempDir(), "l.csv")
	put(t, filepath.Dir(file), "l.csv", []byte("picture,breed\n01,a\n02,a\n03.png,a\n03.png/x,a\n"+long+",a\n\"a\x00b\",a\n"))
	_, err := Images(context.Background(), src, t.TempDir(), ImageOptions{Labels: LabelSpec{File: file}})
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
		1: "picture: no such file in the source: picture (if this row is the header, LabelSpec.PathColumn and LabelSpec.Column name its columns)",
		2: "01: no such file in the source: 01 (01.png exists: give LabelSpec.PathSuffix .png)",
		3: "02: no such file in the source: 02 (02.PNG exists: give LabelSpec.PathSuffix .PNG)",
		5: "03.png/x: no such file",
		6: long + ": no such file",
		7: "no such file",
	} {
		if !strings.Contains(reasons[line], want) {
			t.Errorf("line %d: %q, want %q", line, reasons[line], want)
		}
	}
	if len(reasons) != 6 {
		t.Errorf("%d rows: %v", len(reasons), reasons)
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
		"line 1: row too long":                         make([]byte, 3<<20),
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
