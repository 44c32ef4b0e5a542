package stats

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

func inspect(t *testing.T, o InspectOptions, paths ...string) *Summary {
	t.Helper()
	sum, err := Inspect(context.Background(), paths, o)
	check(t, err)
	return sum
}

// writeExamples writes Examples to a file and returns its path.
func writeExamples(t *testing.T, path string, examples ...func(b *tfrecord.Builder)) string {
	t.Helper()
	var data []byte
	for _, build := range examples {
		var b tfrecord.Builder
		build(&b)
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	check(t, os.WriteFile(path, data, 0o644))
	return path
}

func TestInspectFeatures(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	path := writeExamples(t, filepath.Join(t.TempDir(), "x.tfrecord"),
		func(b *tfrecord.Builder) {
			b.Int64("i", 3)
			b.Float("f", 1, nan, -2.5)
			b.String("s", "text")
			b.String("mixed", "x")
			b.Bytes("p", []byte("\xff\xd8\xff\xe0..."))
		},
		func(b *tfrecord.Builder) {
			b.Int64("i", -7, math.MaxInt64)
			b.Float("f", inf)
			b.String("s", "")
			b.Int64("mixed", 1)
			b.Bytes("p", []byte("\x89PNG\r\n\x1a\n"), []byte{0})
		},
		func(b *tfrecord.Builder) {})
	sum := inspect(t, InspectOptions{}, path)
	want := []FeatureSummary{
		{Key: "f", Records: 2, Missing: 1, Kinds: map[string]int64{"float": 2}, Values: Range{1, 3}, Float: &FloatRange{-2.5, 1}, NaNs: 1, Infinities: 1},
		{Key: "i", Records: 2, Missing: 1, Kinds: map[string]int64{"int64": 2}, Values: Range{1, 2}, Int64: &Range{-7, math.MaxInt64}},
		{Key: "mixed", Records: 2, Missing: 1, Kinds: map[string]int64{"bytes": 1, "int64": 1}, Values: Range{1, 1}, Int64: &Range{1, 1}, Bytes: &Range{1, 1}, Text: true},
		{Key: "p", Records: 2, Missing: 1, Kinds: map[string]int64{"bytes": 2}, Values: Range{1, 2}, Bytes: &Range{1, 8}, Formats: map[string]int64{"jpeg": 1, "png": 1}},
		{Key: "s", Records: 2, Missing: 1, Kinds: map[string]int64{"bytes": 2}, Values: Range{1, 1}, Bytes: &Range{0, 4}, Text: true},
	}
	if diff := cmp.Diff(want, sum.Features); diff != "" {
		t.Error(diff)
	}
	if sum.Records != 3 || sum.RecordBytes.Min != 2 || sum.Messages[manifest.RecordExample] != 3 || len(sum.FeatureLists) != 0 {
		t.Errorf("%+v", sum)
	}
}

func TestInspectOthersFiles(t *testing.T) {
	sum := inspect(t, InspectOptions{}, filepath.Join(others, "torchdata-sequence_example.tfrecord"))
	wantLists := []FeatureSummary{
		{Key: "x_byte_seq", Records: 4, Kinds: map[string]int64{"bytes": 24}, Steps: &Range{3, 9}, Values: Range{1, 1}, Bytes: &Range{8, 8}, Text: true},
		{Key: "x_float_seq", Records: 4, Kinds: map[string]int64{"float": 24}, Steps: &Range{3, 9}, Values: Range{10, 10}, Float: &FloatRange{0, 39}},
		{Key: "x_int_seq", Records: 4, Kinds: map[string]int64{"int64": 24}, Steps: &Range{3, 9}, Values: Range{10, 10}, Int64: &Range{0, 390}},
	}
	if diff := cmp.Diff(wantLists, sum.FeatureLists); diff != "" || len(sum.Features) != 3 {
		t.Errorf("%d features of contexts\n%s", len(sum.Features), diff)
	}
	if sum.RecordBytes != (Sizes{389, 674, 948}) || sum.Bytes != 2760 {
		t.Errorf("sizes %+v, %d bytes", sum.RecordBytes, sum.Bytes)
	}

	sum = inspect(t, InspectOptions{}, others+"/[a-z]*")
	if want := map[string]int64{"none": 6, "gzip": 4}; !cmp.Equal(want, sum.Compression) {
		t.Errorf("compression %v, want %v", sum.Compression, want)
	}
	want := map[string]int64{
		"tf.train.Example": 14, "tf.train.SequenceExample": 7,
		"tensorflow.serving.ExampleListWithContext": 10, "tensorflow.Event": 1, "unknown": 8,
	}
	if !cmp.Equal(want, sum.Messages) {
		t.Errorf("messages %v, want %v", sum.Messages, want)
	}
}

func TestInspectLabels(t *testing.T) {
	id := func(n int64) *int64 { return &n }
	labelled := func(label int64, text string) func(b *tfrecord.Builder) {
		return func(b *tfrecord.Builder) {
			b.Int64("image/class/label", label)
			if text != "" {
				b.String("image/class/text", text)
			}
			b.String("label", "yes")
			b.Int64("boxes/label", 1, 2) // several values: not a label of the record
		}
	}
	plain := t.TempDir()
	writeExamples(t, filepath.Join(plain, "x.tfrecord"), labelled(1, "rose"), labelled(1, "rose"), labelled(4, ""))
	text := LabelCounts{Key: "label", Counts: []Label{{Name: "yes", Records: 3}}}

	t.Run("named by the records", func(t *testing.T) {
		want := []LabelCounts{{Key: "image/class/label", Counts: []Label{{id(1), "rose", 2}, {ID: id(4), Records: 1}}}, text}
		if diff := cmp.Diff(want, inspect(t, InspectOptions{}, plain).Labels); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("limited", func(t *testing.T) {
		want := []LabelCounts{{Key: "image/class/label", Counts: []Label{{id(1), "rose", 2}}, Omitted: 1}, text}
		if diff := cmp.Diff(want, inspect(t, InspectOptions{MaxLabels: 1}, plain).Labels); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("named by TFDS", func(t *testing.T) {
		check(t, os.WriteFile(filepath.Join(plain, "image.class.label.labels.txt"), []byte("a\nb\nc\nd\ne\n"), 0o644))
		want := []LabelCounts{{Key: "image/class/label", Counts: []Label{{id(1), "b", 2}, {id(4), "e", 1}}}, text}
		if diff := cmp.Diff(want, inspect(t, InspectOptions{}, plain).Labels); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("named by a manifest", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		var b tfrecord.Builder
		b.Int64("kind", 1)
		m := writeSet(t, out, 2, func(yield func([]byte)) { yield(b.Append(nil)) })
		m.Labels = []string{"background", "penguin"}
		m.Features = []manifest.Feature{{Key: "kind", Kind: "int64", Class: manifest.ClassLabel}}
		dir, err := setdir.Open(context.Background(), out, setdir.Options{})
		check(t, err)
		defer dir.Close()
		putManifest(t, dir, m)
		want := []LabelCounts{{Key: "kind", Counts: []Label{{id(1), "penguin", 2}}}}
		sum := inspect(t, InspectOptions{}, out)
		if diff := cmp.Diff(want, sum.Labels); diff != "" || sum.Files[0].Split != "train" {
			t.Errorf("split %q\n%s", sum.Files[0].Split, diff)
		}
	})
}

// TestInspectIsTheSameForAnyWorkers uses limits that cut in the middle.
func TestInspectIsTheSameForAnyWorkers(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		var examples []func(b *tfrecord.Builder)
		for k := range 5 {
			examples = append(examples, func(b *tfrecord.Builder) {
				b.Int64(fmt.Sprintf("f%d", (i*7+k)%20), int64(k))
				b.Int64("label", int64((i*3+k)%11))
			})
		}
		writeExamples(t, filepath.Join(dir, fmt.Sprintf("%02d.tfrecord", i)), examples...)
	}
	o := InspectOptions{Workers: 1, First: 7, MaxFeatures: 9, MaxLabels: 6}
	want := inspect(t, o, dir)
	if len(want.First) != 7 || len(want.Features) != 9 || want.FeaturesOmitted == 0 || len(want.Labels[0].Counts) != 6 || want.Labels[0].Omitted == 0 {
		t.Fatalf("limits do not cut: %+v", want)
	}
	for _, workers := range []int{2, 16} {
		o.Workers = workers
		if diff := cmp.Diff(want, inspect(t, o, dir)); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
	}
	if r := want.First[6]; r.Record != 1 || filepath.Base(r.Path) != "01.tfrecord" || r.Offset == 0 || message.Of(r.Data) != message.Example {
		t.Errorf("seventh record: %+v", r)
	}
}

func TestInspectDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	var data []byte
	for range 4 {
		data = tfrecord.AppendFrame(data, []byte{1, 2})
	}
	data[12]++
	check(t, os.WriteFile(path, data[:len(data)-1], 0o644))
	sum := inspect(t, InspectOptions{}, path)
	if sum.Records != 2 || len(sum.Faults) != 2 || sum.Faults[0].Record != 0 || sum.Faults[1].Record != 3 {
		t.Errorf("%+v", sum)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Inspect(ctx, []string{path}, InspectOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// BenchmarkInspect reads table-like Examples of 32 floats.
func BenchmarkInspect(b *testing.B) {
	var builder tfrecord.Builder
	for i := range 32 {
		builder.Float(fmt.Sprintf("column%02d", i), float32(i))
	}
	record := builder.Append(nil)
	dir := filepath.Join(b.TempDir(), "out")
	writeSet(b, dir, 2, func(yield func([]byte)) {
		for range 5000 {
			yield(record)
		}
	})
	b.SetBytes(int64(10_000 * len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Inspect(context.Background(), []string{dir}, InspectOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
