package reshape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestFinishedRunsAreUpToDate runs every verb twice: the second run has nothing to do, returns the
// report of the first, and changes no bytes and no times.
func TestFinishedRunsAreUpToDate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 60, forReshapers)
	known := map[string]bool{"filter": false, "dedupe": true}
	for name, run := range reshapers {
		if repeats, said := known[name]; said && !repeats {
			continue // its condition is a function
		}
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			o := Options{Shards: 2, Seed: 3}
			settest.Check(t, run(ctx, []string{path}, out, o))
			files, times := settest.FilesOf(t, out), settest.TimesOf(t, out)
			var n atomic.Int64
			counting := inject.With(ctx, func(operation string) error {
				switch operation {
				case "open", "read", "stat":
				default:
					n.Add(1)
				}
				return nil
			})
			o.Workers, o.Memory = 1, source.LeastMemory // these change no bytes
			err := run(counting, []string{path}, out, o)
			settest.Check(t, err)
			if n.Load() > 0 || !settest.SameFiles(files, settest.FilesOf(t, out)) || !maps.Equal(times, settest.TimesOf(t, out)) {
				t.Errorf("a run that has nothing to do did %d things", n.Load())
			}
			o.Seed = 4
			if err := run(ctx, []string{path}, out, o); err == nil || !strings.Contains(err.Error(), "Options.Seed was 3, now it is 4") || !strings.Contains(err.Error(), "Options.Overwrite") {
				t.Errorf("another seed: %v", err)
			}
			o.Seed, o.Overwrite, o.Shards = 3, true, 1
			settest.Check(t, run(ctx, []string{path}, out, o))
			whole := filepath.Join(t.TempDir(), "out")
			o.Overwrite = false
			settest.Check(t, run(ctx, []string{path}, whole, o))
			if !settest.SameFiles(settest.FilesOf(t, whole), settest.FilesOf(t, out)) {
				t.Errorf("overwritten, it holds\n%v, want\n%v", slices.Sorted(maps.Keys(settest.FilesOf(t, out))), slices.Sorted(maps.Keys(settest.FilesOf(t, whole))))
			}
			if left := leftInState(out); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			settest.Check(t, run(ctx, []string{path}, out, o)) // up to date
		})
	}
}

// TestOtherRunsAreRefused checks that the error names the first difference and the set is
// unchanged.
func TestOtherRunsAreRefused(t *testing.T) {
	ctx := context.Background()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 30, settest.Numbers)
	out := filepath.Join(t.TempDir(), "out")
	o := ReshardOptions{Options: Options{Shards: 2}, Shuffle: true}
	report, err := Reshard(ctx, []string{file}, out, o)
	settest.Check(t, err)
	again, err := Reshard(ctx, []string{file}, out, o)
	settest.Check(t, err)
	report.Status, report.Seconds, again.Seconds = "up_to_date", 0, 0
	if a, b := mustJSON(t, report), mustJSON(t, again); a != b {
		t.Errorf("the second run says %s, the first %s", b, a)
	}
	before := settest.FilesOf(t, out)
	refused := func(want string, run func() error) {
		t.Helper()
		if err := run(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Options.Overwrite") {
			t.Errorf("%v, want %q", err, want)
		}
		if !settest.SameFiles(before, settest.FilesOf(t, out)) {
			t.Fatalf("%s: a refused run changed the set", want)
		}
	}
	reshard := func(in []string, o ReshardOptions) func() error {
		return func() error {
			_, err := Reshard(ctx, in, out, o)
			return err
		}
	}
	other := settest.ExampleFile(t, filepath.Join(t.TempDir(), "y.tfrecord"), 30, settest.Numbers)
	refused("input 1 was", reshard([]string{other}, o))
	refused("was no input", reshard([]string{file, other}, o))
	with := func(change func(o *ReshardOptions)) ReshardOptions {
		other := o
		change(&other)
		return other
	}
	refused("Options.Shards was 2, now it is 3", reshard([]string{file}, with(func(o *ReshardOptions) { o.Shards = 3 })))
	refused("ReshardOptions.Shuffle was true, now it is not given", reshard([]string{file}, with(func(o *ReshardOptions) { o.Shuffle = false })))
	refused("ReshardOptions.GroupBy was not given, now it is id", reshard([]string{file}, with(func(o *ReshardOptions) { o.GroupBy = "id" })))
	refused(`Options.Compression was none, now it is gzip`, reshard([]string{file}, with(func(o *ReshardOptions) { o.Compression = tfrecord.CompressionGzip })))
	refused(`Options.Name was out, now it is other`, reshard([]string{file}, with(func(o *ReshardOptions) { o.Name = "other" })))
	refused(`the verb was reshard`, func() error {
		_, err := Merge(ctx, []string{file}, out, Options{Shards: 2})
		return err
	})
	settest.Check(t, os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)))
	refused("has changed since", reshard([]string{file}, o))

	// The directory does not hold what the run made.
	file = settest.ExampleFile(t, file, 30, settest.Numbers)
	o.Overwrite = true
	_, err = Reshard(ctx, []string{file}, out, o)
	settest.Check(t, err)
	o.Overwrite = false
	for _, name := range []string{"out-train.tfrecord-00001-of-00002", "index/out-train.tfrecord-00000-of-00002.idx", manifest.TFDSInfoFile, manifest.File} {
		path := filepath.Join(out, name)
		was, err := os.ReadFile(path)
		settest.Check(t, err)
		st, err := os.Stat(path)
		settest.Check(t, err)
		settest.Check(t, os.Remove(path))
		before = settest.FilesOf(t, out)
		if name == manifest.File {
			if err := reshard([]string{file}, o)(); err == nil || !strings.Contains(err.Error(), "not empty") {
				t.Errorf("without a manifest: %v", err)
			}
		} else {
			refused(name, reshard([]string{file}, o))
		}
		settest.PutFile(t, path, was)
		settest.Check(t, os.Chtimes(path, time.Time{}, st.ModTime()))
	}
	// A shard with a different time is read: the same content is fine, different content is not.
	each := filepath.Join(out, "out-train.tfrecord-00001-of-00002")
	settest.Check(t, os.Chtimes(each, time.Time{}, time.Now().Add(time.Hour)))
	settest.Check(t, reshard([]string{file}, o)())
	settest.FlipIn(t, each, 30)
	before = settest.FilesOf(t, out)
	refused(each, reshard([]string{file}, o))
	// Without the state nothing is known.
	settest.Check(t, os.RemoveAll(filepath.Join(out, shard.StateDir)))
	refused("not empty", reshard([]string{file}, o))
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	settest.Check(t, err)
	return string(b)
}

// TestOverwriteLeavesTheOldSet makes an overwriting run fail or stop at every step: the old set
// remains, or the next run makes the new one; unrelated files stay.
func TestOverwriteLeavesTheOldSet(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 30, forReshapers)
	old := filepath.Join(t.TempDir(), "old")
	_, err := Reshard(ctx, []string{file}, old, ReshardOptions{Options: Options{Shards: 3, Name: "x"}})
	settest.Check(t, err)
	settest.PutFile(t, filepath.Join(old, "notes.txt"), []byte("mine"))
	before := settest.FilesOf(t, old)
	for kind, o := range map[string]ReshardOptions{
		"shuffled": {Options: Options{Shards: 2, Name: "x", Overwrite: true}, Shuffle: true},
		"grouped":  {Options: Options{Shards: 1, Name: "x", Overwrite: true}, GroupBy: "group"},
	} {
		total := int64(0)
		counting := inject.With(ctx, func(string) error { atomic.AddInt64(&total, 1); return nil })
		whole := settest.CopyOf(t, old)
		_, err = Reshard(counting, []string{file}, whole, o)
		settest.Check(t, err)
		want := settest.FilesOf(t, whole)
		if want["notes.txt"] != "mine" || want["x-train.tfrecord-00002-of-00003"] != "" {
			t.Fatalf("%s: it holds %v", kind, slices.Sorted(maps.Keys(want)))
		}
		half := 0
		for fail := int64(1); fail <= total; fail++ {
			if fail > 4 && fail < total-6 && fail%23 > 0 {
				continue // similar to others
			}
			at := settest.CopyOf(t, old)
			var n atomic.Int64
			failing := inject.With(ctx, func(operation string) error {
				if n.Add(1) == fail {
					return fmt.Errorf("%s: %w", operation, syscall.EIO)
				}
				return nil
			})
			_, err := Reshard(failing, []string{file}, at, o)
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: operation %d failed, and the run said %v", kind, fail, err)
			}
			if settest.Has(t, at, setdir.JournalFile) {
				half++
				if fail%2 == 0 { // the next command completes the change
					if _, err := shard.Expand(t.Context(), []string{at}, shard.ExpandOptions{}); err != nil && kind != "grouped" || settest.Has(t, at, setdir.JournalFile) || !settest.SameFiles(want, settest.FilesOf(t, at)) {
						t.Errorf("%s: operation %d failed, and reading the set: %v; it is not the new one", kind, fail, err)
					}
				}
			} else if !settest.SameFiles(before, settest.FilesOf(t, at)) || len(leftInState(at)) > 0 {
				t.Errorf("%s: operation %d failed: not the old set: %v, %v", kind, fail, slices.Sorted(maps.Keys(settest.FilesOf(t, at))), leftInState(at))
			}
			_, err = Reshard(ctx, []string{file}, at, o)
			settest.Check(t, err)
			if !settest.SameFiles(want, settest.FilesOf(t, at)) || len(leftInState(at)) > 0 {
				t.Errorf("%s: operation %d failed: the next run makes another set: %v", kind, fail, leftInState(at))
			}
		}
		if half < 2 {
			t.Errorf("%s: %d failures met a set half replaced", kind, half)
		}
	}
	// Damage that is found late, and a file in the way.
	settest.FlipIn(t, file, 900)
	o := Options{Shards: 2, Overwrite: true}
	var damaged *shard.DamagedError
	if _, err := Merge(ctx, []string{file}, old, o); !errors.As(err, &damaged) || !settest.SameFiles(before, settest.FilesOf(t, old)) {
		t.Errorf("a damaged input: %v", err)
	}
	settest.FlipIn(t, file, 900)
	settest.PutFile(t, filepath.Join(old, "x-train.tfrecord-00000-of-00002"), []byte("mine"))
	before = settest.FilesOf(t, old)
	o.Name = "x"
	if _, err := Merge(ctx, []string{file}, old, o); err == nil || !strings.Contains(err.Error(), "exists and no manifest") || !settest.SameFiles(before, settest.FilesOf(t, old)) {
		t.Errorf("a file in the way: %v", err)
	}
	if left := leftInState(old); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
