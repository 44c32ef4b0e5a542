package convert

import (
	"bytes"
	"compress/gzip"
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
	"testing/synctest"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// makeAll returns work that makes shards in random order, from several goroutines, some of them
// twice.
func makeAll(j *Job, makers int, numbers []int) func(context.Context) error {
	return func(ctx context.Context) error {
		order := slices.Concat(numbers, numbers[:len(numbers)/3])
		rng := rand.New(rand.NewPCG(1, uint64(makers)))
		rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		errs := make([]error, makers)
		var wait sync.WaitGroup
		for m := range makers {
			wait.Go(func() {
				for i := m; i < len(order) && errs[m] == nil; i += makers {
					_, errs[m] = j.Make(ctx, order[i])
				}
			})
		}
		wait.Wait()
		return errors.Join(errs...)
	}
}

func mustBegin(t *testing.T, j *Job, err error) *Job {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func mustRun(t *testing.T, j *Job, makers int) *Summary {
	t.Helper()
	s, err := j.Run(context.Background(), makeAll(j, makers, j.Todo()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJobsMakeOneRunsBytes(t *testing.T) {
	ctx := context.Background()
	src, ref := directories(t, 70), t.TempDir()
	put(t, src, "c0/bad.png", []byte("no picture"))
	splits, _ := ParseSplits("train=0.8,val=0.2")
	o := ImageOptions{Options: Options{Splits: splits, Shards: 5, MaxErrors: Tolerance{Count: 1}, Workers: 2}}
	want := mustImages(t, src, ref, o)
	for _, makers := range []int{1, 3, 12} {
		out := t.TempDir()
		j, err := BeginImages(ctx, src, out, o)
		mustBegin(t, j, err)
		if len(j.Todo()) != 10 || j.Shards() != 10 || j.Shard(9) != "pets-val.tfrecord-00004-of-00005" {
			t.Fatalf("%d shards to make of %d, the last %s", len(j.Todo()), j.Shards(), j.Shard(9))
		}
		got := mustRun(t, j, makers)
		got.Seconds = want.Seconds
		if fmt.Sprint(*got) != fmt.Sprint(*want) {
			t.Errorf("%d makers: %+v, want %+v", makers, got, want)
		}
		sameSet(t, contents(t, out), contents(t, ref))

		again, err := BeginImages(ctx, src, out, o)
		mustBegin(t, again, err)
		if s := mustRun(t, again, makers); s.Status != UpToDate || s.ShardsKept != 10 {
			t.Errorf("again: %+v", s)
		}
		if s := mustImages(t, src, out, o); s.Status != UpToDate {
			t.Errorf("one run after a job: %+v", s)
		}
		sameSet(t, contents(t, out), contents(t, ref))
	}
}

func TestJobsOfTables(t *testing.T) {
	text := numberedRows(3000)
	plain := writeTable(t, "n.csv", text)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(text))
	z.Close()
	packed := writeTable(t, "p.csv.gz", zipped.String())
	for _, srcs := range [][]string{{plain}, {packed}} {
		for _, shuffled := range []bool{false, true} {
			o := CSVOptions{Options: Options{Shards: 7, Name: "n", Workers: 2, MaxErrors: Tolerance{Count: 3}}, Shuffle: shuffled}
			ref, out := t.TempDir(), t.TempDir()
			mustCSV(t, srcs, ref, o)
			j, err := BeginCSV(context.Background(), srcs, out, o)
			mustBegin(t, j, err)
			// Half of it by another Job, like a process elsewhere.
			other, err := JoinCSV(context.Background(), srcs, out, o)
			mustBegin(t, other, err)
			_, err = j.Run(context.Background(), func(ctx context.Context) error {
				err := makeAll(other, 2, j.Todo()[:4])(ctx)
				return errors.Join(err, other.Close(), makeAll(j, 3, j.Todo()[4:])(ctx))
			})
			if err != nil {
				t.Fatalf("%s, shuffled %v: %v", srcs, shuffled, err)
			}
			sameSet(t, contents(t, out), contents(t, ref))
		}
	}
}

// TestJobsJoin: two joined Jobs make all shards, both the same ones, while the one that began makes
// none.
func TestJobsJoin(t *testing.T) {
	ctx := context.Background()
	src, ref, out := directories(t, 60), t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 6, Workers: 1}}
	mustImages(t, src, ref, o)
	if j, err := JoinImages(ctx, src, out, o); err == nil || !strings.Contains(err.Error(), "no plan") {
		t.Fatalf("nothing to join: %v, %v", j, err)
	}
	j, err := BeginImages(ctx, src, out, o)
	mustBegin(t, j, err)
	if _, err := BeginImages(ctx, src, out, o); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("another one that begins: %v", err)
	}
	differs := o
	differs.Seed = 3
	if _, err := JoinImages(ctx, src, out, differs); err == nil || !strings.Contains(err.Error(), "Options.Seed was 0, now it is 3") {
		t.Errorf("another seed: %v", err)
	}
	sum, err := j.Run(ctx, func(ctx context.Context) error {
		var wait sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			worker, err := JoinImages(ctx, src, out, o)
			mustBegin(t, worker, err)
			wait.Go(func() { errs[i] = makeAll(worker, 2, j.Todo())(ctx) })
		}
		wait.Wait()
		return errors.Join(errs...)
	})
	if err != nil || sum.Status != Written || sum.ShardsWritten != 6 || sum.Records != 60 {
		t.Fatalf("%+v, %v", sum, err)
	}
	sameSet(t, contents(t, out), contents(t, ref))
}

func TestJobsGoOn(t *testing.T) {
	ctx := context.Background()
	src, ref, out := directories(t, 60), t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 6, Workers: 1}}
	mustImages(t, src, ref, o)
	begin := func() *Job {
		j, err := BeginImages(ctx, src, out, o)
		return mustBegin(t, j, err)
	}

	j := begin()
	_, err := j.Run(ctx, func(ctx context.Context) error {
		_, err := j.Make(ctx, 4)
		return errors.Join(err, errors.New("the engine fell over"))
	})
	if err == nil || !strings.Contains(err.Error(), "the engine fell over (1 of 6 shards finished and kept") {
		t.Fatal(err)
	}

	j = begin()
	if slices.Contains(j.Todo(), 4) || len(j.Todo()) != 5 {
		t.Fatalf("left to do: %v", j.Todo())
	}
	var missing *MissingShardsError
	_, err = j.Run(ctx, func(ctx context.Context) error { return makeAll(j, 2, j.Todo()[:3])(ctx) })
	if !errors.As(err, &missing) || len(missing.Missing) != 2 {
		t.Fatalf("work that is not all done: %v", err)
	}
	if _, err := os.Stat(filepath.Join(out, manifest.File)); err == nil {
		t.Error("a manifest of half a set")
	}

	// A cancelled one reports as much as a run does.
	stopped, cancel := context.WithCancel(ctx)
	j = begin()
	_, err = j.Run(stopped, func(ctx context.Context) error {
		cancel()
		_, err := j.Make(ctx, j.Todo()[0])
		return err
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "of 6 shards finished and kept") {
		t.Errorf("stopped: %v", err)
	}

	j = begin()
	if s := mustRun(t, j, 2); s.Status != Resumed || s.ShardsKept < 4 || s.ShardsKept+s.ShardsWritten != 6 {
		t.Errorf("resumed: %+v", s)
	}
	sameSet(t, contents(t, out), contents(t, ref))

	// Another input gives another plan; only what changed is made.
	put(t, src, "c1/new.png", pngOf(99))
	j = begin()
	if _, err := j.Run(ctx, func(context.Context) error { return errors.New("too early") }); err == nil {
		t.Fatal("no error")
	}
	put(t, src, "c1/newer.png", pngOf(98))
	var notes []string
	o.Note = func(s string) { notes = append(notes, s) }
	j = begin()
	if s := mustRun(t, j, 2); s.Samples != 62 || s.ShardsKept < 3 {
		t.Errorf("updated: %+v", s)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "discarded the plan") {
		t.Errorf("notes %q", notes)
	}
	os.RemoveAll(ref)
	mustImages(t, src, ref, o)
	sameSet(t, contents(t, out), contents(t, ref))

	o.Seed = 5
	if _, err := BeginImages(ctx, src, out, o); err == nil || !strings.Contains(err.Error(), "Options.Seed was 0, now it is 5") {
		t.Errorf("another seed: %v", err)
	}
	o.Overwrite = true
	j = begin()
	mustRun(t, j, 2)
	os.RemoveAll(ref)
	mustImages(t, src, ref, o)
	sameSet(t, contents(t, out), contents(t, ref))
}

func TestJobsCountBadSamples(t *testing.T) {
	ctx := context.Background()
	src, out := directories(t, 30), t.TempDir()
	put(t, src, "c0/bad.png", []byte("no picture"))
	o := ImageOptions{Options: Options{Shards: 3}}
	j, err := BeginImages(ctx, src, out, o)
	mustBegin(t, j, err)
	var errs, samples int64
	_, err = j.Run(ctx, func(ctx context.Context) error {
		for _, i := range j.Todo() {
			m, err := j.Make(ctx, i)
			if err != nil {
				return err
			}
			errs, samples = errs+m.Errors, samples+m.Samples
			if st, err := os.Stat(filepath.Join(out, m.File)); err != nil || st.Size() != m.Bytes || m.File != j.Shard(i) {
				t.Errorf("%+v: %v", m, err)
			}
		}
		return nil
	})
	var bad *BadSamplesError
	if !errors.As(err, &bad) || len(bad.Samples) != 1 || errs != 1 || samples != 31 {
		t.Fatalf("%v, with %d of %d bad", err, errs, samples)
	}
	// Correcting it costs only its own shard.
	put(t, src, "c0/bad.png", pngOf(3))
	j, err = BeginImages(ctx, src, out, o)
	mustBegin(t, j, err)
	if len(j.Todo()) != 1 {
		t.Errorf("to do after mending one picture: %v", j.Todo())
	}
	mustRun(t, j, 1)
}

func TestJobsRefuseWhatTheyAreNotFor(t *testing.T) {
	src, out := directories(t, 10), t.TempDir()
	for name, o := range map[string]Options{"task": {Task: &Task{Count: 2}}, "dry run": {DryRun: true}} {
		if _, err := BeginImages(context.Background(), src, out, ImageOptions{Options: o}); !ofOption(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	j, err := BeginImages(context.Background(), src, out, ImageOptions{})
	mustBegin(t, j, err)
	for _, i := range []int{-1, j.Shards()} {
		if _, err := j.Make(context.Background(), i); err == nil {
			t.Errorf("shard %d was made", i)
		}
	}
	j.Close()
	if _, err := j.Make(context.Background(), 0); !errors.Is(err, plan.ErrStopped) {
		t.Errorf("after Close: %v", err)
	}
	j.Close()
}

// faulty is a source in which some shards fail a number of times.
type faulty struct {
	plan.Source
	mu    sync.Mutex
	fails map[int]int
	begun map[int]int
}

func (f *faulty) Pieces(ctx context.Context, shard int) iter.Seq2[plan.Fill, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun[shard]++
	if f.fails[shard] > 0 {
		f.fails[shard]--
		return func(yield func(plan.Fill, error) bool) {
			yield(func(*plan.Piece) error { return fmt.Errorf("shard %d is out of luck", shard) }, nil)
		}
	}
	return f.Source.Pieces(ctx, shard)
}

func TestAShardThatFailsIsMadeAgainAlone(t *testing.T) {
	src, ref := directories(t, 60), t.TempDir()
	base := ImageOptions{Options: Options{Shards: 6, Workers: 2, Retries: 2}}
	mustImages(t, src, ref, base)
	for _, c := range []struct {
		fails map[int]int
		lost  []int
	}{
		{map[int]int{2: 2}, nil},
		{map[int]int{0: 1, 5: 2}, nil},
		{map[int]int{1: 1000, 3: 1}, []int{1}},
	} {
		// The pauses between attempts take no time in a bubble.
		synctest.Test(t, func(t *testing.T) {
			out, o := t.TempDir(), base
			f := &faulty{fails: c.fails, begun: map[int]int{}}
			in := &changedInput{&imageInput{o: &o, src: src}, func(s plan.Source) plan.Source {
				f.Source = s
				return f
			}}
			j, err := plan.Begin(context.Background(), in, out)
			mustBegin(t, j, err)
			var lost []int
			_, err = j.Run(context.Background(), func(ctx context.Context) error {
				errs := make([]error, 6)
				var wait sync.WaitGroup
				for i := range errs {
					wait.Go(func() { _, errs[i] = j.Make(ctx, i) })
				}
				wait.Wait()
				for i, err := range errs {
					if err != nil {
						lost = append(lost, i)
						if !strings.Contains(err.Error(), fmt.Sprintf("shard %d is out of luck", i)) {
							t.Errorf("shard %d: %v", i, err)
						}
					}
				}
				return errors.Join(errs...)
			})
			if !slices.Equal(lost, c.lost) || (err == nil) != (c.lost == nil) {
				t.Fatalf("failing %v: lost %v, %v", c.fails, lost, err)
			}
			for i := range 6 {
				if c.fails[i] != 0 && !slices.Contains(c.lost, i) {
					t.Errorf("shard %d has %d failures left", i, c.fails[i])
				}
			}
			if c.lost == nil {
				sameSet(t, contents(t, out), contents(t, ref))
				return
			}
			again, err := BeginImages(context.Background(), src, out, base)
			mustBegin(t, again, err)
			if !slices.Equal(again.Todo(), c.lost) {
				t.Errorf("left to do: %v, want %v", again.Todo(), c.lost)
			}
			mustRun(t, again, 1)
			sameSet(t, contents(t, out), contents(t, ref))
		})
	}
}
