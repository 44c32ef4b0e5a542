package convert

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeRecords writes a file of records.
func writeRecords(t *testing.T, path string, compression tfrecord.Compression, records ...[]byte) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{Compression: compression})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// exampleOf encodes features.
func exampleOf(features map[string]any) []byte {
	var b tfrecord.Builder
	for key, v := range features {
		switch v := v.(type) {
		case []int64:
			b.Int64(key, v...)
		case []float32:
			b.Float(key, v...)
		case [][]byte:
			b.Bytes(key, v...)
		}
	}
	return b.Append(nil)
}

// The images of a set give the shards that their files give: labels and splits stay.
func TestImagesOfASet(t *testing.T) {
	for _, compression := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip, tfrecord.CompressionZlib, tfrecord.CompressionZstd} {
		t.Run(compression.String(), func(t *testing.T) {
			dir := directories(t, 60)
			o := ImageOptions{Options: Options{Name: "pets", Shards: 2, Splits: []SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}}}}
			want := t.TempDir()
			mustImages(t, dir, want, o)
			set := t.TempDir()
			packed := o
			packed.Compression, packed.Shards = compression, 3
			mustImages(t, dir, set, packed)
			o.Splits = nil
			for _, workers := range []int{1, 3} {
				out := t.TempDir()
				o.Workers = workers
				if s := mustImages(t, set, out, o); s.Records != 60 || s.Errors != 0 || len(s.Splits) != 2 {
					t.Errorf("%d workers: %+v", workers, s)
				}
				got, shards := contents(t, out), contents(t, want)
				for name, data := range shards {
					if _, ok := shard.ParseName(name); ok && got[name] != data {
						t.Errorf("%s differs from that of the files", name)
					}
				}
				if again := mustImages(t, set, out, o); again.Status != UpToDate {
					t.Errorf("again: %s", again.Status)
				}
				m, err := manifest.Read(context.Background(), filepath.Join(out, manifest.File))
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(m.Labels, []string{"c0", "c1", "c2"}) || m.Splits[0].Shards[0].Labels == nil {
					t.Errorf("labels %v, of a shard %v", m.Labels, m.Splits[0].Shards[0].Labels)
				}
			}
		})
	}
}

// A changed image redoes its shard only, and several processes make the same set.
func TestImagesOfAChangedSet(t *testing.T) {
	dir, set, out, o := directories(t, 80), t.TempDir(), t.TempDir(), ImageOptions{Options: Options{Name: "pets", Shards: 4}}
	mustImages(t, dir, set, o)
	mustImages(t, set, out, o)
	put(t, dir, "c1/001.png", pngOf(1000))
	mustImages(t, dir, set, o)
	if s := mustImages(t, set, out, o); s.Status != Updated || s.ShardsWritten != 1 || s.ShardsKept != 3 {
		t.Errorf("%+v", s)
	}
	fresh := t.TempDir()
	mustImages(t, set, fresh, o)
	sameSet(t, contents(t, out), contents(t, fresh))
}

// All other features are carried over, whatever they are; a plain model says how.
func TestImagesOfRecordsCarryFeaturesOver(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 200
	dir := t.TempDir()
	want := map[int64]map[string]any{}
	var files [2][][]byte
	for i := range n {
		features := map[string]any{"img": [][]byte{pngOf(i)}, "lab": []int64{int64(i)}, "none": []float32{}}
		for k := range r.IntN(5) {
			switch key := fmt.Sprintf("k%d", k); r.IntN(3) {
			case 0:
				features[key] = []int64{-1 << 63, r.Int64()}[:r.IntN(3)]
			case 1:
				features[key] = []float32{r.Float32(), float32(math.Copysign(0, -1)), 1e30}[:r.IntN(4)]
			default:
				features[key] = [][]byte{{}, []byte("\xff\x00"), make([]byte, r.IntN(100_000))}[:r.IntN(4)]
			}
		}
		files[i%2] = append(files[i%2], exampleOf(features))
		delete(features, "img")
		want[int64(i)] = features
	}
	writeRecords(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, files[0]...)
	writeRecords(t, filepath.Join(dir, "b.tfrecord.gz"), tfrecord.CompressionGzip, files[1]...)
	out := t.TempDir()
	s := mustImages(t, filepath.Join(dir, "*.tfrecord*"), out, ImageOptions{Options: Options{Shards: 3}, ImageKey: "img"})
	if s.Records != n || s.Errors != 0 {
		t.Fatalf("%+v", s)
	}
	for key, got := range records(t, out, "train") {
		i := got["lab"].([]int64)[0]
		if file := fmt.Sprintf("%s#%d", []string{"a.tfrecord", "b.tfrecord.gz"}[i%2], i/2); key != file {
			t.Errorf("record %s is of %s", key, file)
		}
		if string(got[imagekey.Encoded].([][]byte)[0]) != string(pngOf(int(i))) {
			t.Errorf("record %s has another image", key)
		}
		for name := range got {
			if strings.HasPrefix(name, "image/") {
				delete(got, name)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Errorf("record %s: %.200v, want %.200v", key, got, want[i])
		}
		delete(want, i)
	}
	if len(want) > 0 {
		t.Errorf("%d records are missing", len(want))
	}
}

// Labels are named by their texts, else by their ids; those that are lists stay lists.
func TestLabelsOfRecords(t *testing.T) {
	text := func(s string) [][]byte { return [][]byte{[]byte(s)} }
	for name, c := range map[string]struct {
		a, b    map[string]any
		names   []string
		counted bool
	}{
		"texts": {map[string]any{imagekey.Label: []int64{2}, imagekey.Text: text("two")}, map[string]any{imagekey.Label: []int64{0}, imagekey.Text: text("zero")}, []string{"zero", "1", "two"}, true},
		"ids":   {map[string]any{imagekey.Label: []int64{2}}, map[string]any{imagekey.Label: []int64{0}}, []string{"0", "1", "2"}, true},
		"lists": {map[string]any{imagekey.Label: []int64{2, 0}}, map[string]any{imagekey.Label: []int64{}}, []string{"0", "1", "2"}, false},
		"other": {map[string]any{imagekey.Label: []int64{-1}}, map[string]any{imagekey.Label: []int64{1 << 40}}, []string{}, false},
		"taken": {map[string]any{imagekey.Label: []int64{4}, imagekey.Text: text("2")}, map[string]any{imagekey.Label: []int64{0}, imagekey.Text: text("zero")}, []string{"zero", "1", "#2", "3", "2"}, true},
		"high":  {map[string]any{imagekey.Label: []int64{1_000_001}}, map[string]any{imagekey.Label: []int64{0}}, []string{}, false},
		"minus": {map[string]any{imagekey.Label: []int64{-1}}, map[string]any{imagekey.Label: []int64{1}}, []string{}, false},
		"none":  {map[string]any{}, map[string]any{}, []string{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			src, out := filepath.Join(t.TempDir(), "x.tfrecord"), t.TempDir()
			c.a[imagekey.Encoded], c.b[imagekey.Encoded] = [][]byte{pngOf(1)}, [][]byte{pngOf(2)}
			writeRecords(t, src, tfrecord.CompressionNone, exampleOf(c.a), exampleOf(c.b))
			mustImages(t, src, out, ImageOptions{})
			m, err := manifest.Read(context.Background(), filepath.Join(out, manifest.File))
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(m.Labels) != fmt.Sprint(c.names) || (m.Splits[0].Shards[0].Labels != nil) != c.counted {
				t.Errorf("labels %q, counts %v", m.Labels, m.Splits[0].Shards[0].Labels)
			}
			got := records(t, out, "train")["x.tfrecord#0"]
			if fmt.Sprint(got[imagekey.Label]) != fmt.Sprint(c.a[imagekey.Label]) || fmt.Sprint(got[imagekey.Text]) != fmt.Sprint(c.a[imagekey.Text]) {
				t.Errorf("label %v %v", got[imagekey.Label], got[imagekey.Text])
			}
		})
	}
}

// Records of a set without a label keep that, and the others their names.
func TestUnlabelledRecords(t *testing.T) {
	src, o := tableSources()[0].make(t, t.TempDir(), strings.Fields("1 -1 0"))
	o.Labels.Classes = classFile(t, "zero\none\n")
	set, out := t.TempDir(), t.TempDir()
	mustImages(t, src, set, o)
	mustImages(t, set, out, ImageOptions{Resize: augment.ResizeSpec{Square: 8, NoAntialias: true}})
	ids, texts, m := labelsIn(t, out)
	if fmt.Sprint(m.Labels) != "[zero one]" || ids["0.png"] != 1 || ids["1.png"] != -1 || ids["2.png"] != 0 || texts["0.png"] != "one" || texts["1.png"] != "" {
		t.Errorf("%v %q %q", ids, texts, m.Labels)
	}
}

// A record that cannot be used is named in the ledger, and costs nothing else.
func TestBadImageRecords(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "x.tfrecord"), t.TempDir()
	named := func(name string, i int) []byte {
		return exampleOf(map[string]any{imagekey.Encoded: [][]byte{pngOf(i)}, imagekey.Filename: [][]byte{[]byte(name)}})
	}
	writeRecords(t, src, tfrecord.CompressionNone,
		named("a.png", 0), named("twice.png", 1), named("twice.png", 2), []byte{}, []byte("\x0a\xff"),
		exampleOf(map[string]any{imagekey.Encoded: []int64{1}}), exampleOf(map[string]any{imagekey.Encoded: [][]byte{[]byte("no image")}, imagekey.Filename: [][]byte{[]byte("b.png")}}),
	)
	s, err := Images(context.Background(), src, out, ImageOptions{Options: Options{MaxErrors: Tolerance{Count: 4}}})
	if err != nil || s.Records != 3 || s.Errors != 4 {
		t.Fatalf("%+v, %v", s, err)
	}
	got := records(t, out, "train")
	for _, name := range []string{"a.png", "x.tfrecord#1", "x.tfrecord#2"} {
		if got[name] == nil {
			t.Errorf("no record %s", name)
		}
	}
	ledger := contents(t, out)["errors.jsonl"]
	for _, want := range []string{
		`{"key":"b.png","source":"x.tfrecord#6","stage":"decode",`, `{"key":"x.tfrecord#3",`, `{"key":"x.tfrecord#4","source":"x.tfrecord#4","stage":"parse",`,
		`{"key":"x.tfrecord#5","source":"x.tfrecord#5","stage":"read",`,
	} {
		if !strings.Contains(ledger, want) {
			t.Errorf("the ledger lacks %s:\n%s", want, ledger)
		}
	}
}

// What cannot be converted is refused, and nothing is written.
func TestImageRecordsRefused(t *testing.T) {
	dir := t.TempDir()
	image := [][]byte{pngOf(0)}
	file := func(name string, features map[string]any) string {
		path := filepath.Join(dir, name)
		writeRecords(t, path, tfrecord.CompressionNone, exampleOf(features))
		return path
	}
	whole := file("whole.tfrecord", map[string]any{imagekey.Encoded: image, "image": image})
	damaged := file("damaged.tfrecord", map[string]any{imagekey.Encoded: image})
	data, _ := os.ReadFile(damaged)
	if err := os.WriteFile(damaged, data[:len(data)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	partial := filepath.Join(dir, "partial")
	mustImages(t, directories(t, 10), partial, ImageOptions{Options: Options{Name: "p", Shards: 2}})
	if err := os.Remove(filepath.Join(partial, "p-train.tfrecord-00001-of-00002")); err != nil {
		t.Fatal(err)
	}
	raw := filepath.Join(dir, "raw")
	mustImages(t, directories(t, 10), raw, ImageOptions{Encode: EncodeSpec{Format: Raw}})
	for name, c := range map[string]struct {
		src  string
		o    ImageOptions
		want string
	}{
		"no such key":   {whole, ImageOptions{ImageKey: "img"}, `no feature "img"`},
		"two images":    {whole, ImageOptions{ImageKey: "image"}, `have a feature "image/encoded" besides the image`},
		"renamed":       {whole, ImageOptions{Rename: map[string]string{imagekey.Encoded: "image"}}, `have a feature "image" besides the image`},
		"damaged":       {damaged, ImageOptions{}, "record 0"},
		"partial":       {partial, ImageOptions{}, "missing"},
		"raw":           {raw, ImageOptions{}, "raw pixels"},
		"classes":       {whole, ImageOptions{Labels: LabelSpec{Classes: whole}}, "LabelSpec.Classes"},
		"links":         {whole, ImageOptions{Select: SelectSpec{FollowSymlinks: true}}, "SelectSpec.FollowSymlinks"},
		"nothing there": {filepath.Join(dir, "*.tfrecord-none"), ImageOptions{}, "none"},
		"none selected": {whole, ImageOptions{Select: SelectSpec{Include: []string{"x"}}}, "selected"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			_, err := Images(context.Background(), c.src, out, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(out, manifest.File)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a manifest: %v", err)
			}
		})
	}
	if _, err := Images(context.Background(), partial, partial, ImageOptions{}); err == nil {
		t.Error("a set is converted into itself")
	}
	if _, err := Images(context.Background(), whole, dir, ImageOptions{}); err == nil || !strings.Contains(err.Error(), "is the input: choose another output directory") {
		t.Errorf("into its own directory: %v", err)
	}
	o := ImageOptions{ImageKey: imagekey.Encoded, Encode: EncodeSpec{Format: PNG}}
	if s := mustImages(t, whole, t.TempDir(), o); s.Records != 1 {
		t.Errorf("%+v", s)
	}
}

// A table labels records by their image/filename.
func TestTableOfRecords(t *testing.T) {
	set, out, dir := t.TempDir(), t.TempDir(), directories(t, 6)
	mustImages(t, dir, set, ImageOptions{})
	put(t, dir, "t.csv", []byte("path,label,score\nc0/000.png,x,1.5\nc1/001.png,y,2\nc1/none.png,y,3\n"))
	s, err := Images(context.Background(), set, out, ImageOptions{
		Options: Options{MaxErrors: Tolerance{Count: 1}}, Labels: LabelSpec{File: filepath.Join(dir, "t.csv")}, Features: []FeatureSpec{{Name: "score"}},
	})
	if err != nil || s.Records != 2 || s.Errors != 1 || s.SkippedFiles != 4 {
		t.Fatalf("%+v, %v", s, err)
	}
	got := records(t, out, "train")["c1/001.png"]
	if got[imagekey.Label].([]int64)[0] != 1 || string(got[imagekey.Text].([][]byte)[0]) != "y" || got["score"].([]float32)[0] != 2 {
		t.Errorf("%v %v %v", got[imagekey.Label], got[imagekey.Text], got["score"])
	}
}

// A set in a store gives what it gives on disk, compressed or not.
func TestImagesOfASetInAStore(t *testing.T) {
	for _, compression := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionZstd} {
		set, here, there := filepath.Join(t.TempDir(), "pets"), t.TempDir(), t.TempDir()
		o := ImageOptions{Options: Options{Name: "pets", Shards: 2}}
		packed := o
		packed.Compression = compression
		mustImages(t, directories(t, 30), set, packed)
		_, url := inStore(t, set)
		mustImages(t, set, here, o)
		mustImages(t, url, there, o)
		sameSet(t, contents(t, there), contents(t, here))
		if again := mustImages(t, url, there, o); again.Status != UpToDate {
			t.Errorf("%v: again: %s", compression, again.Status)
		}
	}
}

// A file that changes after it was listed ends the run.
func TestRecordsThatChange(t *testing.T) {
	for _, compression := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
		ctx := context.Background()
		src := filepath.Join(t.TempDir(), "x.tfrecord")
		record := func(n int) []byte { return exampleOf(map[string]any{imagekey.Encoded: [][]byte{pngOf(n)}}) }
		writeRecords(t, src, compression, record(0), record(5))
		place, err := origin.PlaceOf(ctx, storage.Parse(src), false)
		if err != nil {
			t.Fatal(err)
		}
		o := &ImageOptions{}
		l, err := listing.List(ctx, o, place, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		temp := func() (*os.File, error) { return os.CreateTemp(t.TempDir(), "") }
		for name, changed := range map[string][][]byte{"other": {record(0), record(10)}, "fewer": {record(0)}, "none": {}} {
			writeRecords(t, src, compression, changed...)
			err := l.Origin.Load(ctx, temp, slices.Values([]*origin.Image{&l.Images[0], &l.Images[1]}))
			if err == nil {
				_, _, err = l.Origin.Read(ctx, &l.Images[1], nil)
			}
			if err == nil || !strings.Contains(err.Error(), "changed while it was read") {
				t.Errorf("%v, %s: %v", compression, name, err)
			}
			if err := l.Origin.Unload(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestListsOfClassesBesideRecords puts random lists of classes, and other files, next to records
// and to the shards of a set: each list is named, but for those of the set.
func TestListsOfClassesBesideRecords(t *testing.T) {
	src := t.TempDir()
	put(t, src, "a/1.png", pngOf(1))
	set := filepath.Join(t.TempDir(), "set")
	mustImages(t, src, set, ImageOptions{})
	shards, err := filepath.Glob(filepath.Join(set, "*.tfrecord-*"))
	if err != nil || len(shards) != 1 {
		t.Fatal(shards, err)
	}
	data, err := os.ReadFile(shards[0])
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(37, 7))
	for round := range 20 {
		dir, records := t.TempDir(), "*.record"
		if round%2 == 0 {
			put(t, dir, "x.record", data)
			put(t, dir, "y.record", data)
		} else {
			dir, records = moved(t, set), ""
		}
		var want []string
		for _, name := range []string{"Classes.txt", "coco.names", "label_map.pbtxt", "labels.txt", "pascal_label_map.pbtxt", "x.labels.txt"} {
			if rng.IntN(2) == 0 {
				put(t, dir, name, []byte("item { id: 1 name: 'a' }"))
				want = append(want, filepath.Join(dir, name))
			}
		}
		put(t, dir, "notes.txt", []byte("notes"))
		s := mustImages(t, filepath.Join(dir, records), t.TempDir(), ImageOptions{})
		count := int64(0)
		for _, e := range s.LeftOut {
			if count += e.Count; e.Reason != "metadata" || !slices.Equal(e.Names, want[:min(5, len(want))]) {
				t.Errorf("left out %+v, want %q", e, want)
			}
		}
		if count != int64(len(want)) {
			t.Errorf("left out %+v, want %q", s.LeftOut, want)
		}
	}
}
