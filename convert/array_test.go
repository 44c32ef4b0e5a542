package convert

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func mustFinalize(t *testing.T, out string) *Summary {
	t.Helper()
	s, err := Finalize(context.Background(), out, FinalizeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// taskOf returns options for task i of n.
func taskOf(o ImageOptions, i, n int) ImageOptions {
	o.Task = &Task{Index: i, Count: n}
	return o
}

func TestArrayJobsMakeOneMachinesBytes(t *testing.T) {
	src, ref := directories(t, 70), t.TempDir()
	put(t, src, "c0/bad.png", []byte("no picture"))
	splits, _ := ParseSplits("train=0.8,val=0.2")
	o := ImageOptions{Options: Options{Splits: splits, Shards: 5, MaxErrors: Tolerance{Count: 1}, Workers: 2}}
	mustImages(t, src, ref, o)
	want := contents(t, ref)

	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 3, 10, 17} {
		out := t.TempDir()
		runs := append(rng.Perm(n), rng.IntN(n), rng.IntN(n)) // each, and some of them again
		for _, i := range runs {
			s := mustImages(t, src, out, taskOf(o, i, n))
			if s.Task == nil || s.Task.Index != i {
				t.Fatalf("task %d of %d: %+v", i, n, s)
			}
			if _, err := os.Stat(filepath.Join(out, manifest.File)); err == nil {
				t.Fatal("a task left a manifest")
			}
		}
		s := mustFinalize(t, out)
		if s.Status != Written || s.Samples != 71 || s.Records != 70 || s.Errors != 1 {
			t.Errorf("%d tasks: %+v", n, s)
		}
		sameSet(t, contents(t, out), want)
		// A run killed between the manifest and sweeping.
		left := filepath.Join(out, shard.StateDir, "tmp", "left")
		put(t, out, shard.StateDir+"/tmp/left", nil)
		if s := mustFinalize(t, out); s.Status != UpToDate || s.Records != 70 {
			t.Errorf("finalized again: %+v", s)
		}
		if _, err := os.Stat(left); err == nil {
			t.Error("finalize left what a killed one did")
		}
		if s := mustImages(t, src, out, o); s.Status != UpToDate {
			t.Errorf("one machine after %d tasks: %+v", n, s)
		}
		// A late task of the same plan does no harm either.
		if s := mustImages(t, src, out, taskOf(o, 0, n)); s.Status != UpToDate {
			t.Errorf("a task after all: %+v", s)
		}
		sameSet(t, contents(t, out), want)
	}
}

func TestArrayJobsOfTables(t *testing.T) {
	src := writeTable(t, "n.csv", numberedRows(3000))
	for _, shuffled := range []bool{false, true} {
		o := CSVOptions{Options: Options{Shards: 4, MaxErrors: Tolerance{Count: 3}}, Shuffle: shuffled}
		ref, out := t.TempDir(), t.TempDir()
		mustCSV(t, []string{src}, ref, o)
		for _, i := range []int{2, 0, 1, 2} {
			o := o
			o.Task = &Task{Index: i, Count: 3}
			mustCSV(t, []string{src}, out, o)
		}
		mustFinalize(t, out)
		sameSet(t, contents(t, out), contents(t, ref))
	}
}

// TestTasksAtOnce runs every task twice, all concurrently, and cancels some of them.
func TestTasksAtOnce(t *testing.T) {
	src, ref, out := directories(t, 60), t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 8, Workers: 1}}
	mustImages(t, src, ref, o)
	const tasks = 4
	run := func(ctx context.Context, i int) error {
		_, err := Images(ctx, src, out, taskOf(o, i, tasks))
		return err
	}
	var wait sync.WaitGroup
	for i := range 2 * tasks {
		wait.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if i%3 == 0 {
				go func() {
					time.Sleep(time.Duration(i) * 2 * time.Millisecond)
					cancel()
				}()
			}
			if err := run(ctx, i%tasks); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for i := range tasks { // cancelled work is made by the next run
		if err := run(context.Background(), i); err != nil {
			t.Fatal(err)
		}
	}
	mustFinalize(t, out)
	sameSet(t, contents(t, out), contents(t, ref))
}

func TestFinalizeNamesWhatIsMissing(t *testing.T) {
	src, out := directories(t, 40), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 6}}
	if _, err := Finalize(context.Background(), out, FinalizeOptions{}); err == nil || !strings.Contains(err.Error(), "no array job") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Finalize(context.Background(), filepath.Join(out, "none"), FinalizeOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	mustImages(t, src, out, taskOf(o, 0, 3))
	mustImages(t, src, out, taskOf(o, 2, 3))
	var missing *MissingShardsError
	if _, err := Finalize(context.Background(), out, FinalizeOptions{}); !errors.As(err, &missing) {
		t.Fatal(err)
	}
	want := []string{"pets-train.tfrecord-00001-of-00006", "pets-train.tfrecord-00004-of-00006"}
	if !slices.Equal(missing.Missing, want) || missing.Planned != 6 {
		t.Errorf("missing %q of %d", missing.Missing, missing.Planned)
	}
	// A shard damaged after it was made counts as missing, too.
	mustImages(t, src, out, taskOf(o, 1, 3))
	if err := os.Truncate(filepath.Join(out, want[0]), 100); err != nil {
		t.Fatal(err)
	}
	if _, err := Finalize(context.Background(), out, FinalizeOptions{}); !errors.As(err, &missing) || len(missing.Missing) != 1 {
		t.Errorf("a cut shard: %v", err)
	}
	mustImages(t, src, out, taskOf(o, 1, 3))
	mustFinalize(t, out)
}

func TestTasksOfAnotherPlanAreRefused(t *testing.T) {
	src := directories(t, 40)
	base := ImageOptions{Options: Options{Shards: 4}}
	for name, c := range map[string]struct {
		change func(src string, o *ImageOptions)
		says   string
	}{
		"options":    {func(_ string, o *ImageOptions) { o.Seed = 7 }, "Options.Seed was 0, now it is 7"},
		"name":       {func(_ string, o *ImageOptions) { o.Name = "dogs" }, "Options.Name was pets, now it is dogs"},
		"max errors": {func(_ string, o *ImageOptions) { o.MaxErrors.Share = 0.5 }, "Options.MaxErrors was 0, now it is 50%"},
		"a new file": {func(src string, _ *ImageOptions) { put(t, src, "c1/new.png", pngOf(99)) }, "its input has 40 samples, now there are 41"},
		"a changed file": {func(src string, _ *ImageOptions) { put(t, src, "c1/001.png", pngOf(2000)[:40]) },
			"its input differs: other keys, labels or sizes of files"},
		"a renamed label": {func(src string, _ *ImageOptions) { os.Rename(filepath.Join(src, "c1"), filepath.Join(src, "c9")) }, "its input "},
	} {
		t.Run(name, func(t *testing.T) {
			src, out := copyOf(t, src), t.TempDir()
			mustImages(t, src, out, taskOf(base, 0, 2))
			o := base
			c.change(src, &o)
			_, err := Images(context.Background(), src, out, taskOf(o, 1, 2))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	for name, data := range contents(t, dir) {
		put(t, to, name, []byte(data))
	}
	return to
}

// TestTasksNeverStopForBadSamples: finalize counts them, and a corrected input gets a new plan that
// keeps what it can.
func TestTasksNeverStopForBadSamples(t *testing.T) {
	src, out, ref := directories(t, 40), t.TempDir(), t.TempDir()
	put(t, src, "c2/002.png", []byte("no picture"))
	o := ImageOptions{Options: Options{Shards: 4}}
	for i := range 2 {
		mustImages(t, src, out, taskOf(o, i, 2))
	}
	var bad *BadSamplesError
	if _, err := Finalize(context.Background(), out, FinalizeOptions{}); !errors.As(err, &bad) || bad.Summary.Errors != 1 {
		t.Fatalf("finalized in spite of a bad sample: %v", err)
	}
	put(t, src, "c2/002.png", pngOf(2))
	if _, err := Images(context.Background(), src, out, taskOf(o, 0, 2)); err == nil {
		t.Error("another input went into the plan under way")
	}
	kept := 0
	for i := range 2 {
		o := taskOf(o, i, 2)
		o.Replan = true
		kept += mustImages(t, src, out, o).ShardsKept
	}
	if kept != 3 {
		t.Errorf("%d shards kept, want 3 of 4", kept)
	}
	if s := mustFinalize(t, out); s.Errors != 0 || s.Records != 40 {
		t.Errorf("finalized: %+v", s)
	}
	mustImages(t, src, ref, o)
	sameSet(t, contents(t, out), contents(t, ref))

	allowed := Tolerance{Count: 1}
	put(t, src, "c2/002.png", []byte("no picture"))
	for i := range 2 {
		mustImages(t, src, out, taskOf(o, i, 2))
	}
	if s, err := Finalize(context.Background(), out, FinalizeOptions{MaxErrors: &allowed}); err != nil || s.Errors != 1 {
		t.Errorf("with one bad sample allowed: %+v, %v", s, err)
	}
}

func TestOneMachineFinishesAnArrayJob(t *testing.T) {
	src, out, ref := directories(t, 40), t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 4}}
	mustImages(t, src, ref, o)
	mustImages(t, src, out, taskOf(o, 1, 2))
	if s := mustImages(t, src, out, o); s.Status != Resumed || s.ShardsKept != 2 {
		t.Errorf("%+v", s)
	}
	sameSet(t, contents(t, out), contents(t, ref))
	if s := mustFinalize(t, out); s.Status != UpToDate {
		t.Errorf("finalized: %+v", s)
	}
}

func TestTasksAndOthersKeepOut(t *testing.T) {
	src, out := directories(t, 20), t.TempDir()
	joined, err := setdir.Open(context.Background(), out, setdir.Options{Join: true})
	if err != nil {
		t.Fatal(err)
	}
	o := ImageOptions{Options: Options{Shards: 2}}
	if _, err := Images(context.Background(), src, out, o); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("a run beside tasks: %v", err)
	}
	if _, err := Finalize(context.Background(), out, FinalizeOptions{}); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("finalize beside tasks: %v", err)
	}
	mustImages(t, src, out, taskOf(o, 0, 2))
	joined.Close()
	alone, err := setdir.Open(context.Background(), out, setdir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if _, err := Images(context.Background(), src, out, taskOf(o, 1, 2)); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("a task beside a run: %v", err)
	}
}

// flaky is a source whose job 1 cannot be read the first few times.
type flaky struct {
	plan.Source
	fails int
}

func (f *flaky) Pieces(ctx context.Context, shard int) iter.Seq2[plan.Fill, error] {
	if shard == 1 && f.fails > 0 {
		f.fails--
		return func(yield func(plan.Fill, error) bool) { yield(nil, errors.New("the disk is away")) }
	}
	return f.Source.Pieces(ctx, shard)
}

func TestShardsAreTriedAgain(t *testing.T) {
	src, ref := directories(t, 30), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 3, Retries: 1, Workers: 1, Name: "pets"}}
	mustImages(t, src, ref, o)
	for fails, well := range []bool{true, true, false} {
		out := t.TempDir()
		notes := 0
		o := o
		o.Note = func(string) { notes++ }
		_, err := plan.Run(context.Background(), &changedInput{&imageInput{o: &o, src: src}, func(s plan.Source) plan.Source {
			return &flaky{s, fails}
		}}, out)
		if well != (err == nil) || notes != min(fails, 1) {
			t.Errorf("failing %d times: %v, with %d notes", fails, err, notes)
		}
		if well {
			sameSet(t, contents(t, out), contents(t, ref))
		} else if !strings.Contains(err.Error(), "the disk is away") {
			t.Error(err)
		}
	}
}

// lateFailure is a source whose second shard fails once, after it was completely written.
type lateFailure struct {
	inOrder
	progress *Progress
	upTo     int64 // samples of the first two shards
	failed   bool
}

func (f *lateFailure) Pieces(ctx context.Context, shard int) iter.Seq2[plan.Fill, error] {
	if shard != 1 || f.failed {
		return f.Source.Pieces(ctx, shard)
	}
	f.failed = true
	return func(yield func(plan.Fill, error) bool) {
		for t, err := range f.Source.Pieces(ctx, shard) {
			if !yield(t, err) {
				return
			}
		}
		for f.progress.Done.Load() < f.upTo && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		yield(nil, errors.New("the disk is away"))
	}
}

// TestProgressOfShardsTriedAgain checks that each sample, including bad ones, is counted once.
func TestProgressOfShardsTriedAgain(t *testing.T) {
	src := directories(t, 30)
	bad := filepath.Join(src, "bad") // a class of only damaged images, in every shard
	if err := os.Mkdir(bad, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		if err := os.WriteFile(filepath.Join(bad, fmt.Sprintf("%d.jpg", i)), []byte("no image"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	count := func(fail bool) [4]int64 {
		p := new(Progress)
		o := ImageOptions{Options: Options{Shards: 3, Retries: 1, Workers: 2, Name: "pets", Progress: p, MaxErrors: Tolerance{Share: 1}}}
		_, err := plan.Run(context.Background(), &changedInput{&imageInput{o: &o, src: src}, func(s plan.Source) plan.Source {
			shards := s.Layout().Shards
			return &lateFailure{inOrder{s}, p, shards[0].Samples + shards[1].Samples, !fail}
		}}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return [4]int64{p.Planned.Load(), p.Done.Load(), p.Errors.Load(), p.BytesOut.Load()}
	}
	want := count(false)
	if want[0] != 42 || want[1] != 42 || want[2] != 12 {
		t.Fatalf("planned, done, errors, bytes: %d", want)
	}
	if got := count(true); got != want {
		t.Errorf("planned, done, errors, bytes: %d; want %d", got, want)
	}
}

func TestTaskOf(t *testing.T) {
	for _, c := range []struct {
		env   string
		count int
		want  int // -1: refused
		says  string
	}{
		{"SLURM_ARRAY_TASK_ID=3", 4, 3, ""},
		{"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=4", 4, 2, ""},
		{"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=4 SLURM_ARRAY_TASK_COUNT=2", 10, -1, "says that there are 2 tasks, Task.Count says 10"},
		{"SLURM_ARRAY_TASK_ID=4", 4, -1, "only 4 tasks"},
		{"SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=2", 4, -1, "not among the indices"},
		{"SLURM_ARRAY_TASK_ID=x", 4, -1, "not a number"},
		{"JOB_COMPLETION_INDEX=0", 1, 0, ""},
		{"AWS_BATCH_JOB_ARRAY_INDEX=9 AWS_BATCH_JOB_ARRAY_SIZE=10", 10, 9, ""},
		{"AWS_BATCH_JOB_ARRAY_INDEX=9 AWS_BATCH_JOB_ARRAY_SIZE=12", 10, -1, "AWS Batch says that there are 12"},
		{"CLOUD_RUN_TASK_INDEX=1 CLOUD_RUN_TASK_COUNT=2", 2, 1, ""},
		{"BATCH_TASK_INDEX=1 BATCH_TASK_COUNT=2", 2, 1, ""},
		{"PBS_ARRAY_INDEX=0", 2, 0, ""},
		{"LSB_JOBINDEX=2", 2, 1, ""},
		{"LSB_JOBINDEX=0", 2, -1, "finds no array job"},
		{"SGE_TASK_ID=undefined SGE_TASK_FIRST=undefined", 2, -1, "finds no array job"},
		{"SGE_TASK_ID=4 SGE_TASK_FIRST=2 SGE_TASK_LAST=6 SGE_TASK_STEPSIZE=2", 3, 1, ""},
		{"SGE_TASK_ID=4 SGE_TASK_FIRST=2 SGE_TASK_LAST=4 SGE_TASK_STEPSIZE=2", 3, -1, "says that there are 2 tasks"},
		{"JOB_COMPLETION_INDEX=1 SLURM_ARRAY_TASK_ID=1", 2, 1, ""},
		{"JOB_COMPLETION_INDEX=0 SLURM_ARRAY_TASK_ID=1", 2, -1, "disagree"},
		{"", 2, -1, "finds no array job"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		task, from, err := TaskOf(c.count, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		switch {
		case c.want < 0:
			if err == nil || !ofOption(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: task %+v, %v, want an error that says %q", c.env, task, err, c.says)
			}
		case err != nil || task != (Task{Index: c.want, Count: c.count}) || !strings.Contains(c.env, from):
			t.Errorf("%s: %+v from %q, %v; want %d", c.env, task, from, err, c.want)
		}
	}
}

func TestPlansAreShownAndEstimated(t *testing.T) {
	src, out := directories(t, 50), filepath.Join(t.TempDir(), "out")
	o := ImageOptions{Options: Options{Shards: 4, DryRun: true, Estimate: true}}
	p := mustImages(t, src, out, taskOf(o, 0, 3)).Plan
	if len(p.Shards) != 4 || p.Shards[3].Task != 0 || p.Shards[2].Task != 2 {
		t.Fatalf("%+v", p)
	}
	keys := 0
	for _, s := range p.Shards {
		keys += len(s.Keys)
		if int64(len(s.Keys)) != s.Samples || s.Kept {
			t.Errorf("%+v", s)
		}
	}
	if keys != 50 {
		t.Errorf("%d keys", keys)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a plan made the folder")
	}
	o.DryRun, o.Estimate = false, false
	s := mustImages(t, src, out, o)
	if e := p.Estimate; e.Tried != 50 || e.Bytes != s.Bytes {
		t.Errorf("estimated %+v, and made %d bytes", e, s.Bytes)
	}
	var outputs []string
	for name := range contents(t, out) {
		outputs = append(outputs, name)
	}
	slices.Sort(outputs)
	slices.Sort(p.Outputs)
	if !slices.Equal(outputs, p.Outputs) {
		t.Errorf("said %q, made %q", p.Outputs, outputs)
	}
}

// TestPlansSayWhatGoes changes numbers of shards, splits and compression at random, and checks that
// each run removes what its dry run said.
func TestPlansSayWhatGoes(t *testing.T) {
	src, out := directories(t, 40), t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	mustImages(t, src, out, ImageOptions{Options: Options{Shards: 3}})
	for range 12 {
		o := ImageOptions{Options: Options{Shards: 1 + rng.IntN(4), Overwrite: true, Compression: []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip}[rng.IntN(2)]}}
		if rng.IntN(2) > 0 {
			o.Splits, _ = ParseSplits("train=0.7,val=0.3")
		}
		o.DryRun = true
		p := mustImages(t, src, out, o).Plan
		before := contents(t, out)
		o.DryRun = false
		mustImages(t, src, out, o)
		after := contents(t, out)
		gone := []string{}
		for name := range before {
			if _, ok := after[name]; !ok {
				gone = append(gone, name)
			}
		}
		slices.Sort(gone)
		if !slices.Equal(gone, p.Removed) {
			t.Fatalf("said %q, removed %q", p.Removed, gone)
		}
	}
}

func TestTolerancesAreWrittenAsTheyAreRead(t *testing.T) {
	for _, text := range []string{"0", "12", "12.5%", "0.1%", "100%"} {
		v, err := ParseTolerance(text)
		if err != nil || v.String() != text {
			t.Errorf("%s is written as %s (%v)", text, v, err)
		}
	}
}

// TestTasksOvertake: other tasks of the job finish while one is still planning.
func TestTasksOvertake(t *testing.T) {
	src, ref := directories(t, 40), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 4, Name: "pets"}}
	mustImages(t, src, ref, o)
	for name, meanwhile := range map[string]func(out string){
		"another task": func(out string) { mustImages(t, src, out, taskOf(o, 1, 2)) },
		"a twin":       func(out string) { mustImages(t, src, out, taskOf(o, 0, 2)) },
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			slow := taskOf(o, 0, 2)
			_, err := plan.Run(context.Background(), &changedInput{&imageInput{o: &slow, src: src}, func(s plan.Source) plan.Source {
				meanwhile(out)
				return s
			}}, out)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				mustImages(t, src, out, taskOf(o, i, 2))
			}
			mustFinalize(t, out)
			sameSet(t, contents(t, out), contents(t, ref))
		})
	}
}
