package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// pngOf draws an image that differs for every n.
func pngOf(n int) []byte {
	im := image.NewRGBA(image.Rect(0, 0, 16+n%5, 12))
	for y := range 12 {
		for x := range 16 + n%5 {
			im.Set(x, y, color.RGBA{uint8(n), uint8(n >> 8), uint8(x * y), 255})
		}
	}
	return testpng.Encode(im)
}

// old is a time long enough ago for a file to be settled.
var old = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

func put(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(p, old, old); err != nil {
		t.Fatal(err)
	}
}

// directories makes a source of n images in three class directories.
func directories(t *testing.T, n int) string {
	t.Helper()
	src := filepath.Join(t.TempDir(), "pets")
	for i := range n {
		put(t, src, fmt.Sprintf("c%d/%03d.png", i%3, i), pngOf(i))
	}
	return src
}

func mustImages(t testing.TB, src, out string, o ImageOptions) *Summary {
	t.Helper()
	s, err := Images(context.Background(), src, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// contents returns all files of a set except the state.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == shard.StateDir {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sameSet(t *testing.T, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		} else if got[name] != want[name] {
			t.Errorf("%s has other bytes", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is too many", name)
		}
	}
}

// records gives the Examples of a split by their image/filename.
func records(t *testing.T, dir, split string) map[string]map[string]any {
	t.Helper()
	byName := map[string]map[string]any{}
	for _, m := range examples(t, dir, split) {
		byName[string(m[imagekey.Filename].([][]byte)[0])] = m
	}
	return byName
}

func TestImagesKeepsBytesAndLabels(t *testing.T) {
	src, out := directories(t, 30), t.TempDir()
	put(t, src, "c1/notes.txt", []byte("no picture"))
	s := mustImages(t, src, out, ImageOptions{Options: Options{Shards: 3}})
	if s.Status != Written || s.Samples != 30 || s.Records != 30 || s.SkippedFiles != 1 || s.ShardsWritten != 3 || s.Splits["train"] != (SplitSummary{Records: 30, Shards: 3}) {
		t.Errorf("summary %+v", s)
	}
	got := records(t, out, "train")
	if len(got) != 30 {
		t.Fatalf("%d records", len(got))
	}
	for i := range 30 {
		name := fmt.Sprintf("c%d/%03d.png", i%3, i)
		r := got[name]
		if r == nil {
			t.Fatalf("no record of %s", name)
		}
		if !bytes.Equal(r[imagekey.Encoded].([][]byte)[0], pngOf(i)) {
			t.Errorf("%s is not stored as it is", name)
		}
		if r[imagekey.Label].([]int64)[0] != int64(i%3) || string(r[imagekey.Text].([][]byte)[0]) != fmt.Sprintf("c%d", i%3) {
			t.Errorf("label of %s: %v %q", name, r[imagekey.Label], r[imagekey.Text])
		}
		if r[imagekey.Width].([]int64)[0] != int64(16+i%5) || r[imagekey.Height].([]int64)[0] != 12 || r[imagekey.Channels].([]int64)[0] != 3 || string(r[imagekey.Format].([][]byte)[0]) != "png" || r[imagekey.Orientation].([]int64)[0] != 1 {
			t.Errorf("features of %s: %v", name, r)
		}
	}
	report, err := verify.Files(context.Background(), []string{out}, verify.Options{})
	if err != nil || !report.OK {
		t.Errorf("verify: %v %+v", err, report)
	}
}

func TestSameBytesForAnyWorkers(t *testing.T) {
	src := directories(t, 60)
	for _, o := range []ImageOptions{
		{Options: Options{Shards: 4, Seed: 9, Splits: []SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}}}},
		{Options: Options{Shards: 2, Compression: tfrecord.CompressionGzip}, Encode: EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Width: 8, Height: 8}},
		{Options: Options{Shards: 2}, Encode: EncodeSpec{Format: JPEG}},
	} {
		var want map[string]string
		for _, workers := range []int{1, 2, 16} {
			out := t.TempDir()
			o.Workers = workers
			mustImages(t, src, out, o)
			got := contents(t, out)
			if want == nil {
				want = got
			}
			sameSet(t, got, want)
		}
	}
}

func TestSecondRunDoesNothing(t *testing.T) {
	src, out := directories(t, 40), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 3}}
	first := mustImages(t, src, out, o)
	before := contents(t, out)
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"the state is deleted", func() { os.RemoveAll(filepath.Join(out, shard.StateDir)) }},
		{"inputs are hashed", func() { o.HashInputs = true }},
		{"other workers", func() { o.Workers = 7 }},
	} {
		change.do()
		s := mustImages(t, src, out, o)
		if s.Status != UpToDate || s.Records != 40 || s.ShardsKept != 3 || s.ShardsWritten != 0 || s.Fingerprint != first.Fingerprint {
			t.Errorf("%s: %+v", change.name, s)
		}
		sameSet(t, contents(t, out), before)
	}
}

func TestOnlyChangedShardsAreRedone(t *testing.T) {
	src, out := directories(t, 80), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 4}}
	mustImages(t, src, out, o)
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"added", func() { put(t, src, "c0/new.png", pngOf(1000)) }},
		{"changed", func() { put(t, src, "c0/new.png", pngOf(1003)) }}, // same width
		{"removed", func() { os.Remove(filepath.Join(src, "c0/new.png")) }},
		{"shard damaged", func() {
			p := filepath.Join(out, shard.Name{Dataset: "pets", Split: "train", Index: 1, Count: 4}.String())
			data, _ := os.ReadFile(p)
			data[20] ^= 1
			os.WriteFile(p, data, 0o644)
		}},
		{"shard lost", func() { os.Remove(filepath.Join(out, "pets-train.tfrecord-00002-of-00004")) }},
		{"index lost", func() { os.Remove(filepath.Join(out, "index/pets-train.tfrecord-00002-of-00004.idx")) }},
	} {
		change.do()
		if change.name == "changed" {
			later := old.Add(time.Hour)
			os.Chtimes(filepath.Join(src, "c0/new.png"), later, later)
		}
		s := mustImages(t, src, out, o)
		if s.Status != Updated || s.ShardsWritten != 1 || s.ShardsKept != 3 {
			t.Errorf("%s: %+v", change.name, s)
		}
		fresh := t.TempDir()
		mustImages(t, src, fresh, o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
}

func TestOtherOptionsAreRefused(t *testing.T) {
	src, out := directories(t, 20), t.TempDir()
	mustImages(t, src, out, ImageOptions{Options: Options{Shards: 3}})
	put(t, out, "theirs.txt", []byte("not ours"))
	before := contents(t, out)
	for _, c := range []struct {
		o    ImageOptions
		want string
	}{
		{ImageOptions{Options: Options{Shards: 2}}, "Options.Shards"},
		{ImageOptions{Options: Options{Shards: 3, Seed: 1}}, "Options.Seed"},
		{ImageOptions{Options: Options{Shards: 3}, Encode: EncodeSpec{Format: PNG}}, "EncodeSpec.Format"},
		{ImageOptions{Options: Options{Shards: 3, Name: "x"}}, "Options.Name"},
	} {
		_, err := Images(context.Background(), src, out, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "Options.Overwrite") {
			t.Errorf("%v, want %s named", err, c.want)
		}
		sameSet(t, contents(t, out), before)
	}
	s := mustImages(t, src, out, ImageOptions{Options: Options{Shards: 2, Overwrite: true}})
	if s.Status != Written {
		t.Errorf("overwritten: %+v", s)
	}
	fresh := t.TempDir()
	mustImages(t, src, fresh, ImageOptions{Options: Options{Shards: 2}})
	want := contents(t, fresh)
	want["theirs.txt"] = "not ours"
	sameSet(t, contents(t, out), want)
}

func TestForeignFilesAreNotTouched(t *testing.T) {
	src, out := directories(t, 5), t.TempDir()
	put(t, out, "pets-train.tfrecord-00000-of-00001", []byte("someone's"))
	_, err := Images(context.Background(), src, out, ImageOptions{Options: Options{Shards: 1}})
	if err == nil || !strings.Contains(err.Error(), "pets-train.tfrecord-00000-of-00001 exists") {
		t.Errorf("got %v", err)
	}
	if got := contents(t, out)["pets-train.tfrecord-00000-of-00001"]; got != "someone's" {
		t.Errorf("the foreign file holds %q", got)
	}
}

func TestBadSamplesHaveNames(t *testing.T) {
	src, out := directories(t, 20), t.TempDir()
	put(t, src, "c0/cut.png", pngOf(1)[:60])
	put(t, src, "c1/text.jpg", []byte("hello, I am text"))
	put(t, src, "c1/empty.gif", nil)
	o := ImageOptions{Options: Options{Shards: 2}}
	_, err := Images(context.Background(), src, out, o)
	var bad *BadSamplesError
	if !errors.As(err, &bad) || len(bad.Samples) != 3 || bad.Summary.Status != Failed || bad.Summary.Records != 20 {
		t.Fatalf("got %v", err)
	}
	var keys []string
	for _, b := range bad.Samples {
		keys = append(keys, b.Key)
		if b.Stage != "decode" || b.Reason == "" || b.Source != b.Key {
			t.Errorf("ledger line %+v", b)
		}
	}
	if want := []string{"c0/cut.png", "c1/empty.gif", "c1/text.jpg"}; !slices.Equal(keys, want) {
		t.Errorf("ledger %v, want %v", keys, want)
	}
	if _, err := os.Stat(filepath.Join(out, manifest.File)); err == nil {
		t.Error("a failed run left a manifest")
	}

	o.MaxErrors = Tolerance{Count: 3}
	s := mustImages(t, src, out, o)
	if s.Records != 20 || s.Errors != 3 || s.Samples != 23 || s.ShardsKept != 2 {
		t.Errorf("summary %+v", s)
	}
	if n := strings.Count(contents(t, out)[manifest.LedgerFile], "\n"); n != 3 {
		t.Errorf("%d lines in the ledger", n)
	}

	for _, name := range []string{"c0/cut.png", "c1/text.jpg", "c1/empty.gif"} {
		os.Remove(filepath.Join(src, name))
	}
	o.MaxErrors = Tolerance{}
	if s := mustImages(t, src, out, o); s.Errors != 0 || s.Status != Updated {
		t.Errorf("after mending: %+v", s)
	}
	if _, ok := contents(t, out)[manifest.LedgerFile]; ok {
		t.Error("an empty ledger stays")
	}
}

func TestInterruptedRunsGoOn(t *testing.T) {
	src, out, ref := directories(t, 90), t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 9, Workers: 1}}
	mustImages(t, src, ref, o)
	want := contents(t, ref)

	resumed := false
	for stopAt := int64(5); ; stopAt += 15 {
		ctx, cancel := context.WithCancel(context.Background())
		progress := new(Progress)
		o.Progress = progress
		go func() {
			for ctx.Err() == nil {
				if progress.Done.Load() >= stopAt {
					cancel()
				}
				time.Sleep(50 * time.Microsecond)
			}
		}()
		s, err := Images(ctx, src, out, o)
		cancel()
		if err == nil {
			resumed = resumed || s.Status == Resumed
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		got := contents(t, out)
		for name, data := range got {
			if name == manifest.File {
				t.Error("an interrupted run left a manifest")
			}
			if strings.Contains(name, "tfrecord-") && data != want[name] {
				t.Errorf("%s is in place with other bytes", name)
			}
		}
	}
	o.Progress = nil
	if s := mustImages(t, src, out, o); s.Status != UpToDate {
		t.Errorf("after all: %+v", s)
	}
	sameSet(t, contents(t, out), want)
	if !resumed {
		t.Log("every run was stopped before its first shard or not at all")
	}
}

func TestLabelsFromAFile(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "flat"), t.TempDir()
	for i := range 4 {
		put(t, src, fmt.Sprintf("%d.png", i), pngOf(i))
	}
	put(t, src, "unlisted.png", pngOf(9))
	file := filepath.Join(t.TempDir(), "labels.csv")
	os.WriteFile(file, []byte("\ufeffid,path,label\n1,0.png,cat\n2,1.png,dog\n3,./2.png,cat\n4,3.png,ant\n5,missing.png,cat\n6,../../etc/passwd,cat\n7,,cat\n8,0.png,dog\n9,1.png\n"), 0o644)
	var notes []string
	o := ImageOptions{Labels: LabelSpec{File: file, Offset: 1}, Options: Options{Shards: 1, MaxErrors: Tolerance{Count: 5}, Note: func(s string) { notes = append(notes, s) }}}
	s := mustImages(t, src, out, o)
	if s.Records != 4 || s.Errors != 5 || s.SkippedFiles != 1 {
		t.Errorf("summary %+v", s)
	}
	got := records(t, out, "train")
	for name, want := range map[string]int64{"0.png": 2, "1.png": 3, "2.png": 2, "3.png": 1} {
		if r := got[name]; r == nil || r[imagekey.Label].([]int64)[0] != want {
			t.Errorf("%s: %v, want label %d", name, r[imagekey.Label], want)
		}
	}
	if !slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s, "1 image not named in") }) {
		t.Errorf("the unlisted image is not noted: %q", notes)
	}
	m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
	if err != nil || !slices.Equal(m.Labels, []string{"background_0", "ant", "cat", "dog"}) {
		t.Errorf("labels %q, %v", m.Labels, err)
	}
}

func TestFlatDirectoriesNeedAnAnswer(t *testing.T) {
	src := filepath.Join(t.TempDir(), "flat")
	put(t, src, "a.png", pngOf(1))
	_, err := Images(context.Background(), src, t.TempDir(), ImageOptions{})
	if err == nil || !strings.Contains(err.Error(), "LabelSpec.None") {
		t.Errorf("got %v", err)
	}
	out := t.TempDir()
	mustImages(t, src, out, ImageOptions{Labels: LabelSpec{None: true}})
	if r := records(t, out, "train")["a.png"]; r == nil || r[imagekey.Label] != nil {
		t.Errorf("unlabelled record: %v", r)
	}
}

func TestNamesOfAnyBytes(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "odd"), t.TempDir()
	name := "c/\xff\xfe.png"
	put(t, src, name, pngOf(1))
	if entries, err := os.ReadDir(filepath.Join(src, "c")); err != nil || len(entries) == 0 || entries[0].Name() != "\xff\xfe.png" {
		t.Skip("this file system changes names")
	}
	put(t, src, "c/\xfd.png", []byte("damaged"))
	s := mustImages(t, src, out, ImageOptions{Options: Options{MaxErrors: Tolerance{Count: 1}}})
	if s.Records != 1 || records(t, out, "train")[name] == nil {
		t.Errorf("%+v", s)
	}
	if led := contents(t, out)[manifest.LedgerFile]; !strings.Contains(led, `"key":"c/\\xfd.png"`) {
		t.Errorf("ledger %s", led)
	}
	if s := mustImages(t, src, out, ImageOptions{Options: Options{MaxErrors: Tolerance{Count: 1}}}); s.Status != UpToDate {
		t.Errorf("second run %+v", s)
	}
}

func TestFiltersAreCounted(t *testing.T) {
	src, out := directories(t, 10), t.TempDir()
	s := mustImages(t, src, out, ImageOptions{Select: SelectSpec{MaxAspect: 1.5}}) // widths of 16..20 by 12
	if s.Filtered != 4 || s.Records != 6 || s.Errors != 0 || s.Samples != 10 {
		t.Errorf("%+v", s)
	}
}

func TestGlobs(t *testing.T) {
	src, out := directories(t, 9), t.TempDir()
	put(t, src, "c0/deep/er/x.png", pngOf(100))
	s := mustImages(t, src, out, ImageOptions{Select: SelectSpec{Include: []string{"c0/**", "00?.png"}, Exclude: []string{"c1/*"}}})
	var names []string
	for name := range records(t, out, "train") {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"c0/000.png", "c0/003.png", "c0/006.png", "c0/deep/er/x.png", "c2/002.png", "c2/005.png", "c2/008.png"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v (%+v)", names, want, s)
	}
	if _, err := Images(context.Background(), src, out, ImageOptions{Select: SelectSpec{Include: []string{"[x"}}}); !ofOption(err) {
		t.Errorf("bad glob: %v", err)
	}
}

func TestKeepRefusesOtherPixels(t *testing.T) {
	_, err := Images(context.Background(), directories(t, 1), t.TempDir(), ImageOptions{Encode: EncodeSpec{Format: Keep, Channels: 1}})
	if !ofOption(err) {
		t.Errorf("got %v", err)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	src, out := directories(t, 12), filepath.Join(t.TempDir(), "out")
	s := mustImages(t, src, out, ImageOptions{Options: Options{DryRun: true, Shards: 2}})
	if s.Status != Planned || s.Samples != 12 || s.Splits["train"].Shards != 2 {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a dry run made the output folder")
	}
}
