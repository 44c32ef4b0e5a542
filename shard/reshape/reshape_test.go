package reshape

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// reshapers are runs of all kinds of verbs, by name.
var reshapers = map[string]func(ctx context.Context, in []string, out string, o Options) error{
	"reshard": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Reshard(ctx, in, out, ReshardOptions{Options: o})
		return err
	},
	"shuffle": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Reshard(ctx, in, out, ReshardOptions{Options: o, Shuffle: true})
		return err
	},
	"sort": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Reshard(ctx, in, out, ReshardOptions{Options: o, SortBy: "id"})
		return err
	},
	"group": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Reshard(ctx, in, out, ReshardOptions{Options: o, GroupBy: "group"})
		return err
	},
	"merge": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Merge(ctx, in, out, o)
		return err
	},
	"sample": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Sample(ctx, in, out, SampleOptions{Options: o, Share: 0.5})
		return err
	},
	"take": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Take(ctx, in, out, TakeOptions{Options: o, Skip: 1})
		return err
	},
}

// forReshapers builds records that suit all reshapers.
func forReshapers(i int, b *tfrecord.Builder) {
	b.String("group", string(rune('a'+i%3)))
	b.Int64("id", int64(i*7919%100))
	b.Bytes("noise", make([]byte, i%50*40))
}

func TestDamagedInputsLeaveNothing(t *testing.T) {
	for name, run := range reshapers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 60, forReshapers)
			whole, err := os.ReadFile(path)
			settest.Check(t, err)
			entries := settest.IndexOf(t, path)
			hit := entries[41]
			for _, c := range []struct {
				name   string
				damage func(data []byte) []byte
				part   tfrecord.Part
				record int64
				offset int64
			}{
				{"data", func(d []byte) []byte { d[hit.Offset+13] ^= 1; return d }, tfrecord.PartDataCRC, 41, hit.Offset},
				{"length", func(d []byte) []byte { d[hit.Offset] ^= 1; return d }, tfrecord.PartLengthCRC, 41, hit.Offset},
				{"cut in the data", func(d []byte) []byte { return d[:hit.Offset+20] }, tfrecord.PartData, 41, hit.Offset},
				{"cut in the header", func(d []byte) []byte { return d[:hit.Offset+5] }, tfrecord.PartLength, 41, hit.Offset},
			} {
				settest.Check(t, os.WriteFile(path, c.damage(slices.Clone(whole)), 0o644))
				out := filepath.Join(t.TempDir(), "out")
				err := run(context.Background(), []string{path}, out, Options{Shards: 3})
				var damaged *shard.DamagedError
				var fault *tfrecord.Error
				if !errors.As(err, &damaged) || !errors.As(err, &fault) {
					t.Errorf("%s: %v, want a DamagedError", c.name, err)
				} else if fault.Part != c.part || fault.Record != c.record || fault.Offset != c.offset || fault.Name != path {
					t.Errorf("%s: %v, want %s of record %d at byte %d", c.name, err, c.part, c.record, c.offset)
				}
				settest.NothingAt(t, out)
			}
		})
	}
}

// TestEveryOperationMayFail injects a fault into the first file operation, then the second, and so
// on, later ones with gaps: no files and no goroutines may be left, and without a fault the set is
// the usual one.
func TestEveryOperationMayFail(t *testing.T) {
	paths := []string{
		settest.ExampleFile(t, filepath.Join(t.TempDir(), "x-train.tfrecord-00000-of-00001"), 40, forReshapers),
		settest.ExampleFile(t, filepath.Join(t.TempDir(), "x-val.tfrecord-00000-of-00001"), 20, forReshapers),
	}
	for name, run := range reshapers {
		t.Run(name, func(t *testing.T) {
			o := Options{Shards: 1, Memory: source.LeastMemory, Workers: 1}
			whole := filepath.Join(t.TempDir(), "whole")
			settest.Check(t, run(context.Background(), paths, whole, o))
			goroutines := runtime.NumGoroutine()
			for n := 1; ; n += 1 + n/12 { // later operations are like earlier ones
				if n > 1000 {
					t.Fatal("it fails for ever")
				}
				failed := make(chan string, 1)
				count := make(chan int, 1)
				count <- 0
				ctx := inject.With(context.Background(), func(operation string) error {
					at := <-count + 1
					count <- at
					if at != n {
						return nil
					}
					failed <- operation
					return fmt.Errorf("%s: %w", operation, syscall.EIO)
				})
				out := filepath.Join(t.TempDir(), "out")
				err := run(ctx, paths, out, o)
				if len(failed) == 0 {
					settest.Check(t, err)
					if !settest.SameFiles(settest.FilesOf(t, whole), settest.FilesOf(t, out)) {
						t.Error("a run in which nothing fails gives another set")
					}
					if n < 10 {
						t.Errorf("less than %d operations are attempted", n)
					}
					break
				}
				operation := <-failed
				if !errors.Is(err, syscall.EIO) {
					t.Errorf("operation %d, %s, failed, and the run said %v", n, operation, err)
				}
				var damaged *shard.DamagedError
				if errors.As(err, &damaged) {
					t.Errorf("operation %d, %s, failed, and the run took it for damage: %v", n, operation, err)
				}
				settest.NothingAt(t, out)
			}
			testwait.Until(func() bool { return runtime.NumGoroutine() <= goroutines })
		})
	}
}

// TestCancelledRunsLeaveNothing cancels runs after some operations.
func TestCancelledRunsLeaveNothing(t *testing.T) {
	t.Parallel()
	path := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 60, forReshapers)
	for name, run := range reshapers {
		for n := 1; n < 12; n += 2 {
			ctx, cancel := context.WithCancel(context.Background())
			count := make(chan int, 1)
			count <- 0
			hooked := inject.With(ctx, func(string) error {
				at := <-count + 1
				count <- at
				if at == n {
					cancel()
				}
				return nil
			})
			out := filepath.Join(t.TempDir(), "out")
			if err := run(hooked, []string{path}, out, Options{Shards: 2}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled at operation %d: %v", name, n, err)
			}
			settest.NothingAt(t, out)
			cancel()
		}
	}
}

func TestRefusedOutputs(t *testing.T) {
	base := t.TempDir()
	set := filepath.Join(base, "set")
	file := settest.ExampleFile(t, filepath.Join(base, "files", "x.tfrecord"), 5, settest.Numbers)
	settest.Check(t, reshapers["reshard"](context.Background(), []string{file}, set, Options{}))
	link := filepath.Join(t.TempDir(), "link")
	settest.Check(t, os.Symlink(set, link))
	settest.Check(t, os.MkdirAll(filepath.Join(base, "full"), 0o755))
	settest.Check(t, os.WriteFile(filepath.Join(base, "full", "mine.txt"), nil, 0o644))
	settest.Check(t, os.MkdirAll(filepath.Join(base, "empty"), 0o755))
	before := settest.FilesOf(t, base)
	for _, c := range []struct{ in, out, want string }{
		{set, set, "is the input"},
		{set, link, "is the input"},
		{link, set, "is the input"},
		{set, filepath.Join(set, "inside"), "is inside the input"},
		{filepath.Join(set, "manifest.json"), filepath.Join(set, "inside"), "is inside the input"},
		{set, filepath.Join(link, "inside"), "is inside the input"},
		{filepath.Join(base, "s?t"), filepath.Join(set, "inside"), "is inside the input"},
		{filepath.Join(base, "files"), filepath.Join(base, "files", "in", "side"), "is inside the input"},
		{set, base, "contains the input"},
		{file, filepath.Join(base, "files"), "contains the input"},
		{file, file, "is the input"},
		{"file://" + set, filepath.Join(set, "inside"), "is inside the input"},
		{"file://" + set, base, "contains the input"},
		{set, "file://" + filepath.Join(base, "new"), "without file://"},
		{set, filepath.Join(base, "full"), "not empty"},
		{set, filepath.Join(base, "full", "mine.txt"), "not a directory"},
	} {
		err := reshapers["reshard"](context.Background(), []string{c.in}, c.out, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: %v, want %q", c.in, c.out, err, c.want)
		}
	}
	if !settest.SameFiles(before, settest.FilesOf(t, base)) {
		t.Error("a refused run changed something")
	}
	// A directory next to an input file is fine, and so is an empty one.
	settest.Check(t, reshapers["reshard"](context.Background(), []string{file}, filepath.Join(base, "files", "out"), Options{}))
	settest.Check(t, reshapers["reshard"](context.Background(), []string{file}, filepath.Join(base, "empty"), Options{}))
	if err := reshapers["reshard"](context.Background(), []string{set}, filepath.Join(base, "empty"), Options{}); err == nil {
		t.Error("a finished set is written over")
	}
}

func TestRefusedOptions(t *testing.T) {
	path := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 30, forReshapers)
	reshard := func(o ReshardOptions) func(string) error {
		return func(out string) error {
			_, err := Reshard(context.Background(), []string{path}, out, o)
			return err
		}
	}
	common := func(o Options) func(string) error { return reshard(ReshardOptions{Options: o}) }
	sample := func(o SampleOptions) func(string) error {
		return func(out string) error {
			_, err := Sample(context.Background(), []string{path}, out, o)
			return err
		}
	}
	for name, c := range map[string]struct {
		run   func(out string) error
		usage bool
		want  string
	}{
		"two ways to cut":    {common(Options{Shards: 2, ShardSize: 100}), true, "Options.ShardSize: it excludes Options.Shards"},
		"negative":           {common(Options{Shards: -1}), true, "Options.Shards"},
		"little memory":      {common(Options{Memory: 100}), true, "Options.Memory"},
		"bad name":           {common(Options{Name: "a-b"}), true, "Options.Name"},
		"sort and shuffle":   {reshard(ReshardOptions{SortBy: "id", Shuffle: true}), true, "excludes"},
		"sort by nothing":    {reshard(ReshardOptions{SortBy: "what"}), true, `no record has a value of feature "what"`},
		"group by nothing":   {reshard(ReshardOptions{GroupBy: "what"}), false, "record 0"},
		"sample of all more": {sample(SampleOptions{Count: 31}), false, "only 30 records"},
		"sample of what":     {sample(SampleOptions{}), true, "SampleOptions.Count"},
		"sample twice":       {sample(SampleOptions{Count: 1, Share: 1}), true, "excludes"},
		"sample of none":     {sample(SampleOptions{Share: 0.001}), false, "no records are left"},
		"take behind the end": {func(out string) error {
			_, err := Take(context.Background(), []string{path}, out, TakeOptions{Skip: 30})
			return err
		}, false, "no records are left"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		err := c.run(out)
		if err == nil || !strings.Contains(err.Error(), c.want) || isOptionError(err) != c.usage {
			t.Errorf("%s: %v, want %q, wrong usage: %v", name, err, c.want, c.usage)
		}
		settest.NothingAt(t, out)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := reshapers["reshard"](context.Background(), []string{settest.ExampleFile(t, filepath.Join(t.TempDir(), "x"), 0, nil)}, out, Options{}); !errors.Is(err, shard.ErrNoRecords) {
		t.Errorf("an empty input: %v, want ErrNoRecords", err)
	}
	settest.NothingAt(t, out)
}
