package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Tests of runs over what an earlier run, or someone else, left.

func TestAnotherSourceIsAnotherInput(t *testing.T) {
	parent, out := t.TempDir(), t.TempDir()
	for i, name := range []string{"a", "b"} {
		put(t, filepath.Join(parent, name), "c/1.bmp", append([]byte("BM"), byte(i))) // same name, size and time
	}
	o := ImageOptions{Options: Options{Name: "n", MaxErrors: Tolerance{Count: 1}}, Encode: EncodeSpec{NoCheck: true}}
	for _, name := range []string{"a", "b"} {
		// Neither is an image: the ledger's shard distinguishes them anyway.
		_, err := Images(context.Background(), filepath.Join(parent, name), out, o)
		var bad *BadSamplesError
		if !errors.As(err, &bad) || bad.Summary.ShardsWritten != 1 {
			t.Errorf("source %s: %v", name, err)
		}
	}
}

func TestDamagedOutputIsMadeAnew(t *testing.T) {
	src, out := directories(t, 30), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 2}}
	mustImages(t, src, out, o)
	want := contents(t, out)
	const file = "pets-train.tfrecord-00001-of-00002"

	os.WriteFile(filepath.Join(out, "index", file+".idx"), []byte("rubbish\n"), 0o644)
	if s := mustImages(t, src, out, o); s.ShardsWritten != 1 {
		t.Errorf("a damaged index: %+v", s)
	}
	sameSet(t, contents(t, out), want)

	// Damage that size and time do not reveal is found when contents are checked.
	path := filepath.Join(out, file)
	st, _ := os.Stat(path)
	os.WriteFile(path, []byte(strings.Repeat("x", int(st.Size()))), 0o644)
	os.Chtimes(path, st.ModTime(), st.ModTime())
	o.HashInputs = true
	if s := mustImages(t, src, out, o); s.ShardsWritten != 1 {
		t.Errorf("a damaged shard: %+v", s)
	}
	sameSet(t, contents(t, out), want)
}

func TestNamesThatWereNotWrittenAreOthers(t *testing.T) {
	src, out := directories(t, 12), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 1, Compression: tfrecord.CompressionGzip}}
	mustImages(t, src, out, o)
	theirs := []string{manifest.TFDSInfoFile, manifest.LedgerFile, "index/pets-train.tfrecord-00000-of-00001.idx"}
	for _, name := range theirs {
		put(t, out, name, []byte("mine"))
	}
	put(t, src, "c0/new.png", pngOf(99))
	mustImages(t, src, out, o)
	o.Seed, o.Overwrite = 1, true
	mustImages(t, src, out, o)
	for _, name := range theirs[:2] {
		if got := contents(t, out)[name]; got != "mine" {
			t.Errorf("%s of others holds %q now", name, got)
		}
	}
}

func TestTheLedgerFollowsItsSource(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "flat"), t.TempDir()
	put(t, src, "a.png", pngOf(1))
	file := filepath.Join(t.TempDir(), "labels.csv")
	o := ImageOptions{Labels: LabelSpec{File: file}, Options: Options{MaxErrors: Tolerance{Count: 1}}}
	for _, c := range []struct{ rows, want string }{
		{"path,label\ngone.png,x\na.png,x\n", `"line":2`},
		{"path,label\na.png,x\ngone.png,x\n", `"line":3`},
	} {
		os.WriteFile(file, []byte(c.rows), 0o644)
		mustImages(t, src, out, o)
		if got := contents(t, out)[manifest.LedgerFile]; !strings.Contains(got, c.want) {
			t.Errorf("ledger %s, want %s in it", got, c.want)
		}
	}
}

func TestNothingLeftIsAFault(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "s"), t.TempDir()
	put(t, src, "c/bad.png", []byte("no picture"))
	_, err := Images(context.Background(), src, out, ImageOptions{Options: Options{MaxErrors: Tolerance{Share: 1}}})
	var bad *BadSamplesError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "no record is left") || contents(t, out)[manifest.LedgerFile] == "" {
		t.Errorf("got %v", err)
	}
	if _, ok := contents(t, out)[manifest.File]; ok {
		t.Error("an empty set got a manifest")
	}
}

func TestShardsGivenAndAuto(t *testing.T) {
	src, out := directories(t, 20), t.TempDir()
	mustImages(t, src, out, ImageOptions{Options: Options{Shards: 3}})
	if _, err := Images(context.Background(), src, out, ImageOptions{}); err == nil || !strings.Contains(err.Error(), "Options.Shards") {
		t.Errorf("3 shards, then auto: %v", err)
	}
	auto := t.TempDir()
	mustImages(t, src, auto, ImageOptions{})
	if s := mustImages(t, src, auto, ImageOptions{Options: Options{Shards: 1}}); s.ShardsKept != 1 {
		t.Errorf("auto chose 1, then 1 is given: %+v", s)
	}
}

func TestRefusedRunsLeaveNoTrace(t *testing.T) {
	src, parent := directories(t, 5), t.TempDir()
	out := filepath.Join(parent, "deep", "out")
	put(t, src, "train/c/1.png", pngOf(1))
	put(t, src, "test/c/1.png", pngOf(2))
	if _, err := Images(context.Background(), src, out, ImageOptions{}); err == nil || !strings.Contains(err.Error(), "test, train are split directories") {
		t.Errorf("split folders beside class folders: %v", err)
	}
	os.RemoveAll(filepath.Join(src, "train"))
	os.RemoveAll(filepath.Join(src, "test"))
	o := ImageOptions{Options: Options{Name: "n" + strings.Repeat("x", 300)}}
	if _, err := Images(context.Background(), src, out, o); err == nil || !strings.Contains(err.Error(), "shorten Options.Name") {
		t.Errorf("a long name: %v", err)
	}
	if entries, _ := os.ReadDir(parent); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestBadRowsDoNotMoveSplits(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "s"), t.TempDir()
	for _, name := range []string{"train/1.png", "train/2.png", "test/3.png"} {
		put(t, src, name, pngOf(int(name[6])))
	}
	file := filepath.Join(t.TempDir(), "l.csv")
	os.WriteFile(file, []byte("path,label\ntrain/1.png,a\ntrain/2.png,b\ntest/3.png,a\n,a\ntrain/4.png,\n"), 0o644)
	s := mustImages(t, src, out, ImageOptions{Labels: LabelSpec{File: file}, Options: Options{MaxErrors: Tolerance{Count: 2}}})
	if s.Splits["train"].Records != 2 || s.Splits["test"].Records != 1 || s.Errors != 2 {
		t.Errorf("%+v", s)
	}
}

func TestLabelFilesObeyGlobsAndLinks(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "s"), t.TempDir()
	elsewhere := t.TempDir()
	put(t, src, "a.png", pngOf(1))
	put(t, src, "b.png", pngOf(2))
	put(t, elsewhere, "o.png", pngOf(3))
	if err := os.Symlink(elsewhere, filepath.Join(src, "dir")); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "l.csv")
	os.WriteFile(file, []byte("path,label\na.png,x\nb.png,x\ndir/o.png,y\n"), 0o644)
	o := ImageOptions{Labels: LabelSpec{File: file}, Select: SelectSpec{Exclude: []string{"b.*"}}, Options: Options{MaxErrors: Tolerance{Count: 1}}}
	s := mustImages(t, src, out, o)
	if s.Records != 1 || s.Errors != 1 || records(t, out, "train")["a.png"] == nil {
		t.Errorf("%+v", s)
	}
	o.Select.FollowSymlinks, o.Overwrite = true, true
	if s := mustImages(t, src, out, o); s.Records != 2 || s.Errors != 0 {
		t.Errorf("with links followed: %+v", s)
	}
}

func TestBackgroundNamesAreTaken(t *testing.T) {
	src := filepath.Join(t.TempDir(), "s")
	put(t, src, "background_0/1.png", pngOf(1))
	if _, err := Images(context.Background(), src, t.TempDir(), ImageOptions{Labels: LabelSpec{Offset: 1}}); err == nil || !strings.Contains(err.Error(), "background_0") {
		t.Errorf("got %v", err)
	}
}

func TestDryRunsSeeTheManifest(t *testing.T) {
	src, out := directories(t, 5), t.TempDir()
	mustImages(t, src, out, ImageOptions{})
	o := ImageOptions{Encode: EncodeSpec{Format: PNG}, Options: Options{DryRun: true, Overwrite: true}}
	if s := mustImages(t, src, out, o); s.Status != Planned || s.ShardsKept != 0 {
		t.Errorf("a dry run that would overwrite: %+v", s)
	}
	os.RemoveAll(filepath.Join(out, shard.StateDir))
	_, err := Images(context.Background(), src, out, ImageOptions{Encode: EncodeSpec{Format: PNG}, Options: Options{DryRun: true}})
	if err == nil || !strings.Contains(err.Error(), "EncodeSpec.Format") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(out, shard.StateDir)); err == nil {
		t.Error("a dry run made the state folder")
	}
}

func TestSettledFilesAreTrusted(t *testing.T) {
	src, out := directories(t, 6), t.TempDir()
	fresh := filepath.Join(src, "c0/000.png")
	now := time.Now().Add(time.Hour) // too new to be settled, however slow the machine is
	os.Chtimes(fresh, now, now)
	mustImages(t, src, out, ImageOptions{Options: Options{Shards: 1}})
	// Changed within the granularity of its time, and of the same size.
	data := pngOf(0)
	data[len(data)-20] ^= 1
	os.WriteFile(fresh, data, 0o644)
	os.Chtimes(fresh, now, now)
	_, err := Images(context.Background(), src, out, ImageOptions{Options: Options{Shards: 1}})
	var bad *BadSamplesError
	if !errors.As(err, &bad) || bad.Samples[0].Key != "c0/000.png" {
		t.Errorf("a change of a file that had just been written: %v", err)
	}
}
