package reshape

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// labelledSet makes a set in which record i has label i modulo the number of names.
func labelledSet(t *testing.T, n int, names ...string) string {
	t.Helper()
	return madeSet(t, n, 1, names, func(i int, b *tfrecord.Builder) {
		b.Int64("label", int64(i%len(names)))
		b.String("text", names[i%len(names)])
		b.Bytes("noise", make([]byte, 300*(i%2))) // lengths of one and two bytes
	})
}

func TestMergeRemapsLabels(t *testing.T) {
	a := labelledSet(t, 5, "cat", "dog")
	b := labelledSet(t, 7, "eel", "cat", "ant")
	out := filepath.Join(t.TempDir(), "out")
	report, err := Merge(context.Background(), []string{a, b}, out, Options{Shards: 1})
	settest.Check(t, err)
	if !report.LabelsRemapped || len(report.Notes) != 1 {
		t.Errorf("the report does not say that ids were changed: %+v", report)
	}
	m := settest.ManifestOf(t, out)
	if want := []string{"ant", "cat", "dog", "eel"}; !slices.Equal(m.Labels, want) {
		t.Fatalf("labels %q, want %q", m.Labels, want)
	}
	if want := map[string]int64{"ant": 2, "cat": 5, "dog": 2, "eel": 3}; !maps.Equal(m.Splits[0].Shards[0].Labels, want) {
		t.Errorf("counts %v, want %v", m.Splits[0].Shards[0].Labels, want)
	}
	was := append(payloadsOf(t, a), payloadsOf(t, b)...)
	now := payloadsOf(t, out)
	if len(now) != 12 {
		t.Fatalf("%d records", len(now))
	}
	for i, record := range now {
		var e, old tfrecord.Example
		settest.Check(t, e.Parse(record))
		settest.Check(t, old.Parse(was[i]))
		text, _ := e.Get("text")
		name, _ := text.Bytes()
		label, _ := e.Get("label")
		id, _ := label.Int64()
		if m.Labels[id] != string(name) {
			t.Errorf("record %d: label %d is %s, want %s", i, id, m.Labels[id], name)
		}
		// Everything else is unchanged.
		got, want := e.Map(), old.Map()
		delete(got, "label")
		delete(want, "label")
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("record %d: %v, want %v", i, got, want)
		}
	}
	// The same list, or one that only adds names at the end, changes no record.
	for _, other := range []string{labelledSet(t, 4, "cat", "dog"), labelledSet(t, 4, "cat", "dog", "eel")} {
		out := filepath.Join(t.TempDir(), "out")
		report, err := Merge(context.Background(), []string{a, other}, out, Options{})
		settest.Check(t, err)
		if report.LabelsRemapped {
			t.Error("ids were changed that fit already")
		}
		if got, want := payloadsOf(t, out), append(payloadsOf(t, a), payloadsOf(t, other)...); !slices.EqualFunc(got, want, slices.Equal) {
			t.Error("records changed whose label ids fit already")
		}
	}
}

func payloadsOf(t *testing.T, path string) [][]byte {
	t.Helper()
	sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
	settest.Check(t, err)
	var records [][]byte
	for _, s := range sources {
		r, err := shard.Open(t.Context(), s.Path, tfrecord.ReaderOptions{})
		settest.Check(t, err)
		for record, err := range r.All() {
			settest.Check(t, err)
			records = append(records, slices.Clone(record))
		}
		settest.Check(t, r.Close())
	}
	return records
}

// TestMergeOfIntegerLabels checks that classes 0 to N-1 are their own ids in the union, too.
func TestMergeOfIntegerLabels(t *testing.T) {
	digits := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprint(i))
		}
		return names
	}
	a, b := labelledSet(t, 20, digits(10)...), labelledSet(t, 30, digits(12)...)
	out := filepath.Join(t.TempDir(), "out")
	_, err := Merge(context.Background(), []string{b, a}, out, Options{Shards: 1})
	settest.Check(t, err)
	if m := settest.ManifestOf(t, out); !slices.Equal(m.Labels, digits(12)) {
		t.Errorf("labels %q", m.Labels)
	}
	for i, record := range payloadsOf(t, out) {
		var e tfrecord.Example
		settest.Check(t, e.Parse(record))
		label, _ := e.Get("label")
		text, _ := e.Get("text")
		id, _ := label.Int64()
		if name, _ := text.Bytes(); string(name) != fmt.Sprint(id) {
			t.Errorf("record %d: label %d is %s", i, id, name)
		}
	}
}

func TestMergeRefusesWhatDoesNotFit(t *testing.T) {
	named := labelledSet(t, 4, "cat", "dog")
	bare := settest.ExampleFile(t, filepath.Join(t.TempDir(), "bare.tfrecord"), 4, func(i int, b *tfrecord.Builder) { b.Int64("label", 1) })
	unnamed := madeSet(t, 4, 1, []string{}, func(i int, b *tfrecord.Builder) { b.Int64("label", 1) })
	unknown := madeSet(t, 4, 1, nil, func(i int, b *tfrecord.Builder) { b.Int64("label", 1) })
	several := madeSet(t, 4, 1, nil, func(i int, b *tfrecord.Builder) { b.Int64("label", 1, 0) })
	float := madeSet(t, 4, 1, nil, func(i int, b *tfrecord.Builder) { b.Float("label", 1) })
	twice := labelledSet(t, 4, "cat", "cat")
	far := madeSet(t, 4, 1, []string{"ant", "cat"}, func(i int, b *tfrecord.Builder) { b.Int64("label", 7) })
	for name, c := range map[string]struct {
		in   []string
		want string
	}{
		"a file":               {[]string{named, bare}, "no manifest that says what its label ids mean"},
		"no names":             {[]string{named, unnamed}, "label ids without names"},
		"not known for labels": {[]string{named, unknown}, "label ids without names"},
		"several labels":       {[]string{several, named}, "label ids without names"},
		"another kind":         {[]string{unnamed, float}, `feature "label" is int64 in some inputs and float in others`},
		"names repeated":       {[]string{named, twice}, "two labels with the same name"},
		"no such id":           {[]string{named, far}, "no label has id 7"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Merge(context.Background(), c.in, out, Options{Union: true}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		settest.NothingAt(t, out)
	}
}

// TestFeaturesOfBareFiles infers the features of files without a manifest, with label names from
// the file that TFDS writes.
func TestFeaturesOfBareFiles(t *testing.T) {
	dir := t.TempDir()
	settest.ExampleFile(t, filepath.Join(dir, "x-train.tfrecord-00000-of-00001"), 9, func(i int, b *tfrecord.Builder) {
		b.Int64("image/label", int64(i%2))
		b.Float("box", make([]float32, 4)...)
		b.Float("scores", make([]float32, i)...)
		b.String("name", "ä")
		b.Bytes("raw", []byte{0xff, 0})
		b.Bytes("png", []byte("\x89PNG\r\n\x1a\n..."))
		if i > 0 {
			b.Int64("some", 1)
		}
		if i%2 == 0 {
			b.Int64("mixed", 1)
		} else {
			b.Float("mixed", 1)
		}
	})
	settest.Check(t, os.WriteFile(filepath.Join(dir, "image.label.labels.txt"), []byte("cat\ndog\n"), 0o644))
	out := filepath.Join(t.TempDir(), "out")
	report, err := Reshard(context.Background(), []string{dir}, out, ReshardOptions{Options: Options{Shards: 2}})
	settest.Check(t, err)
	m := settest.ManifestOf(t, out)
	want := []manifest.Feature{
		{Key: "box", Kind: "float", Class: manifest.ClassVector, Shape: []int{4}},
		{Key: "image/label", Kind: "int64", Class: manifest.ClassLabel},
		{Key: "name", Kind: "bytes", Class: manifest.ClassText},
		{Key: "png", Kind: "bytes", Class: manifest.ClassImage, Shape: []int{-1, -1, 3}, DType: "uint8", Encoding: "png"},
		{Key: "raw", Kind: "bytes", Class: manifest.ClassScalar},
		{Key: "scores", Kind: "float", Class: manifest.ClassVector, Shape: []int{-1}},
		{Key: "some", Kind: "int64", Class: manifest.ClassScalar, Optional: true},
	}
	if fmt.Sprint(m.Features) != fmt.Sprint(want) || m.Records != manifest.RecordExample || m.Name != "x" {
		t.Errorf("%s of %s:\n%v, want\n%v", m.Name, m.Records, m.Features, want)
	}
	if !slices.Equal(m.Labels, []string{"cat", "dog"}) || m.Splits[0].Shards[0].Labels["cat"]+m.Splits[0].Shards[1].Labels["cat"] != 5 {
		t.Errorf("labels %q, counts %v", m.Labels, m.Splits[0].Shards)
	}
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0], `"mixed"`) {
		t.Errorf("notes %q do not name the feature of two kinds", report.Notes)
	}
	// Together with a set of the same features, a feature that either lacks is optional.
	other := madeSet(t, 3, 1, nil, func(i int, b *tfrecord.Builder) { b.String("name", "x") })
	merged := filepath.Join(t.TempDir(), "merged")
	_, err = Merge(context.Background(), []string{out, other}, merged, Options{Union: true})
	settest.Check(t, err)
	for _, f := range settest.ManifestOf(t, merged).Features {
		if f.Optional != (f.Key != "name") {
			t.Errorf("merged: %+v", f)
		}
	}
	// Records that are not Examples are copied all the same.
	junk := filepath.Join(t.TempDir(), "junk.tfrecord")
	settest.PutFile(t, junk, tfrecord.AppendFrame(nil, []byte("no example")))
	raw := filepath.Join(t.TempDir(), "raw")
	_, err = Reshard(context.Background(), []string{junk}, raw, ReshardOptions{})
	settest.Check(t, err)
	if m := settest.ManifestOf(t, raw); m.Records != "" || len(m.Features) != 0 {
		t.Errorf("records that are no Examples are called %q with features %v", m.Records, m.Features)
	}
}

// TestReshardFilesOfOthers reshards files written by other tools, one at a time: all of their
// records are kept, in order.
func TestReshardFilesOfOthers(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "data", "tfrecords")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no files of others beside the repository")
	}
	files := 0
	settest.Check(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || shard.Describes(d.Name()) || slices.Contains([]string{".tsv", ".json", ".txt", ".md"}, filepath.Ext(path)) {
			return err
		}
		if report, err := verify.Files(context.Background(), []string{path}, verify.Options{}); err != nil || !report.OK || report.Records == 0 {
			return err // not a TFRecord file, or empty
		}
		files++
		out := filepath.Join(t.TempDir(), "out")
		_, err = Reshard(context.Background(), []string{path}, out, ReshardOptions{Options: Options{Name: "x", Shards: 2}})
		settest.Check(t, err)
		report, err := verify.Files(context.Background(), []string{out}, verify.Options{})
		settest.Check(t, err)
		if !report.OK || !slices.EqualFunc(payloadsOf(t, out), payloadsOf(t, path), slices.Equal) {
			t.Errorf("%s: not what it was: %v", path, report.Faults)
		}
		return nil
	}))
	if files < 10 {
		t.Errorf("only %d files", files)
	}
}
