package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

func adopt(t *testing.T, dir string, o AdoptOptions) *AdoptReport {
	t.Helper()
	report, err := Adopt(context.Background(), dir, o)
	settest.Check(t, err)
	return report
}

func splitNames(r *AdoptReport) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.Splits)) {
		names = append(names, fmt.Sprintf("%s:%d/%d", name, r.Splits[name].Records, r.Splits[name].Shards))
	}
	return strings.Join(names, " ")
}

func TestAdoptTellsSplitsAndNames(t *testing.T) {
	one := settest.FileOf(settest.Photo(0, "ant"))
	for _, c := range []struct {
		files, splits, name string
		tfds                bool
	}{
		{"birds-train.tfrecord-00000-of-00002 birds-train.tfrecord-00001-of-00002 birds-val.tfrecord-00000-of-00001", "train:2/2 val:1/1", "birds", true},
		{"train-00000-of-00002 train-00001-of-00002 validation-00000-of-00001", "train:2/2 validation:1/1", "shards", true},
		{"part-00000-of-00002.tfrecords part-00001-of-00002.tfrecords", "train:2/2", "shards", true},
		{"a.tfrecord b.tfrecord", "train:2/2", "shards", false},
		{"flowers_train.tfrecord flowers_test.tfrecord", "test:1/1 train:1/1", "shards", true},
		{"train00-2071.tfrec train01-2071.tfrec val00-9.tfrec", "train:2/2 val:1/1", "shards", false},
	} {
		dir := filepath.Join(t.TempDir(), "shards")
		for _, file := range strings.Fields(c.files) {
			settest.PutFile(t, filepath.Join(dir, file), one)
		}
		report := adopt(t, dir, AdoptOptions{})
		if got := splitNames(report); got != c.splits || report.Name != c.name || report.TFDS != c.tfds || report.Status != "written" {
			t.Errorf("%s: %s, name %s, TFDS %v, %s", c.files, got, report.Name, report.TFDS, report.Status)
		}
		_, err := os.Stat(filepath.Join(dir, manifest.TFDSInfoFile))
		if (err == nil) != c.tfds {
			t.Errorf("%s: %s: %v", c.files, manifest.TFDSInfoFile, err)
		}
		for _, file := range strings.Fields(c.files) {
			if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(got, one) {
				t.Errorf("%s is another file: %v", file, err)
			}
		}
		verified(t, dir)
		if again := adopt(t, dir, AdoptOptions{}); again.Status != "up_to_date" || len(again.Changes) > 0 {
			t.Errorf("again: %+v", again)
		}
		if again := adopt(t, dir, AdoptOptions{Check: true}); again.Status != "up_to_date" {
			t.Errorf("a check: %+v", again)
		}
	}
}

func TestAdoptInfersFeatures(t *testing.T) {
	dir := t.TempDir()
	settest.PutFile(t, filepath.Join(dir, "x-train.tfrecord-00000-of-00001"), settest.FileOf(settest.Photo(2, "cat"), settest.Photo(0, "ant")))
	report := adopt(t, dir, AdoptOptions{})
	m, err := manifest.Read(t.Context(), filepath.Join(dir, manifest.File))
	settest.Check(t, err)
	want := []manifest.Feature{
		{Key: "bbox", Kind: "float", Class: manifest.ClassVector, Shape: []int{4}},
		{Key: "image/class/label", Kind: "int64", Class: manifest.ClassLabel},
		{Key: "image/class/text", Kind: "bytes", Class: manifest.ClassText},
		{Key: "image/encoded", Kind: "bytes", Class: manifest.ClassImage, Shape: []int{-1, -1, 3}, DType: "uint8", Encoding: "jpeg"},
	}
	if diff := cmp.Diff(want, m.Features); diff != "" {
		t.Error(diff)
	}
	if want := []string{"ant", "unseen_1", "cat"}; !slices.Equal(m.Labels, want) || report.Label != "image/class/label" {
		t.Errorf("labels %q of %s", m.Labels, report.Label)
	}
	if got := m.Splits[0].Shards[0].Labels; !cmp.Equal(got, map[string]int64{"ant": 1, "cat": 1}) {
		t.Errorf("counts %v", got)
	}
}

// TestAdoptFindsDepth: images are of 16 bits if all of them are PNGs of 16 bits.
func TestAdoptFindsDepth(t *testing.T) {
	deep, shallow := image.NewGray16(image.Rect(0, 0, 2, 3)), image.NewGray(image.Rect(0, 0, 2, 3))
	for want, images := range map[string][]image.Image{
		"uint16 png": {deep, deep}, "uint8 png": {deep, shallow, deep},
	} {
		var data []byte
		for _, m := range images {
			var b tfrecord.Builder
			b.Bytes("image", testpng.Encode(m))
			data = tfrecord.AppendFrame(data, b.Append(nil))
		}
		dir := t.TempDir()
		settest.PutFile(t, filepath.Join(dir, "x-train.tfrecord-00000-of-00001"), data)
		adopt(t, dir, AdoptOptions{})
		m, err := manifest.Read(t.Context(), filepath.Join(dir, manifest.File))
		settest.Check(t, err)
		if f := m.Features[0]; f.Class != manifest.ClassImage || f.DType+" "+f.Encoding != want {
			t.Errorf("%+v, want %s", f, want)
		}
	}
}

func TestAdoptFindsLabels(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		o      AdoptOptions
		texts  bool
		labels string // or part of the error
	}{
		{"given", nil, AdoptOptions{Labels: []string{"a", "b"}}, true, "a b"},
		{"too few given", nil, AdoptOptions{Labels: []string{"a"}}, true, "is 1 in some records, but there are 1 label names"},
		{"labels.txt", map[string]string{"labels.txt": "x\ny\nz\n"}, AdoptOptions{}, false, "x y z"},
		{"labels.txt with ids", map[string]string{"labels.txt": "1:y\n0:x\n"}, AdoptOptions{}, false, "x y"},
		{"TFDS's", map[string]string{"image.class.label.labels.txt": "p\nq\n", "labels.txt": "x\ny\n"}, AdoptOptions{}, true, "p q"},
		{"texts", nil, AdoptOptions{}, true, "bee ant"},
		{"nobody", nil, AdoptOptions{}, false, ""},
		{"another feature", nil, AdoptOptions{Label: "bbox"}, false, "cannot be the label"},
		{"no feature", nil, AdoptOptions{Label: "kind"}, false, "no record has the label feature"},
		{"names twice", map[string]string{"labels.txt": "x\nx\n"}, AdoptOptions{}, false, "the ids 0 and 1 are both"},
	} {
		dir := t.TempDir()
		texts := []string{"bee", "ant"}
		if !c.texts {
			texts = []string{"", ""}
		}
		settest.PutFile(t, filepath.Join(dir, "x-train.tfrecord-00000-of-00001"), settest.FileOf(settest.Photo(0, texts[0]), settest.Photo(1, texts[1])))
		for name, text := range c.files {
			settest.PutFile(t, filepath.Join(dir, name), []byte(text))
		}
		report, err := Adopt(context.Background(), dir, c.o)
		got := ""
		if err != nil {
			if got = err.Error(); strings.Contains(got, c.labels) && c.labels != "" {
				continue
			}
		} else {
			got = strings.Join(report.Labels, " ")
		}
		if got != c.labels {
			t.Errorf("%s: %s, want %s", c.name, got, c.labels)
		}
	}
}

func TestAdoptChecksBeforeItWrites(t *testing.T) {
	good := settest.FileOf(settest.Photo(0, "ant"), settest.Photo(1, "bee"))
	for name, files := range map[string]map[string][]byte{
		"damage":          {"a-train.tfrecord-00000-of-00001": slices.Concat(good[:30], []byte{1}, good[31:])},
		"a missing shard": {"a-train.tfrecord-00000-of-00002": good},
	} {
		dir := t.TempDir()
		for file, data := range files {
			settest.PutFile(t, filepath.Join(dir, file), data)
		}
		report := adopt(t, dir, AdoptOptions{})
		if report.Status != "damaged" || len(report.Faults) != 1 {
			t.Errorf("%s: %+v", name, report)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("%s: left behind: %v", name, list)
		}
	}
	dir := t.TempDir()
	settest.PutFile(t, filepath.Join(dir, "a-train.tfrecord-00000-of-00001"), good)
	if report := adopt(t, dir, AdoptOptions{Check: true}); report.Status != "differs" || len(report.Changes) != 5 {
		t.Errorf("a check: %+v", report)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("a check left behind: %v", list)
	}
	settest.PutFile(t, filepath.Join(dir, manifest.File), []byte(`{"format": "of another tool"}`))
	if _, err := Adopt(context.Background(), dir, AdoptOptions{}); err == nil || !strings.Contains(err.Error(), "another tool") {
		t.Errorf("a manifest of another tool: %v", err)
	}
}

func TestAdoptKeepsWhatTFDSWrote(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{manifest.TFDSInfoFile, manifest.TFDSFeaturesFile, "image.class.label.labels.txt"} {
		data, err := os.ReadFile(filepath.Join("../../testdata/tfds", name))
		settest.Check(t, err)
		settest.PutFile(t, filepath.Join(dir, name), data)
	}
	one, two := settest.Photo(0, "cat"), settest.Photo(1, "dog")
	// dataset_info.json has 6 and 2.
	settest.PutFile(t, filepath.Join(dir, "bf-train.tfrecord-00000-of-00001"), settest.FileOf(one, two, one, two, one))
	settest.PutFile(t, filepath.Join(dir, "bf-val.tfrecord-00000-of-00001"), settest.FileOf(one, two))
	features, err := os.ReadFile(filepath.Join(dir, manifest.TFDSFeaturesFile))
	settest.Check(t, err)
	report := adopt(t, dir, AdoptOptions{})
	if !report.TFDS || report.Name != "bf" || splitNames(report) != "train:5/1 val:2/1" || report.Label != "image/class/label" {
		t.Errorf("%+v", report)
	}
	if now, err := os.ReadFile(filepath.Join(dir, manifest.TFDSFeaturesFile)); err != nil || !bytes.Equal(now, features) {
		t.Error("features.json is another one")
	}
	data, err := os.ReadFile(filepath.Join(dir, manifest.TFDSInfoFile))
	settest.Check(t, err)
	var info struct {
		ModuleName string
		Splits     []struct{ ShardLengths []string }
	}
	settest.Check(t, json.Unmarshal(data, &info))
	if info.ModuleName != "__main__" || !slices.Equal(info.Splits[0].ShardLengths, []string{"5"}) {
		t.Errorf("%s", data)
	}
	verified(t, dir)
	if again := adopt(t, dir, AdoptOptions{}); again.Status != "up_to_date" {
		t.Errorf("again: %+v", again)
	}
}

func TestAdoptRenames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My Birds")
	first, second := settest.FileOf(settest.Photo(0, "ant")), settest.FileOf(settest.Photo(1, "bee"), settest.Photo(0, "ant"))
	settest.PutFile(t, filepath.Join(dir, "a.tfrecord"), first)
	settest.PutFile(t, filepath.Join(dir, "b.tfrecord"), second)
	_, err := Index(context.Background(), []string{dir}, IndexOptions{})
	settest.Check(t, err)
	report := adopt(t, dir, AdoptOptions{Rename: true, Check: true})
	if report.Status != "differs" || report.Changes[0] != (Change{"my_birds-train.tfrecord-00000-of-00002", "a.tfrecord"}) {
		t.Errorf("%+v", report)
	}
	// The state after a run was killed between two renames.
	d, err := setdir.Open(context.Background(), dir, setdir.Options{})
	settest.Check(t, err)
	settest.Check(t, d.State().Put(setdir.RenamesFile, renameJournal{renamesFormat, renamesVersion, []rename{
		{From: "a.tfrecord", To: "my_birds-train.tfrecord-00000-of-00002"}, {From: "b.tfrecord", To: "my_birds-train.tfrecord-00001-of-00002"},
	}}))
	settest.Check(t, os.Rename(filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "my_birds-train.tfrecord-00000-of-00002")))
	settest.Check(t, d.Close())
	report = adopt(t, dir, AdoptOptions{Rename: true})
	if !report.TFDS || report.Status != "written" {
		t.Errorf("%+v", report)
	}
	for file, want := range map[string][]byte{"my_birds-train.tfrecord-00000-of-00002": first, "my_birds-train.tfrecord-00001-of-00002": second} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	verified(t, dir)
	if list, _ := os.ReadDir(filepath.Join(dir, manifest.IndexDir)); len(list) != 2 {
		t.Errorf("indexes: %v", list)
	}
	if again := adopt(t, dir, AdoptOptions{Rename: true}); again.Status != "up_to_date" {
		t.Errorf("again: %+v", again)
	}
}

func TestAdoptRenewsOurOwn(t *testing.T) {
	dir := t.TempDir()
	before := settest.Labelled(t, dir, tfrecord.CompressionNone)
	if report := adopt(t, dir, AdoptOptions{}); report.Status != "up_to_date" {
		t.Errorf("%+v", report)
	}
	file := before.Splits[0].Shards[1].File
	records := settest.RecordsOf(t, filepath.Join(dir, file))
	settest.PutFile(t, filepath.Join(dir, file), settest.FileOf(records[:5]...))
	adopt(t, dir, AdoptOptions{})
	verified(t, dir)
	m, err := manifest.Read(t.Context(), filepath.Join(dir, manifest.File))
	settest.Check(t, err)
	if m.Splits[0].Records != 29 || !slices.Equal(m.Labels, before.Labels) || m.Splits[0].Shards[0].Fingerprint != before.Splits[0].Shards[0].Fingerprint {
		t.Errorf("%+v", m)
	}
}

// An unusable journal of renames is an error, and nothing is renamed or described: half of the
// names in the directory are old, half are new.
func TestAdoptRefusesAJournalThatItCannotUse(t *testing.T) {
	for _, journal := range []string{"", "{", `[{"from":"a.tfrecord","to":"b.tfrecord"}]`, `{"format":"tfrec.renames","version":2,"renames":[]}`} {
		dir := filepath.Join(t.TempDir(), "birds")
		settest.PutFile(t, filepath.Join(dir, "a.tfrecord"), settest.FileOf(settest.Photo(0, "ant")))
		settest.PutFile(t, filepath.Join(dir, shard.StateDir, setdir.RenamesFile), []byte(journal))
		before := settest.FilesOf(t, dir)
		for _, check := range []bool{false, true} {
			_, err := Adopt(context.Background(), dir, AdoptOptions{Check: check})
			if err == nil || !strings.Contains(err.Error(), "renam") {
				t.Errorf("%q, check %v: %v", journal, check, err)
			}
		}
		if !settest.SameFiles(before, settest.FilesOf(t, dir)) {
			t.Errorf("%q: it holds %v", journal, slices.Sorted(maps.Keys(settest.FilesOf(t, dir))))
		}
	}
}

// A manifest that cannot be read is an error; only a damaged one is written again.
func TestAdoptReadsTheManifestOrFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "birds")
	settest.PutFile(t, filepath.Join(dir, "a.tfrecord"), settest.FileOf(settest.Photo(0, "ant")))
	path := filepath.Join(dir, manifest.File)
	if err := os.Symlink(manifest.File, path); err != nil { // ELOOP is as good as EIO
		t.Skip(err)
	}
	if report, err := Adopt(context.Background(), dir, AdoptOptions{}); err == nil {
		t.Errorf("adopted: %+v", report)
	}
	file := filepath.Join(dir, "a.tfrecord")
	settest.FlipIn(t, file, 40)
	if _, err := InPlace(context.Background(), file, Options{}); err == nil {
		t.Error("a file whose manifest cannot be read was repaired as one that has none")
	}
	settest.Check(t, os.Remove(path))
	settest.Check(t, os.WriteFile(path, []byte(`{"format":"tfrec.manifest","ver`), 0o644))
	settest.FlipIn(t, file, 40)
	_, err := Adopt(context.Background(), dir, AdoptOptions{})
	settest.Check(t, err)
	verified(t, dir)
}

// If an interrupted Adopt has renamed some of the shards, other verbs say so, whatever the manifest
// or the names imply, and do not use a part of them. Adopt completes the renames.
func TestHalfRenamedShardsAreRefused(t *testing.T) {
	for _, seed := range torture.Seeds(12, 200) {
		r := rand.New(rand.NewPCG(seed, 73))
		dir := filepath.Join(t.TempDir(), "birds")
		shards := 2 + r.IntN(5)
		var list []rename
		habit := []string{"part%d.tfrecord", "old-train.tfrecord-%05d-of-99999", "x-%d.tfrecords"}[r.IntN(3)]
		habit = strings.Replace(habit, "99999", fmt.Sprintf("%05d", shards), 1)
		for i := range shards {
			from := fmt.Sprintf(habit, i)
			settest.PutFile(t, filepath.Join(dir, from), settest.FileOf(settest.Photo(0, "ant")))
			list = append(list, rename{From: from, To: shard.Name{Dataset: "birds", Split: "train", Index: i, Count: shards}.String()})
		}
		if r.IntN(2) == 0 {
			adopt(t, dir, AdoptOptions{})
		}
		d, err := setdir.Open(t.Context(), dir, setdir.Options{})
		settest.Check(t, err)
		settest.Check(t, d.State().Put(adoptingFile, adopting{true}))
		settest.Check(t, d.State().Put(setdir.RenamesFile, renameJournal{renamesFormat, renamesVersion, list}))
		for _, moved := range list[:r.IntN(shards+1)] {
			settest.Check(t, os.Rename(filepath.Join(dir, moved.From), filepath.Join(dir, moved.To)))
		}
		settest.Check(t, d.Close())

		want := "repair.Adopt " + dir + " completes it"
		paths := []string{dir, filepath.Dir(dir) + "/b*"}
		if _, err := os.Stat(filepath.Join(dir, manifest.File)); err == nil {
			paths = append(paths, filepath.Join(dir, manifest.File))
		}
		for _, path := range paths {
			for _, partial := range []bool{false, true} {
				var half *shard.IncompleteError
				if _, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{Partial: partial}); !errors.As(err, &half) || half.Evidence != shard.ByRenames || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, partial %v: %v", path, partial, err)
				}
				report, err := verify.Files(t.Context(), []string{path}, verify.Options{Partial: partial})
				if err != nil || report.OK || len(report.Faults) != 1 || !strings.Contains(report.Faults[0].Message, want) {
					t.Errorf("%s, partial %v: %v, %+v", path, partial, err, report)
				}
			}
		}
		for _, partial := range []bool{false, true} {
			if _, err := Copy(t.Context(), dir, filepath.Join(t.TempDir(), "repaired"), Options{Partial: partial}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("repaired, partial %v: %v", partial, err)
			}
		}
		if report := adopt(t, dir, AdoptOptions{}); report.Status != "written" {
			t.Errorf("adopted again: %+v", report)
		}
		verified(t, dir)
		for _, moved := range list {
			if _, err := os.Stat(filepath.Join(dir, moved.To)); err != nil {
				t.Error(err)
			}
		}
	}
}

// An unreadable journal of interrupted renames is an error, not a missing journal.
func TestUnreadableRenamesAreAnError(t *testing.T) {
	t.Parallel()
	dir, err := setdir.Open(t.Context(), t.TempDir(), setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	settest.Check(t, dir.State().Put(setdir.RenamesFile, renameJournal{}))
	failing := inject.With(t.Context(), func(string) error { return syscall.EIO })
	if err := finishRenames(setdir.View(failing, dir.Path())); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v, want EIO", err)
	}
}
