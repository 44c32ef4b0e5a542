package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"

	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// imageCell is an image as package datasets of Hugging Face stores it.
type imageCell struct {
	Bytes []byte  `parquet:"bytes,optional"`
	Path  *string `parquet:"path,optional"`
}

// idSample is a row with a label that is an id, nameSample one with a name.
type idSample struct {
	Image   imageCell         `parquet:"image"`
	Label   *int64            `parquet:"label,optional"`
	Score   *float64          `parquet:"score,optional"`
	Caption *string           `parquet:"caption,optional"`
	Boxes   []int32           `parquet:"boxes,list"`
	Unused  map[string]string `parquet:"unused"`
}

type nameSample struct {
	Image imageCell `parquet:"image"`
	Class string    `parquet:"class"`
}

// writeParquet writes a file with row groups of 7 rows and pages of some images.
func writeParquet[T any](t *testing.T, path string, rows []T, options ...parquet.WriterOption) {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, append(options, parquet.MaxRowsPerRowGroup(7), parquet.PageBufferSize(2000), parquet.Compression(&parquet.Snappy))...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeMany writes a file of rows without images, which take no space.
func writeMany(t *testing.T, path string, rows int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type nothing struct {
		Image imageCell `parquet:"image"`
	}
	w := parquet.NewGenericWriter[nothing](f)
	for part := range slices.Chunk(make([]nothing, rows), 1<<16) {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// namedRows are the images of a directory as rows, with their first directories as classes.
func namedRows(t *testing.T, dir string) []nameSample {
	t.Helper()
	var rows []nameSample
	for name, data := range contents(t, dir) {
		class, _, _ := strings.Cut(name, "/")
		rows = append(rows, nameSample{imageCell{[]byte(data), &name}, class})
	}
	return rows
}

// writeArrow writes rows as an Arrow stream, as package datasets caches them.
func writeArrow(t *testing.T, path string, rows []nameSample) {
	t.Helper()
	cell := arrow.StructOf(arrow.Field{Name: "bytes", Type: arrow.BinaryTypes.Binary, Nullable: true}, arrow.Field{Name: "path", Type: arrow.BinaryTypes.String, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{{Name: "image", Type: cell, Nullable: true}, {Name: "class", Type: arrow.BinaryTypes.String}}, nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	for part := range slices.Chunk(rows, 11) {
		r := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for _, row := range part {
			image := r.Field(0).(*array.StructBuilder)
			image.Append(true)
			image.FieldBuilder(0).(*array.BinaryBuilder).Append(row.Image.Bytes)
			image.FieldBuilder(1).(*array.StringBuilder).Append(*row.Image.Path)
			r.Field(1).(*array.StringBuilder).Append(row.Class)
		}
		if err := w.Write(r.NewRecordBatch()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The rows of a table give the shards that their files give, in any format, from disk and from a
// store.
func TestImagesOfRows(t *testing.T) {
	dir, src, want := directories(t, 60), filepath.Join(t.TempDir(), "pets"), t.TempDir()
	o := ImageOptions{Options: Options{Name: "pets", Shards: 3, Splits: []SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}}}}
	mustImages(t, dir, want, o)
	if err := os.Mkdir(src, 0o755); err != nil {
		t.Fatal(err)
	}
	rows := namedRows(t, dir)
	writeParquet(t, filepath.Join(src, "a.parquet"), rows[:25])
	writeParquet(t, filepath.Join(src, "b.parquet"), rows[25:])
	writeArrow(t, filepath.Join(src, "x.arrow"), rows)
	_, url := inStore(t, src)
	for _, place := range []string{filepath.Join(src, "?.parquet"), filepath.Join(src, "x.arrow"), url + "/*.parquet", url + "/x.arrow"} {
		for _, workers := range []int{1, 3} {
			out := t.TempDir()
			o.Workers = workers
			if s := mustImages(t, place, out, o); s.Records != 60 || s.Errors != 0 || len(s.Splits) != 2 {
				t.Errorf("%s: %+v", place, s)
			}
			got := contents(t, out)
			for name, data := range contents(t, want) {
				if _, ok := shard.ParseName(name); ok && got[name] != data {
					t.Errorf("%s: %s differs from that of the files", place, name)
				}
			}
			if again := mustImages(t, place, out, o); again.Status != UpToDate {
				t.Errorf("%s: again: %s", place, again.Status)
			}
		}
	}
}

// A changed image redoes its shard only, wherever rows move.
func TestImagesOfChangedRows(t *testing.T) {
	src, out, o := filepath.Join(t.TempDir(), "x.parquet"), t.TempDir(), ImageOptions{Options: Options{Shards: 4}}
	rows := namedRows(t, directories(t, 80))
	writeParquet(t, src, rows)
	mustImages(t, src, out, o)
	rows[17].Image.Bytes = pngOf(1000)
	slices.Reverse(rows)
	writeParquet(t, src, rows)
	if s := mustImages(t, src, out, o); s.Status != Updated || s.ShardsWritten != 1 || s.ShardsKept != 3 {
		t.Errorf("%+v", s)
	}
	fresh := t.TempDir()
	mustImages(t, src, fresh, o)
	sameSet(t, contents(t, out), contents(t, fresh))
}

// Rows of all kinds give what a plain model says: records by key, or ledger lines.
func TestImagesOfRowsAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	dir, n := t.TempDir(), 150
	rows, names := make([]idSample, n), map[string]int{}
	for i := range rows {
		row := &rows[i]
		row.Unused = map[string]string{"k": "v"}
		row.Image.Bytes = pngOf(i)
		switch r.IntN(12) {
		case 0:
			row.Image.Bytes = nil
		case 1:
			row.Image.Bytes = []byte{}
		case 2:
			row.Image.Bytes = append(pngOf(i), make([]byte, 3_000_000)...) // behind the image, which is fine
		}
		if path := fmt.Sprintf("p%d.png", r.IntN(n)); r.IntN(3) > 0 {
			row.Image.Path = &path
			names[path]++
		}
		if id := int64(r.IntN(7)) - 1; r.IntN(10) > 0 {
			row.Label = &id
		}
		if score := r.Float64(); r.IntN(3) > 0 {
			row.Score = &score
		}
		if caption := strings.Repeat("é", r.IntN(3)); r.IntN(3) > 0 {
			row.Caption = &caption
		}
		row.Boxes = []int32{1, -2, 3}[:r.IntN(4)]
	}
	writeParquet(t, filepath.Join(dir, "a.parquet"), rows[:40])
	writeParquet(t, filepath.Join(dir, "b.parquet"), rows[40:])
	out := t.TempDir()
	s, err := Images(context.Background(), filepath.Join(dir, "*.parquet"), out, ImageOptions{
		Options: Options{Shards: 3, MaxErrors: Tolerance{Share: 1}}, ImageKey: "image",
		Features: []FeatureSpec{{Name: "score"}, {Name: "caption"}, {Name: "boxes", Type: TypeFloat}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, ledger, bad := records(t, out, "train"), contents(t, out)["errors.jsonl"], int64(0)
	for i, row := range rows {
		key := fmt.Sprintf("a.parquet#%d", i)
		if i >= 40 {
			key = fmt.Sprintf("b.parquet#%d", i-40)
		}
		place := key
		if row.Image.Path != nil && names[*row.Image.Path] == 1 {
			key = *row.Image.Path
		}
		if len(row.Image.Bytes) == 0 || row.Label == nil {
			bad++
			if line := fmt.Sprintf(`{"key":%q,"source":%q,"stage":"read",`, key, place); !strings.Contains(ledger, line) || got[key] != nil {
				t.Errorf("row %d: no line %s", i, line)
			}
			continue
		}
		g := got[key]
		if g == nil {
			t.Errorf("row %d: no record %s", i, key)
			continue
		}
		want := map[string]any{imagekey.Encoded: [][]byte{row.Image.Bytes}, imagekey.Label: []int64{*row.Label}, imagekey.Text: [][]byte{fmt.Append(nil, *row.Label)}}
		if row.Score != nil {
			want["score"] = []float32{float32(*row.Score)}
		}
		if row.Caption != nil && *row.Caption != "" {
			want["caption"] = [][]byte{[]byte(*row.Caption)}
		}
		boxes := []float32{}
		for _, b := range row.Boxes {
			boxes = append(boxes, float32(b))
		}
		want["boxes"] = boxes
		for _, key := range []string{imagekey.Encoded, imagekey.Label, imagekey.Text, "score", "caption", "boxes"} {
			if !sameFeature(g[key], want[key]) {
				t.Errorf("row %d: %s is %.60v, want %.60v", i, key, g[key], want[key])
			}
		}
	}
	if s.Errors != bad || s.Records != int64(n)-bad || bad == 0 {
		t.Errorf("%+v, want %d errors", s, bad)
	}
	m, err := manifest.Read(context.Background(), filepath.Join(out, manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Labels) != 0 { // one is -1
		t.Errorf("labels %q", m.Labels)
	}
}

// What cannot be converted is refused, and nothing is written.
func TestImageRowsRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	type bare struct {
		Img  []byte  `parquet:"img"`
		Name string  `parquet:"name"`
		X    float64 `parquet:"label"`
	}
	image, path, id := pngOf(0), "a.png", int64(1)
	writeParquet(t, at("hf.parquet"), []idSample{{Image: imageCell{image, &path}, Label: &id, Unused: map[string]string{"k": "v"}}})
	writeParquet(t, at("bare.parquet"), []bare{{image, "a", 0.5}})
	writeParquet(t, at("named.parquet"), []nameSample{{imageCell{image, &path}, "x"}})
	writeParquet(t, at("empty.parquet"), []nameSample{})
	writeParquet(t, at("hf2.parquet"), []nameSample{{imageCell{image, &path}, "x"}})
	if err := os.WriteFile(at("cut.parquet"), []byte("PAR1 and no more"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("hf3.parquet"), []byte("path,label\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	writeMany(t, at("nulls.parquet"), walk.FewRows+1)
	for name, c := range map[string]struct {
		src  string
		o    ImageOptions
		want string
	}{
		"no guess":       {"bare.parquet", ImageOptions{}, `ImageOptions.ImageKey names it; the columns are "img", "name", "label"`},
		"no such column": {"hf.parquet", ImageOptions{ImageKey: "img"}, `"img" is not a column of bytes`},
		"not bytes":      {"hf.parquet", ImageOptions{ImageKey: "score"}, `"score" is not a column of bytes`},
		"float label":    {"bare.parquet", ImageOptions{ImageKey: "img"}, `"label" is not a label: 0.5 is not an integer`},
		"no label":       {"named.parquet", ImageOptions{Labels: LabelSpec{Column: "nope"}}, `no label column "nope"`},
		"no feature":     {"named.parquet", ImageOptions{Features: []FeatureSpec{{Name: "nope"}}}, `no column "nope"`},
		"a map":          {"hf.parquet", ImageOptions{Features: []FeatureSpec{{Name: "unused"}}}, `column "unused": a map does not fit`},
		"kind":           {"named.parquet", ImageOptions{Features: []FeatureSpec{{Name: "class", Type: TypeInt64}}}, "cannot be read as int64"},
		"table":          {"named.parquet", ImageOptions{Labels: LabelSpec{File: "x.csv"}}, "LabelSpec.File"},
		"links":          {"named.parquet", ImageOptions{Select: SelectSpec{FollowSymlinks: true}}, "SelectSpec.FollowSymlinks"},
		"archive format": {"named.parquet", ImageOptions{ArchiveFormat: WebDataset}, "ImageOptions.ArchiveFormat"},
		"empty":          {"empty.parquet", ImageOptions{}, "no rows"},
		"none selected":  {"named.parquet", ImageOptions{Select: SelectSpec{Include: []string{"x"}}}, "selected"},
		"damaged":        {"cut.parquet", ImageOptions{}, "truncated or damaged"},
		"not all tables": {"hf[23].parquet", ImageOptions{}, "neither Parquet nor Arrow"},
		"other columns":  {"h*[f2].parquet", ImageOptions{}, `there is no column "label"`},
		"many rows":      {"nulls.parquet", ImageOptions{Labels: LabelSpec{None: true}}, "too many for images"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			_, err := Images(context.Background(), at(c.src), out, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(out, manifest.File)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a manifest: %v", err)
			}
		})
	}
}

// classLabels is the metadata of a file in which Hugging Face's datasets names the labels.
func classLabels(names string) parquet.WriterOption {
	return parquet.KeyValueMetadata(table.HuggingFaceKey, `{"info": {"features": {"image": {"_type": "Image"}, "label": {"names": `+names+`, "_type": "ClassLabel"}}}}`)
}

// Labels that are numbers have the names that the file gives them, unless a file of classes does. A
// new name redoes what has it.
func TestClassNamesOfRows(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	src, classes := filepath.Join(dir, "x.parquet"), filepath.Join(dir, "classes.txt")
	if err := os.WriteFile(classes, []byte("kitten\npuppy\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var rows []idSample
	for i := range 20 {
		path, label := fmt.Sprintf("%02d.png", i), int64(i%2)
		rows = append(rows, idSample{Image: imageCell{pngOf(i), &path}, Label: &label})
	}
	for _, c := range []struct {
		metadata parquet.WriterOption
		classes  string
		status   Status
		labels   map[string]int64
	}{
		{classLabels(`["cat", "dog", "eel"]`), "", Written, map[string]int64{"cat": 10, "dog": 10}},
		{classLabels(`["cat", "dog", "eel"]`), "", UpToDate, map[string]int64{"cat": 10, "dog": 10}},
		{classLabels(`["Cat", "dog", "eel"]`), "", Updated, map[string]int64{"Cat": 10, "dog": 10}},
		{classLabels(`"cat"`), "", Updated, map[string]int64{"0": 10, "1": 10}},
		{classLabels(`["cat"]`), classes, Written, map[string]int64{"kitten": 10, "puppy": 10}},
	} {
		writeParquet(t, src, rows, c.metadata)
		o := ImageOptions{Options: Options{Shards: 2, Overwrite: c.classes != ""}, Labels: LabelSpec{Classes: c.classes}}
		s := mustImages(t, src, out, o)
		m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, shard := range m.Splits[0].Shards {
			for label, n := range shard.Labels {
				got[label] += n
			}
		}
		if s.Status != c.status || !maps.Equal(got, c.labels) {
			t.Errorf("%s, labels %v, want %s, %v", s.Status, got, c.status, c.labels)
		}
	}
	writeParquet(t, filepath.Join(dir, "y.parquet"), rows, classLabels(`["dog", "cat"]`))
	writeParquet(t, src, rows, classLabels(`["cat", "dog"]`))
	for place, want := range map[string]string{filepath.Join(dir, "*.parquet"): "are others than in the files before", src: ""} {
		_, err := Images(t.Context(), place, t.TempDir(), ImageOptions{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
	writeParquet(t, src, rows, classLabels(`["cat"]`))
	if _, err := Images(t.Context(), src, t.TempDir(), ImageOptions{}); err == nil || !strings.Contains(err.Error(), `the label of 01.png: the column "label" names 1 class, with ids from 0, and a label is 1`) {
		t.Error(err)
	}
}

// A file that changes after it was listed ends the run.
func TestRowsThatChange(t *testing.T) {
	ctx := context.Background()
	src := filepath.Join(t.TempDir(), "x.parquet")
	rows := namedRows(t, directories(t, 10))
	writeParquet(t, src, rows)
	place, err := origin.PlaceOf(ctx, storage.Parse(src), false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := listing.List(ctx, (&ImageOptions{}), place, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rows[4].Image.Bytes = pngOf(1000)
	writeParquet(t, src, rows)
	temp := func() (*os.File, error) { return os.CreateTemp(t.TempDir(), "") }
	err = l.Origin.Load(ctx, temp, slices.Values([]*origin.Image{&l.Images[0]}))
	if err == nil || !strings.Contains(err.Error(), "changed since it was scanned") {
		t.Error(err)
	}
}

// Parquet files named after splits keep them, unless others are asked for.
func TestSplitsOfParquetFiles(t *testing.T) {
	dir := t.TempDir()
	rows := namedRows(t, directories(t, 30))
	writeParquet(t, filepath.Join(dir, "train-00000-of-00001.parquet"), rows[:20])
	writeParquet(t, filepath.Join(dir, "test-00000-of-00001.parquet"), rows[20:])
	src := filepath.Join(dir, "*.parquet")
	if s := mustImages(t, src, t.TempDir(), ImageOptions{}); s.Splits["train"].Records != 20 || s.Splits["test"].Records != 10 {
		t.Errorf("%+v", s.Splits)
	}
	if s := mustImages(t, src, t.TempDir(), ImageOptions{Options: Options{Splits: []SplitShare{{Name: "all", Share: 1}}}}); s.Splits["all"].Records != 30 {
		t.Errorf("%+v", s.Splits)
	}
}
