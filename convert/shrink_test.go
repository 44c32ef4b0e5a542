package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// An update that would remove more than half of the samples changes nothing without AllowShrink.
func TestShrinkIsRefused(t *testing.T) {
	const all = 10
	for left := range all + 1 {
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			src, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
			o := ImageOptions{Options: Options{Name: "small", Shards: 3}}
			for i := range all {
				put(t, src, fmt.Sprintf("a/%d.png", i), pngOf(i))
			}
			mustImages(t, src, out, o)
			was := contents(t, out)
			for i := left; i < all; i++ {
				if err := os.Remove(filepath.Join(src, fmt.Sprintf("a/%d.png", i))); err != nil {
					t.Fatal(err)
				}
			}
			refused := func(o ImageOptions) {
				t.Helper()
				_, err := Images(t.Context(), src, out, o)
				if err == nil {
					t.Error("nothing was refused")
				} else if want := fmt.Sprintf("%s has 10 samples, and the input now gives only %d", out, left); left > 0 && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Options.AllowShrink")) {
					t.Error(err)
				}
				sameSet(t, contents(t, out), was)
			}
			if left < all/2 {
				refused(o)
				dry, task := o, o
				dry.DryRun = true
				refused(dry)
				task.Task = &Task{Index: 1, Count: 2}
				refused(task)
				if job, err := BeginImages(t.Context(), src, out, o); err == nil {
					job.Close()
					t.Error("a job was not refused")
				}
				if left == 0 {
					return // no input at all, whatever is allowed
				}
				limited := o
				limited.Limit, limited.Overwrite = 1, true // another set, on purpose
				other := filepath.Join(t.TempDir(), "out")
				if err := os.CopyFS(other, os.DirFS(out)); err != nil {
					t.Fatal(err)
				}
				mustImages(t, src, other, limited)
				o.AllowShrink = true
			}
			mustImages(t, src, out, o)
			fresh := filepath.Join(t.TempDir(), "fresh")
			mustImages(t, src, fresh, o)
			sameSet(t, contents(t, out), contents(t, fresh))
		})
	}
}

// So does one by tasks, and the rest of the tasks follow the plan of the first.
func TestShrinkByTasks(t *testing.T) {
	src, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	o := ImageOptions{Options: Options{Name: "small", Shards: 3}}
	for i := range 10 {
		put(t, src, fmt.Sprintf("a/%d.png", i), pngOf(i))
	}
	mustImages(t, src, out, o)
	for i := range 8 {
		if err := os.Remove(filepath.Join(src, fmt.Sprintf("a/%d.png", i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		task := o
		task.Task, task.AllowShrink = &Task{Index: i, Count: 2}, i == 0
		mustImages(t, src, out, task)
	}
	if _, err := Finalize(t.Context(), out, FinalizeOptions{}); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	mustImages(t, src, fresh, o)
	sameSet(t, contents(t, out), contents(t, fresh))
}

func TestShrinkOfTables(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out")
	write := func(rows int) {
		if err := os.WriteFile(in, []byte("x\n"+strings.Repeat("1\n", rows)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(9)
	if _, err := CSV(t.Context(), []string{in}, out, CSVOptions{}); err != nil {
		t.Fatal(err)
	}
	write(4)
	if _, err := CSV(t.Context(), []string{in}, out, CSVOptions{}); err == nil || !strings.Contains(err.Error(), "9 samples") {
		t.Errorf("%v", err)
	}
	if sum, err := CSV(t.Context(), []string{in}, out, CSVOptions{Options: Options{AllowShrink: true}}); err != nil || sum.Status != Updated {
		t.Errorf("%+v, %v", sum, err)
	}
}

// TestExpectedSamples converts with ranges around the number of samples: others change nothing.
func TestExpectedSamples(t *testing.T) {
	for text, want := range map[string]Expected{"7": {Min: 7, Max: 7}, "1-7": {Min: 1, Max: 7}, "0-9": {Min: 0, Max: 9}} {
		if got, err := ParseExpected(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-", "0", "a", "5-", "-5", "7-5", "1-2-3", "0-0", "99999999999999999999"} {
		if got, err := ParseExpected(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	src, out := directories(t, 9), t.TempDir()
	mustImages(t, src, out, ImageOptions{})
	before := contents(t, out)
	for _, e := range []Expected{{Min: 9, Max: 9}, {Min: 1, Max: 9}, {Min: 9, Max: 10}, {Min: 10, Max: 20}, {Min: 1, Max: 8}} {
		o := ImageOptions{Options: Options{Expect: e, Overwrite: true}, Encode: EncodeSpec{Format: Raw}}
		for _, o := range []ImageOptions{o, {Options: Options{Expect: e, DryRun: true}}} {
			_, err := Images(t.Context(), src, out, o)
			fits := e.Min <= 9 && e.Max >= 9
			if fits != (err == nil) || err != nil && !strings.Contains(err.Error(), "the input gives 9 samples, and Options.Expect is "+e.String()) {
				t.Errorf("%v: %v", e, err)
			}
			if !fits {
				continue
			}
			mustImages(t, src, out, ImageOptions{Options: Options{Overwrite: true}})
		}
		sameSet(t, contents(t, out), before)
	}
}

// TestFailedRunsBindNothing lets a first run fail: the next one has other options, and makes the set
// that it makes in an empty directory.
func TestFailedRunsBindNothing(t *testing.T) {
	src, out, fresh := directories(t, 9), t.TempDir(), t.TempDir()
	put(t, src, "c0/broken.png", []byte("none"))
	if _, err := Images(t.Context(), src, out, ImageOptions{Options: Options{Name: "photos", Shards: 4}}); err == nil {
		t.Fatal("a broken image passes")
	}
	other := ImageOptions{Options: Options{Name: "others", Shards: 2, MaxErrors: Tolerance{Count: 1}}, Encode: EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Width: 4, Height: 4, NoAntialias: true}}
	said := notes(&other.Options)
	mustImages(t, src, out, other)
	if !strings.Contains(strings.Join(*said, "\n"), "unfinished set made from other inputs or options, which is discarded") {
		t.Errorf("notes %q", *said)
	}
	other.Note = nil
	mustImages(t, src, fresh, other)
	sameSet(t, contents(t, out), contents(t, fresh))
	// A set that is finished binds.
	other.Shards = 3
	if _, err := Images(t.Context(), src, out, other); err == nil || !strings.Contains(err.Error(), "Options.Overwrite") {
		t.Errorf("%v", err)
	}
}
