package convert

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/shard"
)

// inOrder is a source whose tasks are taken in the order of its jobs.
type inOrder struct{ plan.Source }

func (inOrder) AnyOrder() bool { return false }

// interrupting is a source that cancels its run once a number of shards are finished, before the
// next one begins.
type interrupting struct {
	inOrder
	progress *Progress
	after    int64
	begun    int64
	cancel   context.CancelFunc
}

func (s *interrupting) Pieces(ctx context.Context, shard int) iter.Seq2[plan.Fill, error] {
	s.begun++
	if s.begun <= s.after {
		return s.Source.Pieces(ctx, shard)
	}
	return func(yield func(plan.Fill, error) bool) {
		for s.progress.Finished.Load() < s.after && ctx.Err() == nil {
			time.Sleep(100 * time.Microsecond)
		}
		s.cancel()
		yield(nil, context.Canceled)
	}
}

// interruptible is a conversion of images or tables that can be interrupted.
type interruptible struct {
	convert func(out string, o Options) (*Summary, error)
	input   func(o Options) plan.Input
	change  func() // changes the whole input
}

// changedInput is an input whose planned source a test changes.
type changedInput struct {
	plan.Input
	change func(plan.Source) plan.Source
}

func (c *changedInput) Plan(ctx context.Context, before *plan.Previous) (plan.Source, error) {
	s, err := c.Input.Plan(ctx, before)
	if err == nil {
		s = c.change(s)
	}
	return s, err
}

// interrupt runs a conversion until some shards are finished.
func (c *interruptible) interrupt(t *testing.T, out string, o Options, after int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = new(Progress)
	_, err := plan.Run(ctx, &changedInput{c.input(o), func(s plan.Source) plan.Source {
		return &interrupting{inOrder: inOrder{s}, progress: o.Progress, after: int64(after), cancel: cancel}
	}}, out)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted after %d shards: %v", after, err)
	}
}

func interruptibleImages(t *testing.T) *interruptible {
	src := directories(t, 48)
	ctx := t.Context()
	changes := 0
	return &interruptible{
		convert: func(out string, o Options) (*Summary, error) {
			return Images(ctx, src, out, ImageOptions{Options: o})
		},
		input: func(o Options) plan.Input { return &imageInput{o: &ImageOptions{Options: o}, src: src} },
		change: func() {
			changes++
			for i := range 48 {
				name := fmt.Sprintf("c%d/%03d.png", i%3, i)
				put(t, src, name, pngOf(i+changes*100))
				when := old.Add(time.Duration(changes) * time.Minute) // the size may be the same
				if err := os.Chtimes(filepath.Join(src, name), when, when); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
}

func interruptibleTable(t *testing.T, shuffle bool) *interruptible {
	rows := 300
	src := writeTable(t, "n.csv", numberedRows(rows))
	ctx := t.Context()
	options := func(o Options) CSVOptions { return CSVOptions{Options: o, Shuffle: shuffle} }
	return &interruptible{
		convert: func(out string, o Options) (*Summary, error) {
			return CSV(ctx, []string{src}, out, options(o))
		},
		input: func(o Options) plan.Input {
			return tables.NewCSV([]string{src}, options(o), stated.SplitsOfFiles)
		},
		change: func() {
			rows += 57
			rewrite(t, src, numberedRows(rows))
		},
	}
}

// Whatever an interrupted run has finished, the same run keeps: in an empty directory, over a set
// that it updates or overwrites, and as a task of an array job. A dry run says so. Runs with other
// options in between cost what they replace, and none of their shards gets into the set.
func TestInterruptedRunsKeepWhatTheyFinished(t *testing.T) {
	for _, seed := range torture.Sample(t, 18, torture.Seeds(36, 600)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 71))
			var c *interruptible
			kind := "images"
			if r.IntN(2) == 0 {
				c = interruptibleImages(t)
			} else {
				c, kind = interruptibleTable(t, r.IntN(2) == 0), "table"
			}
			out, fresh := filepath.Join(t.TempDir(), "pets"), filepath.Join(t.TempDir(), "pets")
			must := func(out string, o Options) *Summary {
				t.Helper()
				s, err := c.convert(out, o)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			o := Options{Name: "pets", Shards: 3 + r.IntN(5), Seed: 1, Workers: 1 + r.IntN(3)}
			mode := []string{"first", "update", "overwrite"}[r.IntN(3)]
			tasks := 0
			if mode != "overwrite" && r.IntN(2) == 0 {
				tasks = 1 + r.IntN(2)
				o.Task = &Task{Index: r.IntN(tasks), Count: tasks}
			}
			old := map[string]string{}
			if mode != "first" {
				was := o
				was.Task = nil
				if mode == "overwrite" {
					was.Seed, was.Shards = 2, 3+r.IntN(5)
				}
				must(out, was)
				old = contents(t, out)
			}
			switch mode {
			case "update":
				c.change()
			case "overwrite":
				o.Overwrite = true
			}
			mine := o.Shards
			if tasks > 0 {
				mine = (o.Shards - o.Task.Index + tasks - 1) / tasks
			}
			t.Logf("%s, %s, %d of %d shards, task %v of %d", mode, kind, mine, o.Shards, o.Task, tasks)
			if mine < 2 {
				t.Skip("no shard to keep and one to make")
			}
			// Twice: the second keeps what the first kept.
			at := out
			if mode != "first" {
				at = filepath.Join(out, shard.StateDir, "stage")
			}
			kept := 0
			for mine-kept > 1 && (kept == 0 || r.IntN(2) == 0) {
				n := 1 + r.IntN(mine-kept-1)
				c.interrupt(t, out, o, n)
				kept += n
			}
			if mode != "first" {
				sameSet(t, contents(t, out), old)
			}
			if mode == "overwrite" && r.IntN(2) == 0 {
				other := o
				other.Seed, other.Shards = 3, 8 // no file of the other's number
				c.interrupt(t, out, other, 1+r.IntN(7))
				if s := must(out, func() Options { o := other; o.DryRun, o.Seed = true, 4; return o }()); s.ShardsKept != 0 {
					t.Errorf("%d shards of other options would be kept", s.ShardsKept)
				}
				if r.IntN(2) == 0 { // and one that replaces some of them
					other.Shards = o.Shards
					n := 1 + r.IntN(o.Shards-1)
					c.interrupt(t, out, other, n)
					kept -= min(kept, n)
				}
			}

			dry := o
			dry.DryRun = true
			plan := must(out, dry)
			if plan.ShardsKept != kept {
				t.Errorf("%s, %d tasks: a dry run would keep %d shards, want %d", mode, tasks, plan.ShardsKept, kept)
			}
			finished := map[string]os.FileInfo{}
			for _, s := range plan.Plan.Shards {
				if s.Kept {
					st, err := os.Stat(filepath.Join(at, s.File))
					if err != nil {
						t.Fatal(err)
					}
					finished[s.File] = st
				}
			}
			s := must(out, o)
			if s.ShardsKept != kept || s.ShardsWritten != mine-kept {
				t.Errorf("%s, %d tasks: kept %d and wrote %d shards, want %d and %d", mode, tasks, s.ShardsKept, s.ShardsWritten, kept, mine-kept)
			}
			for i := range tasks {
				o.Task = &Task{Index: i, Count: tasks}
				must(out, o)
			}
			if tasks > 0 {
				mustFinalize(t, out)
			}
			for file, was := range finished {
				if is, err := os.Stat(filepath.Join(out, file)); err != nil || !os.SameFile(is, was) {
					t.Errorf("%s is not the file that the interrupted run finished", file)
				}
			}
			o.Task, o.Overwrite = nil, false
			must(fresh, o)
			sameSet(t, contents(t, out), contents(t, fresh))
			if _, err := os.Stat(filepath.Join(out, shard.StateDir, "stage")); err == nil {
				t.Error("something is still staged")
			}
			if s := must(out, o); s.Status != UpToDate {
				t.Errorf("again: %+v", s)
			}
		})
	}
}

// A run that overwrites a set also remakes shards that would be the same: as a plain run, and as
// processes of a Job.
func TestOverwritingKeepsNoShardOfTheSet(t *testing.T) {
	ctx := t.Context()
	src, fresh := directories(t, 60), t.TempDir()
	splits, err := ParseSplits("train=0.6,val=0.4")
	if err != nil {
		t.Fatal(err)
	}
	was := ImageOptions{Options: Options{Splits: splits, SplitShards: map[string]int{"train": 3, "val": 2}}}
	o := was
	o.SplitShards, o.Overwrite = map[string]int{"train": 4, "val": 2}, true
	mustImages(t, src, fresh, o)
	for _, how := range []string{"run", "job", "joined"} {
		out := t.TempDir()
		mustImages(t, src, out, was)
		same := filepath.Join(out, "pets-val.tfrecord-00001-of-00002")
		before, err := os.Stat(same)
		if err != nil {
			t.Fatal(err)
		}
		var s *Summary
		if how == "run" {
			s = mustImages(t, src, out, o)
		} else {
			j, err := BeginImages(ctx, src, out, o)
			mustBegin(t, j, err)
			maker := j
			if how == "joined" {
				maker, err = JoinImages(ctx, src, out, o)
				mustBegin(t, maker, err)
			}
			s, err = j.Run(ctx, makeAll(maker, 2, j.Todo()))
			if err != nil {
				t.Fatalf("%s: %v", how, err)
			}
		}
		if s.ShardsWritten != 6 || s.ShardsKept != 0 {
			t.Errorf("%s: %+v", how, s)
		}
		if after, err := os.Stat(same); err != nil || os.SameFile(before, after) {
			t.Errorf("%s: %s was kept (%v)", how, same, err)
		}
		sameSet(t, contents(t, out), contents(t, fresh))
	}
}

// A task with Replan abandons what was never finished, and only that: the tasks' plan, or a run's,
// with other options and numbers of shards. None of the old shards remains, not even one that a
// task of the old plan finishes late.
func TestReplanGivesUpAnUnfinishedSet(t *testing.T) {
	for _, seed := range torture.Sample(t, 12, torture.Seeds(24, 400)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 72))
			c := interruptibleTable(t, r.IntN(2) == 0)
			if r.IntN(2) == 0 {
				c = interruptibleImages(t)
			}
			out, fresh := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "fresh")
			last := func(o Options) string {
				return shard.Name{Dataset: o.Name, Split: "train", Index: o.Shards - 1, Count: o.Shards}.String()
			}
			was := Options{Name: "pets", Shards: 2 + r.IntN(5), Workers: 1 + r.IntN(3)}
			now := was
			now.Shards = 1 + (was.Shards+r.IntN(5))%6
			now.Seed = uint64(r.IntN(2))
			if r.IntN(3) == 0 {
				now.Name = "beasts"
			}
			if last(now) == last(was) && now.Seed == was.Seed {
				now.Seed++
			}
			tasks := 1 + r.IntN(3)
			if r.IntN(3) == 0 {
				c.interrupt(t, out, was, 1)
			} else {
				was.Task = &Task{Index: 0, Count: 1}
				c.interrupt(t, out, was, 1+r.IntN(was.Shards-1))
			}
			before := contents(t, out)
			now.Task = &Task{Index: r.IntN(tasks), Count: tasks}
			if _, err := c.convert(out, now); err == nil || !strings.Contains(err.Error(), "Options.Replan") {
				t.Fatalf("another plan: %v", err)
			}
			sameSet(t, contents(t, out), before)

			now.Replan = true
			late, planned := last(was), last(now)
			of := was.Name + "-train.tfrecord-"
			if now.Name == was.Name {
				of = late[len(late)-len("-of-00000"):]
			}
			for n, i := range append([]int{now.Task.Index}, r.Perm(tasks)...) {
				now.Task = &Task{Index: i, Count: tasks}
				if _, err := c.convert(out, now); err != nil {
					t.Fatal(err)
				}
				if n == 0 && late != planned {
					for name := range contents(t, out) {
						if strings.Contains(name, of) {
							t.Errorf("%s of the plan that was given up is still there", name)
						}
					}
					put(t, out, late, []byte("of a task that was still at work"))
				}
			}
			mustFinalize(t, out)
			now.Task, now.Replan = nil, false
			if _, err := c.convert(fresh, now); err != nil {
				t.Fatal(err)
			}
			sameSet(t, contents(t, out), contents(t, fresh))

			// Now it is finished, and no plan with other options can be made for it: the error does
			// not suggest Replan, even while tasks of an update are running.
			if r.IntN(2) == 0 {
				c.change()
				update := now
				update.Task = &Task{Index: 0, Count: 1}
				c.interrupt(t, out, update, 0)
			}
			other := now
			other.Task, other.Seed = &Task{Index: 0, Count: 1}, 9
			for _, other.Replan = range []bool{false, true} {
				if _, err := c.convert(out, other); err == nil || !strings.Contains(err.Error(), "Options.Seed was") || strings.Contains(err.Error(), "Options.Replan") {
					t.Errorf("tasks of other options over a finished set: %v", err)
				}
			}
			sameSet(t, contents(t, out), contents(t, fresh))
		})
	}
}
