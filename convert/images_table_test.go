package convert

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/verify"
)

// rowModel is a row of a table that names an image: what its record is made from.
type rowModel struct {
	path    string
	labels  []string
	n, x, s string // cells: an integer, a number, text; or empty
}

// drawRow returns a row of random cells.
func drawRow(r *rand.Rand, path string) rowModel {
	m := rowModel{path: path}
	for range r.IntN(4) {
		m.labels = append(m.labels, []string{"cat", "dog", "a b", "10", "é"}[r.IntN(5)])
	}
	for _, c := range []struct { // in this order, so that a seed draws the same row each time
		cell *string
		draw func() string
	}{
		{&m.n, func() string { return strconv.FormatInt(int64(r.Uint64()), 10) }},
		{&m.x, func() string { return strconv.FormatFloat(r.NormFloat64(), 'g', -1, 32) }},
		{&m.s, func() string { return []string{"x", "é, \"1\"\n2", " 7", "|"}[r.IntN(4)] }},
	} {
		if r.IntN(4) > 0 {
			*c.cell = c.draw()
		}
	}
	return m
}

// check compares the record of the row with the row, given the names of all labels in order.
func (m *rowModel) check(t *testing.T, record map[string]any, labels []string) {
	t.Helper()
	ids, texts := []int64{}, [][]byte{}
	for _, l := range m.labels {
		ids, texts = append(ids, int64(slices.Index(labels, l))), append(texts, []byte(l))
	}
	want := map[string]any{imagekey.Label: ids, imagekey.Text: texts}
	if n, err := strconv.ParseInt(m.n, 10, 64); err == nil {
		want["n"] = []int64{n}
	}
	if x, err := strconv.ParseFloat(m.x, 32); err == nil {
		want["x"] = []float32{float32(x)}
	}
	if m.s != "" {
		want["some text"] = [][]byte{[]byte(m.s)}
	}
	for _, key := range []string{imagekey.Label, imagekey.Text, "n", "x", "some text"} {
		if fmt.Sprint(record[key]) != fmt.Sprint(want[key]) {
			t.Errorf("%s: %s is %v, want %v", m.path, key, record[key], want[key])
		}
	}
}

// tableOf writes rows as a CSV.
func tableOf(t *testing.T, path string, rows map[string]rowModel) {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"x", "tags", "other", "some text", "file", "n"})
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		m := rows[key]
		w.Write([]string{m.x, strings.Join(m.labels, " | "), "?", m.s, m.path, m.n})
	}
	w.Flush()
	put(t, filepath.Dir(path), filepath.Base(path), b.Bytes())
}

// TestRandomTablesOfImages changes images and rows at random: the records hold what the rows say,
// an update equals a fresh run, a job of tasks and one of an engine, and nothing is left to do
// after it.
func TestRandomTablesOfImages(t *testing.T) {
	for _, seed := range torture.Seeds(4, 300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 5))
			src, out := filepath.Join(t.TempDir(), "flat"), filepath.Join(t.TempDir(), "out")
			file := filepath.Join(t.TempDir(), "rows.csv")
			rows := map[string]rowModel{}
			next := 0
			add := func() {
				path := fmt.Sprintf("%d/%03d.png", next%3, next)
				put(t, src, path, pngOf(next))
				rows[path] = drawRow(r, path)
				next++
			}
			for range 30 + r.IntN(60) {
				add()
			}
			o := ImageOptions{
				Options:  Options{Name: "n", Shards: 1 + r.IntN(4), Workers: 1 + r.IntN(4), Seed: seed},
				Labels:   LabelSpec{File: file, Separator: "|"},
				Features: []FeatureSpec{{Name: "some text", Type: TypeBytes}, {Name: "n"}, {Name: "x", Type: TypeFloat}},
			}
			if r.IntN(2) == 0 {
				o.Encode.Format, o.Augment.Policy, o.Augment.Copies, o.Augment.KeepOriginal = PNG, policy(t, "hflip:0.5"), 1, true
			}
			for range 3 {
				tableOf(t, file, rows)
				s := mustImages(t, src, out, o)
				m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
				if err != nil {
					t.Fatal(err)
				}
				for path, record := range records(t, out, "train") {
					row, ok := rows[path]
					if !ok {
						t.Fatalf("%s has no row", path)
					}
					row.check(t, record, m.Labels)
				}
				if s.Samples != s.Records || len(records(t, out, "train")) != len(rows) {
					t.Fatalf("%+v, %d rows", s, len(rows))
				}
				fresh, tasks := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "t")
				other := o
				other.Workers = 5 - o.Workers
				mustImages(t, src, fresh, other)
				sameSet(t, contents(t, out), contents(t, fresh))
				for i := range 3 {
					mustImages(t, src, tasks, taskOf(o, 2-i, 3))
				}
				mustFinalize(t, tasks)
				sameSet(t, contents(t, out), contents(t, tasks))
				engine := filepath.Join(t.TempDir(), "e")
				j, err := BeginImages(t.Context(), src, engine, o)
				mustRun(t, mustBegin(t, j, err), 3)
				sameSet(t, contents(t, out), contents(t, engine))
				if s := mustImages(t, src, out, o); s.Status != UpToDate {
					t.Fatalf("again: %+v", s)
				}
				for range 1 + r.IntN(3) {
					path := slices.Sorted(maps.Keys(rows))[r.IntN(len(rows))]
					switch r.IntN(4) {
					case 0:
						add()
					case 1:
						os.Remove(filepath.Join(src, path))
						delete(rows, path)
					default:
						rows[path] = drawRow(r, path)
					}
				}
			}
			v, err := verify.Files(t.Context(), []string{out}, verify.Options{Deep: &verify.DeepOptions{}})
			if err != nil || !v.OK || len(v.Deep.Labels) != 1 {
				t.Errorf("verify: %v %+v", err, v)
			}
		})
	}
}

// TestChangedRowsRedoTheirShards changes a label, a feature, and a column that is not used.
func TestChangedRowsRedoTheirShards(t *testing.T) {
	src := filepath.Join(t.TempDir(), "flat")
	for i := range 80 {
		put(t, src, fmt.Sprintf("%02d.png", i), pngOf(i))
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	table := func(change func(i int, row []string)) {
		text := "path,label,score,unused\n"
		for i := range 80 {
			row := []string{fmt.Sprintf("%02d.png", i), "ab"[i%2 : i%2+1], strconv.Itoa(i), "-"}
			change(i, row)
			text += strings.Join(row, ",") + "\n"
		}
		put(t, filepath.Dir(file), filepath.Base(file), []byte(text))
	}
	out := t.TempDir()
	o := ImageOptions{Options: Options{Name: "n", Shards: 8}, Labels: LabelSpec{File: file}, Features: []FeatureSpec{{Name: "score"}}}
	for what, c := range map[string]struct {
		column  int
		cell    string
		written int
	}{"feature": {2, "1000", 1}, "missing": {2, "", 1}, "label": {1, "b", 1}, "unused": {3, "x", 0}, "all floats": {2, "0.5", 8}} {
		table(func(int, []string) {})
		mustImages(t, src, out, o)
		table(func(i int, row []string) {
			if i == 10 {
				row[c.column] = c.cell
			}
		})
		if s := mustImages(t, src, out, o); s.ShardsWritten != c.written || s.ShardsKept != 8-c.written {
			t.Errorf("%s: %+v", what, s)
		}
		fresh := t.TempDir()
		mustImages(t, src, fresh, o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
}

// TestRowsThatCannotBeUsed: each is a ledger line with its key, line and stage, and images without a
// row are counted or refused.
func TestRowsThatCannotBeUsed(t *testing.T) {
	src := filepath.Join(t.TempDir(), "flat")
	for i := range 6 {
		put(t, src, fmt.Sprintf("sub/%d.png", i), pngOf(i))
	}
	put(t, src, "notes.txt", []byte("?"))
	file := filepath.Join(t.TempDir(), "t.csv")
	put(t, filepath.Dir(file), "t.csv", []byte("path,label,n,x\n"+
		"sub/0.png,a,1,2\n"+
		"sub/1.png,a,one,2\n"+
		"gone.png,a,1,2\n"+
		"sub/../../out.png,a,1,2\n"+
		"/etc/passwd,a,1,2\n"+
		"\x1b[31m.png,a,1,2\n"+
		"sub/2.png,a\n"+
		",a,1,2\n"+
		"sub/0.png,b,1,2\n"+
		"sub/3.png,,1,2\n"+
		"sub/4.png,a,,NaN\n"))
	o := ImageOptions{
		Options: Options{Name: "n", MaxErrors: Tolerance{Count: 9}}, Labels: LabelSpec{File: file},
		Features: []FeatureSpec{{Name: "n", Type: TypeInt64}, {Name: "x", Type: TypeFloat}},
	}
	out := t.TempDir()
	s := mustImages(t, src, out, o)
	if s.Records != 2 || s.Errors != 9 || s.SkippedFiles != 3 { // 2.png, 5.png and notes.txt
		t.Errorf("%+v", s)
	}
	text := strings.Join(ledger(t, out), "\n")
	for _, want := range []string{
		`sub/1.png 3 parse column "n": "one" is not of type int64`,
		"gone.png 4 read no such file in the source: gone.png",
		"sub/../../out.png 5 read the path leads outside the source directory",
		"/etc/passwd 6 read the path leads outside the source directory",
		"\x1b[31m.png 7 read no such file in the source",
		"t.csv:8 8 parse the row has 2 fields, the header 4",
		"t.csv:9 9 read the path is empty",
		"t.csv:10 10 read sub/0.png is named twice, first on line 2",
		"sub/3.png 11 read sub/3.png has an empty label",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if got := records(t, out, "train"); got["sub/4.png"]["n"] != nil || fmt.Sprint(got["sub/4.png"]["x"]) != "[NaN]" {
		t.Errorf("%v", got["sub/4.png"])
	}
	o.Labels.Strict = true
	none := filepath.Join(t.TempDir(), "none")
	_, err := Images(t.Context(), src, none, o)
	var bad *BadSamplesError
	if err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), "LabelSpec.Strict: 2 images not named in") || !strings.Contains(err.Error(), "such as sub/2.png") {
		t.Errorf("strict: %v", err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a refused run left a directory")
	}
}

// TestTablesWithoutLabels: regression targets need none.
func TestTablesWithoutLabels(t *testing.T) {
	src := filepath.Join(t.TempDir(), "flat")
	put(t, src, "1.png", pngOf(1))
	file := filepath.Join(t.TempDir(), "t.csv")
	put(t, filepath.Dir(file), "t.csv", []byte("image,age,tags\n1.png,37.5,?\n"))
	out := t.TempDir()
	mustImages(t, src, out, ImageOptions{Labels: LabelSpec{File: file, None: true}, Features: []FeatureSpec{{Name: "age"}}})
	got := records(t, out, "train")["1.png"]
	if fmt.Sprint(got["age"]) != "[37.5]" || got[imagekey.Label] != nil || got[imagekey.Text] != nil {
		t.Errorf("%v", got)
	}
}

func TestOptionsAboutTables(t *testing.T) {
	src := directories(t, 3)
	file := filepath.Join(t.TempDir(), "t.csv")
	put(t, filepath.Dir(file), "t.csv", []byte("path,label,n,n\nc0/000.png,a,1,1\n"))
	bare := filepath.Join(t.TempDir(), "bare.csv")
	put(t, filepath.Dir(bare), "bare.csv", []byte("c0/000.png,a,1\n"))
	with := func(l LabelSpec, names ...string) ImageOptions {
		o := ImageOptions{Labels: l}
		for _, name := range names {
			o.Features = append(o.Features, FeatureSpec{Name: name})
		}
		return o
	}
	for want, o := range map[string]ImageOptions{
		"ImageOptions.Features: is for LabelSpec.File":                       with(LabelSpec{}, "n"),
		"LabelSpec.Separator: is for LabelSpec.File":                         with(LabelSpec{Separator: "|"}),
		"LabelSpec.Separator: cannot be combined with LabelSpec.None":        with(LabelSpec{File: file, None: true, Separator: "|"}, "n"),
		"LabelSpec.Column: cannot be combined with LabelSpec.None":           with(LabelSpec{File: file, None: true, Column: "label"}, "n"),
		"LabelSpec.File: cannot be combined with LabelSpec.None":             with(LabelSpec{File: file, None: true}),
		"LabelSpec.Classes: cannot be combined with LabelSpec.None":          with(LabelSpec{Classes: file, None: true}),
		`ImageOptions.Features: "image/width" is a feature that every image`: with(LabelSpec{File: file}, "image/width"),
		`ImageOptions.Features: "m" is given twice`:                          with(LabelSpec{File: file}, "m", "m"),
	} {
		if _, err := Images(context.Background(), src, t.TempDir(), o); !ofOption(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, o := range map[string]ImageOptions{
		`there is no column "nope"; the columns are "path", "label", "n", "n"`: with(LabelSpec{File: file}, "nope"),
		`several columns are called "n"`:                                       with(LabelSpec{File: file}, "n"),
		`no header names the column "n"`:                                       with(LabelSpec{File: bare}, "n"),
	} {
		if _, err := Images(context.Background(), src, t.TempDir(), o); err == nil || ofOption(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestHostileTablesOfImages: rows without end, and columns without number.
func TestHostileTablesOfImages(t *testing.T) {
	race.Skip(t)
	src := directories(t, 3)
	zipped := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		w.Close()
		return b.Bytes()
	}
	gigabyte := bytes.Repeat(zipped(strings.Repeat("x", 1<<20)), 1<<10) // gzip files one after another are one
	for want, data := range map[string][]byte{
		"line 2: row too long: more than 1048576 bytes":                                           append(zipped("path,label,n\nc0/000.png,a,"), gigabyte...),
		"line 1: row too long: more than 1048576 bytes":                                           zipped("path,label" + strings.Repeat(",n", 1_000_000) + "\n"),
		"line 1048578: more than 1048576 rows cannot be used, the last because: x is named twice": zipped("path,label,n\n" + strings.Repeat("x,a,1\n", 1<<21)),
		`there is no column "n"`:                                                                  zipped("path,label" + strings.Repeat(",", 500_000) + "\n"),
	} {
		file := filepath.Join(t.TempDir(), "t.csv.gz")
		put(t, filepath.Dir(file), "t.csv.gz", data)
		o := ImageOptions{Labels: LabelSpec{File: file}, Features: []FeatureSpec{{Name: "n"}}}
		if _, err := Images(t.Context(), src, t.TempDir(), o); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%.300v, want %q", err, want)
		}
	}
}
