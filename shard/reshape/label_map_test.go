package reshape

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// objectRecords writes n records with up to two objects each into a directory, with a label map: no
// manifest. It returns the directory.
func objectRecords(t *testing.T, n int, classes map[int64]string) string {
	t.Helper()
	dir := t.TempDir()
	ids := slices.Sorted(maps.Keys(classes))
	settest.ExampleFile(t, filepath.Join(dir, "made-train.tfrecord-00000-of-00001"), n, func(i int, b *tfrecord.Builder) {
		var labels []int64
		var texts []string
		for k := range i % 3 {
			id := ids[(i+k)%len(ids)]
			labels, texts = append(labels, id), append(texts, classes[id])
		}
		b.Int64("id", int64(i))
		b.Int64(objects.KeyLabel, labels...)
		b.String(objects.KeyText, texts...)
	})
	putLabelMap(t, dir, classes)
	return dir
}

// putLabelMap writes a label map as people do.
func putLabelMap(t *testing.T, dir string, classes map[int64]string) {
	t.Helper()
	text := "# classes\n"
	for id, name := range classes {
		text += fmt.Sprintf("item { name: '%s' id: %d }\n", name, id)
	}
	settest.PutFile(t, filepath.Join(dir, manifest.LabelMapFile), []byte(text))
}

// objectSet makes a set of objectRecords.
func objectSet(t *testing.T, n int, classes map[int64]string) string {
	t.Helper()
	dir := objectRecords(t, n, classes)
	report, err := repair.Adopt(t.Context(), dir, repair.AdoptOptions{})
	settest.Check(t, err)
	if report.Label != objects.KeyLabel {
		t.Fatalf("adopted: %+v", report)
	}
	return dir
}

// checkClasses holds the label map, the manifest and the objects of a set to the classes, and
// returns the number of objects.
func checkClasses(t *testing.T, dir string, classes map[int64]string) (n int) {
	t.Helper()
	got, err := labelmap.ReadNames(t.Context(), filepath.Join(dir, manifest.LabelMapFile))
	if err != nil || !maps.Equal(got, classes) {
		t.Errorf("%v, label map %v: want %v", err, got, classes)
	}
	if m := settest.ManifestOf(t, dir); !m.LabelMap || !labelmap.Equal(classes, m.Labels) || !slices.Contains(m.Files(), manifest.LabelMapFile) {
		t.Errorf("manifest: %v, labels %q, files %q", m.LabelMap, m.Labels, m.Files())
	}
	if report, err := verify.Files(t.Context(), []string{dir}, verify.Options{}); err != nil || !report.OK {
		t.Errorf("verify: %v %+v", err, report.Faults)
	}
	for _, record := range payloadsOf(t, dir) {
		var e tfrecord.Example
		settest.Check(t, e.Parse(record))
		labels, _ := e.Get(objects.KeyLabel)
		texts, _ := e.Get(objects.KeyText)
		names := texts.AppendBytes(nil)
		for i, id := range labels.AppendInt64s(nil) {
			n++
			if name := string(names[i]); name != classes[id] {
				t.Errorf("an object of %q has the id %d, which is %q", name, id, classes[id])
			}
		}
	}
	return n
}

var gapped = map[int64]string{1: "person", 3: "car", 90: "tooth brush"}

func TestVerbsKeepTheLabelMap(t *testing.T) {
	ctx := context.Background()
	for name, run := range map[string]func(in, out string) error{
		"reshard": func(in, out string) error {
			_, err := Reshard(ctx, []string{in}, out, ReshardOptions{Options: Options{Shards: 3}})
			return err
		},
		"compressed": func(in, out string) error {
			_, err := Reshard(ctx, []string{in}, out, ReshardOptions{Options: Options{Shards: 2, Compression: tfrecord.CompressionGzip}})
			return err
		},
		"filter": func(in, out string) error {
			_, err := Filter(ctx, []string{in}, out, FilterOptions{Keep: Keep(func(context.Context, *tfrecord.Example) (bool, error) { return true, nil })})
			return err
		},
		"take": func(in, out string) error {
			_, err := Take(ctx, []string{in}, out, TakeOptions{Count: 30})
			return err
		},
		"dedupe": func(in, out string) error {
			_, err := Dedupe(ctx, []string{in}, out, DedupeOptions{})
			return err
		},
		"repair": func(in, out string) error {
			_, err := repair.Copy(ctx, in, out, repair.Options{})
			return err
		},
		"merge of equal ones": func(in, out string) error {
			_, err := Merge(ctx, []string{in, objectSet(t, 9, gapped)}, out, Options{})
			return err
		},
		"append": func(in, out string) error {
			if _, err := Merge(ctx, []string{in}, out, Options{}); err != nil {
				return err
			}
			_, err := Append(ctx, out, []string{objectSet(t, 5, map[int64]string{7: "car"})}, AppendOptions{})
			return err
		},
		"records without a manifest": func(in, out string) error {
			_, err := Merge(ctx, []string{objectRecords(t, 30, gapped)}, out, Options{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			settest.Check(t, run(objectSet(t, 30, gapped), out))
			if n := checkClasses(t, out, gapped); n < 30 {
				t.Errorf("%d objects", n)
			}
		})
	}
}

func TestMergeOfDifferentLabelMaps(t *testing.T) {
	a, b := objectSet(t, 30, gapped), objectSet(t, 20, map[int64]string{1: "car", 2: "zebra"})
	out := filepath.Join(t.TempDir(), "out")
	report, err := Merge(t.Context(), []string{a, b}, out, Options{})
	settest.Check(t, err)
	if !report.LabelsRemapped || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], " all 4 names ") {
		t.Errorf("%+v", report)
	}
	if n := checkClasses(t, out, map[int64]string{1: "car", 2: "person", 3: "tooth brush", 4: "zebra"}); n < 45 {
		t.Errorf("%d objects", n)
	}
	_, err = Merge(t.Context(), []string{objectRecords(t, 9, gapped), objectRecords(t, 9, map[int64]string{1: "car"})}, out+"2", Options{})
	if err == nil {
		t.Error("label maps that differ were merged")
	}
	settest.NothingAt(t, out+"2")
}

// TestLabelMapsOfRecordsWithoutManifest: a label map counts also if the first image has no objects,
// or the first directory no map. objectRecords' first record has no objects.
func TestLabelMapsOfRecordsWithoutManifest(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	_, err := Reshard(t.Context(), []string{objectRecords(t, 20, gapped)}, out, ReshardOptions{})
	settest.Check(t, err)
	checkClasses(t, out, gapped)
	without := objectRecords(t, 9, gapped)
	settest.Check(t, os.Remove(filepath.Join(without, manifest.LabelMapFile)))
	for name, in := range map[string][]string{
		"other names":    {objectRecords(t, 9, gapped), objectRecords(t, 9, map[int64]string{1: "car"})},
		"without first":  {without, objectRecords(t, 9, gapped)},
		"without second": {objectRecords(t, 9, gapped), without},
		"large id":       {objectRecords(t, 9, map[int64]string{1: "car", 5_000_000: "x"})},
	} {
		if _, err := Merge(t.Context(), in, out+"2", Options{}); err == nil || !strings.Contains(err.Error(), manifest.LabelMapFile) && !strings.Contains(err.Error(), "labels.txt") {
			t.Errorf("%s: %v", name, err)
		}
		settest.NothingAt(t, out+"2")
	}
}

// TestAppendRefusesIDsWithoutNames: they would get names of the set.
func TestAppendRefusesIDsWithoutNames(t *testing.T) {
	set := filepath.Join(t.TempDir(), "set")
	_, err := Merge(t.Context(), []string{objectSet(t, 30, gapped)}, set, Options{})
	settest.Check(t, err)
	in := objectRecords(t, 9, map[int64]string{1: "person", 3: "boat"})
	putLabelMap(t, in, map[int64]string{1: "person"})
	_, err = repair.Adopt(t.Context(), in, repair.AdoptOptions{})
	settest.Check(t, err)
	if _, err := Append(t.Context(), set, []string{in}, AppendOptions{}); err == nil || !strings.Contains(err.Error(), "no label has id 3") {
		t.Error(err)
	}
	checkClasses(t, set, gapped)
}

// TestOverwriteOfALabelMap: it goes with the set that names it, and a foreign one stays.
func TestOverwriteOfALabelMap(t *testing.T) {
	mapped, plain := objectSet(t, 9, gapped), madeSet(t, 9, 1, nil, settest.Numbers)
	out := filepath.Join(t.TempDir(), "out")
	file := filepath.Join(out, manifest.LabelMapFile)
	for _, in := range []string{mapped, plain, mapped} {
		_, err := Merge(t.Context(), []string{in}, out, Options{Overwrite: true, Name: "n"})
		settest.Check(t, err)
		if _, err := os.Stat(file); (err == nil) != (in == mapped) {
			t.Fatalf("overwritten by %s: %v", in, err)
		}
	}
	again, err := Merge(t.Context(), []string{mapped}, out, Options{Name: "n"})
	if err != nil || again.Status != "up_to_date" {
		t.Errorf("%v %+v", err, again)
	}
	other := filepath.Join(t.TempDir(), "other")
	if _, err := Merge(t.Context(), []string{plain}, other, Options{Name: "n"}); err != nil {
		t.Fatal(err)
	}
	settest.PutFile(t, filepath.Join(other, manifest.LabelMapFile), []byte("mine"))
	if _, err := Merge(t.Context(), []string{mapped}, other, Options{Overwrite: true, Name: "n"}); err == nil {
		t.Error("overwrote a label map that no manifest names")
	}
	if data, err := os.ReadFile(filepath.Join(other, manifest.LabelMapFile)); string(data) != "mine" {
		t.Error(err)
	}
}
