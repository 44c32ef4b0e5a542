package reshape

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// from builds records with consecutive numbers and labels, starting at a number.
func from(first int) func(i int, b *tfrecord.Builder) {
	return func(i int, b *tfrecord.Builder) {
		b.Int64("id", int64(first+i))
		b.Int64("label", int64(i%2))
	}
}

// leftInState lists the contents of .tfrec other than the lock and the state of the run that made
// the set.
func leftInState(set string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(set, shard.StateDir))
	for _, e := range entries {
		if name := shard.StateDir + "/" + e.Name(); name != place.LockFile && e.Name() != setdir.FinishedFile {
			names = append(names, name)
		}
	}
	return names
}

func TestAppend(t *testing.T) {
	ctx := context.Background()
	set := madeSet(t, 40, 3, []string{"cat", "dog"}, from(0))
	before := settest.FilesOf(t, set)
	more := madeSet(t, 10, 2, []string{"dog", "eel"}, from(100))

	if _, err := Append(ctx, set, []string{more}, AppendOptions{}); err == nil || !strings.Contains(err.Error(), `no label "eel": AppendOptions.NewLabels`) {
		t.Errorf("a label that the set does not have: %v", err)
	}
	if !settest.SameFiles(before, settest.FilesOf(t, set)) {
		t.Error("a refused append changed the set")
	}
	report, err := Append(ctx, set, []string{more}, AppendOptions{NewLabels: true})
	settest.Check(t, err)
	if report.Status != "written" || report.Records != 50 || report.Appended != 10 || report.RecordsIn != 10 || report.Shards != 4 ||
		report.ShardsWritten != 1 || report.ShardsRenamed != 3 || !slices.Equal(report.LabelsAdded, []string{"eel"}) || !report.LabelsRemapped {
		t.Errorf("%+v", report)
	}
	verified(t, set)
	m := settest.ManifestOf(t, set)
	if !slices.Equal(m.Labels, []string{"cat", "dog", "eel"}) {
		t.Errorf("labels %q", m.Labels)
	}
	after := settest.FilesOf(t, set)
	for i := range 3 {
		was, is := fmt.Sprintf("made-train.tfrecord-%05d-of-00003", i), fmt.Sprintf("made-train.tfrecord-%05d-of-00004", i)
		if before[was] != after[is] || before["index/"+was+".idx"] != after["index/"+is+".idx"] || after[was] != "" {
			t.Errorf("%s is not %s under another name", is, was)
		}
	}
	labels := settest.IDsOf(t, set, "train", "label")
	ids := settest.IDsOf(t, set, "train", "id")
	for i, id := range ids {
		want := id % 2 // of the first set
		if id >= 100 {
			want++ // dog, eel
		}
		if labels[i] != want {
			t.Errorf("record %d has label %d, want %d", id, labels[i], want)
		}
	}
	last := m.Splits[0].Shards[3]
	if last.Labels["dog"] != 5 || last.Labels["eel"] != 5 {
		t.Errorf("label counts %v", last.Labels)
	}
	if !strings.Contains(after[manifest.TFDSInfoFile], `"10"`) || after["label.labels.txt"] != "cat\ndog\neel\n" {
		t.Errorf("what TFDS reads was not renewed: %s, %q", after[manifest.TFDSInfoFile], after["label.labels.txt"])
	}
	if left, err := os.ReadDir(filepath.Join(set, shard.StateDir)); err == nil && len(left) > 1 {
		t.Errorf("left below %s: %v", shard.StateDir, left)
	}

	// Append to another split, and to one that grows; the first keeps its names.
	report, err = Append(ctx, set, []string{more}, AppendOptions{Split: "extra", Options: Options{Shards: 2}})
	settest.Check(t, err)
	if report.Splits["extra"] != (shard.SplitSummary{Records: 10, Shards: 2}) || report.Splits["train"] != (shard.SplitSummary{Records: 50, Shards: 4}) || report.ShardsRenamed != 0 {
		t.Errorf("%+v", report)
	}
	verified(t, set)
	if got := string(settest.ManifestOf(t, set).Options["appended"]); strings.Count(got, ",") != 1 {
		t.Errorf("options: appended is %s, want two fingerprints", got)
	}
	// Repeat the append, unaware that it was done.
	asked := AppendOptions{Split: "extra", Options: Options{Shards: 2}}
	for range 2 {
		before := settest.FilesOf(t, set)
		again, err := Append(ctx, set, []string{more}, asked)
		settest.Check(t, err)
		if again.Status != "up_to_date" || again.Appended != 0 || again.Records != 60 || !settest.SameFiles(before, settest.FilesOf(t, set)) {
			t.Errorf("the same records again: %+v", again)
		}
		if left := leftInState(set); len(left) > 0 {
			t.Errorf("the same records again: left %v", left)
		}
	}
	twice := settest.CopyOf(t, set)
	asked.Again = true
	if again, err := Append(ctx, twice, []string{more}, asked); err != nil || again.Appended != 10 || again.Records != 70 {
		t.Errorf("%+v, %v", again, err)
	}
	if again, err := Append(ctx, set, nil, AppendOptions{}); err != nil || again.Status != "up_to_date" || again.Records != 60 {
		t.Errorf("%+v, %v", again, err)
	}
}

// Loose files whose labels are stated to be those of the set are appended as they are; an id without a
// name is an error.
func TestAppendLooseFiles(t *testing.T) {
	set := madeSet(t, 10, 1, []string{"cat", "dog"}, from(0))
	before := settest.FilesOf(t, set)
	labelled := func(ids ...int64) string {
		return settest.ExampleFile(t, filepath.Join(t.TempDir(), "loose.tfrecord"), len(ids), func(i int, b *tfrecord.Builder) {
			b.Int64("id", int64(100+i))
			b.Int64("label", ids[i])
		})
	}
	o := AppendOptions{SameLabels: true}
	if _, err := Append(t.Context(), set, []string{labelled(0, 1, 2)}, o); err == nil || !strings.Contains(err.Error(), "no label has id 2: there are 2") {
		t.Errorf("a label that the set does not have: %v", err)
	}
	if !settest.SameFiles(before, settest.FilesOf(t, set)) {
		t.Fatal("an append that failed changed the set")
	}
	report, err := Append(t.Context(), set, []string{labelled(0, 1, 1)}, o)
	settest.Check(t, err)
	m := settest.ManifestOf(t, set)
	added := m.Splits[0].Shards[1]
	if report.Appended != 3 || added.Labels["cat"] != 1 || added.Labels["dog"] != 2 || m.Features[1].Class != manifest.ClassLabel {
		t.Errorf("appended %d, labels %v, features %v", report.Appended, added.Labels, m.Features)
	}
	verified(t, set)
}

func TestAppendRefuses(t *testing.T) {
	ctx := context.Background()
	set := madeSet(t, 10, 1, []string{"cat", "dog"}, from(0))
	before := settest.FilesOf(t, set)
	file := func(name string, build func(i int, b *tfrecord.Builder)) string {
		return settest.ExampleFile(t, filepath.Join(t.TempDir(), name), 4, build)
	}
	csv := filepath.Join(t.TempDir(), "table.csv")
	settest.PutFile(t, csv, []byte("a,b\n1,2\n"))
	images := t.TempDir()
	settest.PutFile(t, filepath.Join(images, "a.jpg"), []byte("\xff\xd8\xff"))
	damagedSet := madeSet(t, 4, 1, []string{"cat", "dog"}, from(0))
	settest.FlipIn(t, filepath.Join(damagedSet, "made-train.tfrecord-00000-of-00001"), 20)
	for _, c := range []struct {
		in, want string
		o        AppendOptions
	}{
		{madeSet(t, 4, 1, []string{"cat", "dog"}, func(i int, b *tfrecord.Builder) { b.Int64("id", 1) }), `all records of the set have the feature "label"`, AppendOptions{}},
		{madeSet(t, 4, 1, []string{"cat", "dog"}, func(i int, b *tfrecord.Builder) { from(0)(i, b); b.Int64("new", 1) }), `a feature "new", those of the set do not`, AppendOptions{}},
		{madeSet(t, 4, 1, []string{"cat", "dog"}, func(i int, b *tfrecord.Builder) { b.Int64("label", 1); b.String("id", "x") }), `feature "id" is`, AppendOptions{}},
		{file("x.tfrecord", from(0)), "have no names to match", AppendOptions{}},
		{madeSet(t, 4, 1, nil, from(0)), "have no names to match", AppendOptions{}},
		{csv, "convert images and tables first", AppendOptions{}},
		{images, "convert images and tables first", AppendOptions{}},
		{damagedSet, "repair.Copy", AppendOptions{}},
		{set, "belongs to the set being appended to", AppendOptions{}},
		{filepath.Join(set, "made-train.tfrecord-00000-of-00001"), "belongs to the set being appended to", AppendOptions{}},
		{"nowhere", "no such file", AppendOptions{}},
		{file("y.tfrecord", from(0)), "AppendOptions.Split", AppendOptions{Split: "a/b"}},
		{file("y.tfrecord", from(0)), "Options.Name", AppendOptions{Options: Options{Name: "x"}}},
	} {
		if _, err := Append(ctx, set, []string{c.in}, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
		if !settest.SameFiles(before, settest.FilesOf(t, set)) {
			t.Fatalf("%s: a refused append changed the set", c.want)
		}
		if left := leftInState(set); len(left) > 0 {
			t.Errorf("%s: left below %s: %v", c.want, shard.StateDir, left)
		}
	}
	empty := t.TempDir()
	if _, err := Append(ctx, empty, []string{set}, AppendOptions{}); err == nil || !strings.Contains(err.Error(), "repair.Adopt") {
		t.Errorf("a folder without a manifest: %v", err)
	}
	if _, err := Append(ctx, filepath.Join(empty, "new"), []string{set}, AppendOptions{}); err == nil {
		t.Error("a folder that is not there was appended to")
	}
	settest.NothingAt(t, filepath.Join(empty, "new"))
	// An unrelated file has the name of a new shard.
	settest.PutFile(t, filepath.Join(set, "made-train.tfrecord-00000-of-00002"), []byte("mine"))
	more := madeSet(t, 4, 1, []string{"cat", "dog"}, from(50))
	if _, err := Append(ctx, set, []string{more}, AppendOptions{}); err == nil || !strings.Contains(err.Error(), "exists and no manifest") {
		t.Errorf("a foreign file: %v", err)
	}
}

// TestAppendStoppedAtAnyStep simulates a crash before each of the renames, and sometimes during
// recovery as well. The next append completes the change, with the same bytes as an uninterrupted
// one.
func TestAppendStoppedAtAnyStep(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	set := madeSet(t, 40, 2, []string{"cat", "dog"}, from(0))
	more := madeSet(t, 10, 1, []string{"cat", "dog"}, from(100))
	whole := settest.CopyOf(t, set)
	steps := 0
	renames := func(f func() error) context.Context {
		return inject.With(ctx, func(operation string) error {
			if operation != "rename" {
				return nil
			}
			return f()
		})
	}
	report, err := Append(renames(func() error { steps++; return nil }), whole, []string{more}, AppendOptions{})
	settest.Check(t, err)
	want := settest.FilesOf(t, whole)
	if steps < 10 {
		t.Fatalf("%d renames", steps)
	}
	stopped := errors.New("stopped")
	for step := range steps {
		at := settest.CopyOf(t, set)
		stopAt := func(step int) context.Context {
			n := 0
			return renames(func() error {
				if n++; n > step {
					return stopped
				}
				return nil
			})
		}
		stopping := stopAt(step)
		if _, err := Append(stopping, at, []string{more}, AppendOptions{}); !errors.Is(err, stopped) || !strings.Contains(err.Error(), "partly changed") {
			t.Fatalf("step %d: %v", step, err)
		}
		if _, err := os.Stat(filepath.Join(at, manifest.File)); err != nil {
			t.Errorf("step %d: the old manifest is gone before there is a new one", step)
		}
		if _, err := shard.Expand(stopping, []string{at}, shard.ExpandOptions{}); err == nil || !strings.Contains(err.Error(), "partly replaced") {
			t.Errorf("step %d: a set that is half changed can be read: %v", step, err)
		}
		if step%3 == 0 { // stopped again during recovery
			if _, err := Append(stopAt(step/2), at, nil, AppendOptions{}); !errors.Is(err, stopped) {
				t.Fatalf("step %d, mended: %v", step, err)
			}
		}
		in := []string{more}
		if step%2 == 0 {
			in = nil
		}
		again, err := Append(ctx, at, in, AppendOptions{})
		settest.Check(t, err)
		if again.Status != "resumed" || again.Records != report.Records || again.Appended != 10 {
			t.Errorf("step %d: %+v", step, again)
		}
		if got := settest.FilesOf(t, at); !settest.SameFiles(want, got) {
			t.Errorf("step %d: the set differs from that of an append that was not stopped", step)
		}
		verified(t, at)
		if left, _ := os.ReadDir(filepath.Join(at, shard.StateDir)); len(left) > 1 {
			t.Errorf("step %d: left below %s: %v", step, shard.StateDir, left)
		}
	}
	// Append other records after an interrupted append: the set gets both.
	at := settest.CopyOf(t, set)
	if _, err := Append(renames(func() error { return stopped }), at, []string{more}, AppendOptions{}); !errors.Is(err, stopped) {
		t.Fatal(err)
	}
	other := madeSet(t, 7, 1, []string{"cat", "dog"}, from(200))
	both, err := Append(ctx, at, []string{other}, AppendOptions{})
	settest.Check(t, err)
	if both.Records != 57 || both.Appended != 7 {
		t.Errorf("%+v", both)
	}
	verified(t, at)
}

// TestAppendMayFailAnywhere injects a fault into the first file operation, then the second, and so
// on: the set is unchanged, or the next append completes the change.
func TestAppendMayFailAnywhere(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	set := madeSet(t, 20, 1, []string{"cat", "dog"}, from(0))
	more := madeSet(t, 10, 1, []string{"dog", "cat"}, from(100))
	before := settest.FilesOf(t, set)
	whole := settest.CopyOf(t, set)
	_, err := Append(ctx, whole, []string{more}, AppendOptions{})
	settest.Check(t, err)
	want := settest.FilesOf(t, whole)
	finished := 0
	for fail := int64(1); ; fail++ {
		var n atomic.Int64
		failing := inject.With(ctx, func(operation string) error {
			if n.Add(1) == fail {
				return fmt.Errorf("%s: %w", operation, syscall.EIO)
			}
			return nil
		})
		at := settest.CopyOf(t, set)
		_, err := Append(failing, at, []string{more}, AppendOptions{})
		if n.Load() < fail {
			settest.Check(t, err)
			break
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d failed, and the append said %v", fail, err)
		}
		if _, err := os.Stat(filepath.Join(at, setdir.JournalFile)); err != nil {
			if !settest.SameFiles(before, settest.FilesOf(t, at)) {
				t.Errorf("operation %d failed: the set is changed without a journal", fail)
			}
			if left := leftInState(at); len(left) > 0 {
				t.Errorf("operation %d failed: left below %s: %v", fail, shard.StateDir, left)
			}
		} else {
			finished++
		}
		_, err = Append(ctx, at, []string{more}, AppendOptions{})
		settest.Check(t, err)
		if !settest.SameFiles(want, settest.FilesOf(t, at)) {
			t.Errorf("operation %d failed: the next append makes another set", fail)
		}
	}
	if finished < 5 {
		t.Errorf("only %d failures met an append that had begun to rename", finished)
	}
}

// A journal is untrusted input: it must not move files outside its directory.
func TestAppendJournalStaysInside(t *testing.T) {
	set := madeSet(t, 4, 1, nil, from(0))
	before := settest.FilesOf(t, set)
	for _, text := range []string{
		`{"format":"tfrec.append","version":1,"moves":[{"from":"../x","to":"y"}]}`,
		`{"format":"tfrec.append","version":1,"moves":[{"from":"x","to":"/tmp/y"}]}`,
		`{"format":"tfrec.append","version":2,"moves":[{"from":"x","to":"y"}]}`,
		`{"format":"tfrec.append","version":1,"moves":[]}`, `{`, ``,
	} {
		settest.PutFile(t, filepath.Join(set, setdir.JournalFile), []byte(text))
		if _, err := Append(context.Background(), set, nil, AppendOptions{}); err == nil {
			t.Errorf("%s: taken", text)
		}
		if !settest.SameFiles(before, settest.FilesOf(t, set)) {
			t.Errorf("%s: changed the set", text)
		}
	}
}
