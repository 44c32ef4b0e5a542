package reshape

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/distribute"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// dealt holds the batches of each shard.
type dealt map[int][][]byte

// readAll reads all parts of a plan as another process would.
func readAll(ctx context.Context, p *ReshardPlan) (dealt, error) {
	p, err := OpenReshardPlan(ctx, p.Out(), p.ID())
	if err != nil {
		return nil, err
	}
	all := dealt{}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, part := range rng.Perm(p.Parts()) {
		if _, err := p.Read(ctx, part, func(number int, batch []byte) error {
			all[number] = append(all[number], batch)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for _, batches := range all {
		rng.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
	}
	return all, nil
}

// of returns the batches of a shard as Write expects them.
func (d dealt) of(number int) func(func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		for _, batch := range d[number] {
			if !yield(batch, nil) {
				return
			}
		}
	}
}

// writeAll writes all shards that have batches, except some, as another process would.
func writeAll(ctx context.Context, p *ReshardPlan, all dealt, without ...int) error {
	p, err := OpenReshardPlan(ctx, p.Out(), p.ID())
	if err != nil {
		return err
	}
	for _, number := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(without, number) {
			continue
		}
		if _, err := p.Write(ctx, number, all.of(number)); err != nil {
			return err
		}
	}
	return nil
}

// reshardByPlan does the same as Reshard, using a plan.
func reshardByPlan(ctx context.Context, in []string, out string, o ReshardOptions) (*Report, error) {
	run, err := PlanReshard(ctx, in, out, o)
	if err != nil {
		return nil, err
	}
	if plan := run.Plan(); plan != nil {
		all, err := readAll(ctx, plan)
		if err == nil {
			err = writeAll(ctx, plan, all)
		}
		if err != nil {
			return nil, run.Abandon(ctx, err)
		}
	}
	return run.Finish(ctx)
}

func withLabels(i int, b *tfrecord.Builder) {
	settest.Numbers(i, b)
	b.Int64("label", int64(i%3))
	b.Bytes("noise", make([]byte, i*37%2000))
}

// TestPlansMakeTheSameSets compares with the sets that Reshard makes, file by file and byte by
// byte.
func TestPlansMakeTheSameSets(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bare := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 3000, withLabels)
	other := settest.ExampleFile(t, filepath.Join(t.TempDir(), "y.tfrecord"), 7, forReshapers)
	set := madeSet(t, 500, 3, []string{"ant", "bee", "cat"}, withLabels)
	remapped := madeSet(t, 200, 2, []string{"bee", "cow", "ant"}, withLabels)
	packed := filepath.Join(t.TempDir(), "packed")
	_, err := Reshard(ctx, []string{set}, packed, ReshardOptions{Options: Options{Compression: tfrecord.CompressionGzip, Shards: 2}})
	settest.Check(t, err)
	split := filepath.Join(t.TempDir(), "split")
	_, err = Resplit(ctx, []string{set}, split, ResplitOptions{Splits: []shard.SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}}, Stratify: "label"})
	settest.Check(t, err)
	noExamples := filepath.Join(t.TempDir(), "text.tfrecord")
	settest.PutFile(t, noExamples, tfrecord.AppendFrame(tfrecord.AppendFrame(nil, []byte("no Example")), nil))
	for _, c := range []struct {
		name string
		in   []string
		o    Options
	}{
		{"a large file without a manifest", []string{bare}, Options{Shards: 5}},
		{"another seed", []string{bare}, Options{Shards: 5, Seed: 1 << 63}},
		{"records per shard", []string{bare, other}, Options{RecordsPerShard: 700, Seed: 3, Union: true}},
		{"little memory", []string{bare}, Options{Shards: 2, Memory: source.LeastMemory}},
		{"more shards than records", []string{other}, Options{Shards: 12, Seed: 4}},
		{"a set", []string{set}, Options{Name: "made_again"}},
		{"its labels get other ids", []string{set, remapped}, Options{Shards: 3, Seed: 5}},
		{"compressed", []string{packed}, Options{Shards: 3, Seed: 6}},
		{"to be compressed", []string{set}, Options{Shards: 3, Compression: tfrecord.CompressionZstd}},
		{"splits", []string{split}, Options{Shards: 4, Seed: 7}},
		{"no Examples", []string{noExamples}, Options{}},
	} {
		for _, shuffle := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, shuffled %v", c.name, shuffle), func(t *testing.T) {
				o := ReshardOptions{Options: c.o, Shuffle: shuffle}
				rearrange.SetLimits(&o.Options, 0, 1<<20)
				want, got := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
				told, err := Reshard(ctx, c.in, want, o)
				settest.Check(t, err)
				report, err := reshardByPlan(ctx, c.in, got, o)
				settest.Check(t, err)
				told.Seconds, report.Seconds = 0, 0
				if a, b := mustJSON(t, told), mustJSON(t, report); a != b {
					t.Errorf("the report is\n%s, want\n%s", b, a)
				}
				if a, b := settest.FilesOf(t, want), settest.FilesOf(t, got); !settest.SameFiles(a, b) {
					for name := range a {
						if a[name] != b[name] {
							t.Errorf("%s differs", name)
						}
					}
					t.Errorf("it has %v, want %v", slices.Sorted(maps.Keys(b)), slices.Sorted(maps.Keys(a)))
				}
				if left := leftInState(got); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
				for _, again := range []func() (*Report, error){
					func() (*Report, error) { return reshardByPlan(ctx, c.in, got, o) },
					func() (*Report, error) { return Reshard(ctx, c.in, got, o) },
				} {
					if report, err := again(); err != nil || report.Status != rearrange.UpToDate {
						t.Errorf("again: %+v, %v", report, err)
					}
				}
			})
		}
	}
}

// TestPartsAreCut checks that the files of the test above are cut into several parts.
func TestPartsAreCut(t *testing.T) {
	t.Parallel()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 3000, withLabels)
	st, err := os.Stat(file)
	settest.Check(t, err)
	set := filepath.Join(t.TempDir(), "set")
	_, err = Reshard(context.Background(), []string{file}, set, ReshardOptions{Options: Options{Shards: 1}})
	settest.Check(t, err)
	for _, in := range []string{file, set} {
		o := ReshardOptions{Shuffle: true}
		rearrange.SetLimits(&o.Options, 0, 1<<20)
		run, err := PlanReshard(context.Background(), []string{in}, filepath.Join(t.TempDir(), "out"), o)
		settest.Check(t, err)
		if n := run.Plan().Parts(); int64(n) < st.Size()>>20-1 || n < 2 {
			t.Errorf("%s of %d bytes: %d parts", in, st.Size(), n)
		}
		run.Abandon(t.Context(), errors.New("seen enough"))
	}
}

// TestPlansReplaceSets checks that an overwriting run makes the same set as one in a new directory.
func TestPlansReplaceSets(t *testing.T) {
	ctx := context.Background()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 100, withLabels)
	o := ReshardOptions{Options: Options{Shards: 3}, Shuffle: true}
	out := filepath.Join(t.TempDir(), "out")
	_, err := reshardByPlan(ctx, []string{file}, out, o)
	settest.Check(t, err)
	o.Seed, o.Shards = 9, 2
	if _, err := reshardByPlan(ctx, []string{file}, out, o); err == nil || !strings.Contains(err.Error(), "Options.Overwrite") {
		t.Errorf("another seed: %v", err)
	}
	o.Overwrite = true
	before := settest.FilesOf(t, out)
	run, err := PlanReshard(ctx, []string{file}, out, o)
	settest.Check(t, err)
	failed := errors.New("no runner")
	if err := run.Abandon(ctx, failed); !errors.Is(err, failed) || !settest.SameFiles(before, settest.FilesOf(t, out)) {
		t.Errorf("a run that was given up: %v", err)
	}
	_, err = reshardByPlan(ctx, []string{file}, out, o)
	settest.Check(t, err)
	want := filepath.Join(t.TempDir(), "out")
	_, err = Reshard(ctx, []string{file}, want, ReshardOptions{Options: Options{Shards: 2, Seed: 9}, Shuffle: true})
	settest.Check(t, err)
	if !settest.SameFiles(settest.FilesOf(t, want), settest.FilesOf(t, out)) {
		t.Error("it is another set")
	}
	if left := leftInState(out); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestPlansGoOn stops after some shards, and checks that the next run makes only the others.
func TestPlansGoOn(t *testing.T) {
	ctx := context.Background()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 400, withLabels)
	o := ReshardOptions{Options: Options{Shards: 4}, Shuffle: true}
	want := filepath.Join(t.TempDir(), "out")
	_, err := Reshard(ctx, []string{file}, want, o)
	settest.Check(t, err)
	for _, how := range []string{"abandoned", "killed", "other options", "by one machine"} {
		t.Run(how, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			first := o
			if how == "other options" {
				first.Seed = 1
			}
			run, err := PlanReshard(ctx, []string{file}, out, first)
			settest.Check(t, err)
			plan := run.Plan()
			all, err := readAll(ctx, plan)
			settest.Check(t, err)
			settest.Check(t, writeAll(ctx, plan, all, 1, 3))
			if _, err := PlanReshard(ctx, []string{file}, out, o); !errors.Is(err, shard.ErrBusy) {
				t.Errorf("beside another: %v", err)
			}
			settest.NothingAt(t, filepath.Join(out, manifest.File))
			if how == "abandoned" {
				lost := errors.New("lost the runner")
				if err := run.Abandon(ctx, lost); !errors.Is(err, lost) || !strings.Contains(err.Error(), "2 of 4 shards finished and kept") {
					t.Errorf("%v", err)
				}
			} else {
				settest.Check(t, distribute.Release(run)) // as the system does
			}
			if how == "by one machine" {
				_, err = Reshard(ctx, []string{file}, out, o)
				settest.Check(t, err)
				// A worker of the first run that does not know that the run has ended.
				if _, err := plan.Write(ctx, 1, all.of(1)); err == nil || !strings.Contains(err.Error(), "ended") {
					t.Errorf("a late shard: %v", err)
				}
			} else {
				run, err = PlanReshard(ctx, []string{file}, out, o)
				settest.Check(t, err)
				kept, missing := 2, "2 of 4 shards missing"
				if how == "other options" {
					kept, missing = 0, "4 of 4 shards missing"
					if _, err := plan.Write(ctx, 1, all.of(1)); err == nil || !strings.Contains(err.Error(), "another one has begun") {
						t.Errorf("a late shard: %v", err)
					}
				}
				if run.Plan().Kept() != kept {
					t.Errorf("%d shards kept, want %d", run.Plan().Kept(), kept)
				}
				all, err := readAll(ctx, run.Plan())
				settest.Check(t, err)
				if len(all) != 4-kept {
					t.Errorf("records were dealt to %d shards", len(all))
				}
				if _, err := run.Finish(ctx); err == nil || !strings.Contains(err.Error(), missing) {
					t.Errorf("finished early: %v", err)
				}
				settest.NothingAt(t, filepath.Join(out, manifest.File))
				_, err = reshardByPlan(ctx, []string{file}, out, o)
				settest.Check(t, err)
			}
			if !settest.SameFiles(settest.FilesOf(t, want), settest.FilesOf(t, out)) {
				t.Error("it is another set")
			}
			if left := leftInState(out); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestPlansFindDamage checks for the error that Reshard returns, and that no files are left.
func TestPlansFindDamage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 3000, withLabels)
	whole, err := os.ReadFile(path)
	settest.Check(t, err)
	entries := settest.IndexOf(t, path)
	o := ReshardOptions{Options: Options{Shards: 3}, Shuffle: true}
	rearrange.SetLimits(&o.Options, 0, 1<<20)
	for _, record := range []int{0, 1234, 2999} {
		data := slices.Clone(whole)
		data[entries[record].Offset+14] ^= 1
		settest.PutFile(t, path, data)
		_, want := Reshard(ctx, []string{path}, filepath.Join(t.TempDir(), "out"), o)
		out := filepath.Join(t.TempDir(), "out")
		_, err := reshardByPlan(ctx, []string{path}, out, o)
		var damaged *shard.DamagedError
		var fault *tfrecord.Error
		if !errors.As(err, &damaged) || !errors.As(err, &fault) || fault.Record != int64(record) || err.Error() != want.Error() {
			t.Errorf("%v, want %v", err, want)
		}
		settest.NothingAt(t, out)
	}
	settest.PutFile(t, path, whole)

	// A runner that reports only that something failed.
	run, err := PlanReshard(ctx, []string{path}, filepath.Join(t.TempDir(), "out"), o)
	settest.Check(t, err)
	settest.Check(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	if _, err := readAll(ctx, run.Plan()); !errors.Is(err, distribute.ErrChangedInput) {
		t.Errorf("a changed input: %v", err)
	}
	if err := run.Abandon(ctx, errors.New("the runner has failed")); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "runner") {
		t.Errorf("abandoned with %v", err)
	}
	settest.NothingAt(t, run.Plan().Out())
}

// TestPlansHoldRunnersToTheirWord loses, repeats and changes batches.
func TestPlansHoldRunnersToTheirWord(t *testing.T) {
	ctx := context.Background()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 400, withLabels)
	run, err := PlanReshard(ctx, []string{file}, filepath.Join(t.TempDir(), "out"), ReshardOptions{Options: Options{Shards: 2}, Shuffle: true})
	settest.Check(t, err)
	all, err := readAll(ctx, run.Plan())
	settest.Check(t, err)
	changed := slices.Clone(all[0][0])
	changed[len(changed)/2] ^= 1
	for _, c := range []struct {
		name, want string
		batches    [][]byte
	}{
		{"none", "got 0 of its 200 records", nil},
		{"twice", "came twice", slices.Concat(all[0], all[0])},
		{"another's", "a record does not belong to the shard", all[1]},
		{"changed", "a record is not what Read returned", [][]byte{changed}},
		{"cut", "was changed between Read and Write", [][]byte{all[0][0][:1000]}},
		{"longer", "has data after its records", [][]byte{append(slices.Clone(all[0][0]), 0)}},
		{"empty", "does not begin with a record count", [][]byte{{}}},
		{"a great number", "does not begin with a record count", [][]byte{{0xff, 0xff, 0xff, 0x7f}}},
	} {
		if _, err := run.Plan().Write(ctx, 0, dealt{0: c.batches}.of(0)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	lost := errors.New("lost")
	if _, err := run.Plan().Write(ctx, 0, func(yield func([]byte, error) bool) { yield(nil, lost) }); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
	out := run.Plan().Out()
	if err := run.Abandon(ctx, lost); err == nil {
		t.Error("no error")
	}
	settest.NothingAt(t, out)
}

// TestTwinsMakeOneShard makes a shard several times concurrently.
func TestTwinsMakeOneShard(t *testing.T) {
	ctx := context.Background()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 400, withLabels)
	o := ReshardOptions{Options: Options{Shards: 2}, Shuffle: true}
	want, out := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	_, err := Reshard(ctx, []string{file}, want, o)
	settest.Check(t, err)
	run, err := PlanReshard(ctx, []string{file}, out, o)
	settest.Check(t, err)
	all, err := readAll(ctx, run.Plan())
	settest.Check(t, err)
	var g errgroup.Group
	var made atomic.Int64
	for i := range 6 {
		g.Go(func() error {
			counts, err := run.Plan().Write(ctx, i%2, all.of(i%2))
			if !counts.Kept {
				made.Add(1)
			}
			return err
		})
	}
	settest.Check(t, g.Wait())
	if made.Load() != 2 {
		t.Errorf("2 shards were made %d times", made.Load())
	}
	_, err = run.Finish(ctx)
	settest.Check(t, err)
	if !settest.SameFiles(settest.FilesOf(t, want), settest.FilesOf(t, out)) {
		t.Error("it is another set")
	}
}

// TestPlansRefuse checks that options only one machine can handle are refused.
func TestPlansRefuse(t *testing.T) {
	ctx := context.Background()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 10, settest.Numbers)
	full := t.TempDir()
	settest.PutFile(t, filepath.Join(full, "mine"), nil)
	for _, c := range []struct {
		out  string
		o    ReshardOptions
		want string
	}{
		{"", ReshardOptions{SortBy: "id"}, "ReshardOptions.SortBy: only one machine can do it"},
		{"", ReshardOptions{GroupBy: "id"}, "ReshardOptions.GroupBy: only one machine can do it"},
		{"", ReshardOptions{Options: Options{Shards: -1}}, "Options.Shards: -1"},
		{full, ReshardOptions{}, "is not empty"},
	} {
		out := c.out
		if out == "" {
			out = filepath.Join(t.TempDir(), "out")
			defer settest.NothingAt(t, out)
		}
		if _, err := PlanReshard(ctx, []string{file}, out, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := OpenReshardPlan(ctx, full, "x"); err == nil || !strings.Contains(err.Error(), "no reshard plan") {
		t.Errorf("%v", err)
	}
}

// TestPlansWriteIntoStores checks that an object store gets the same objects as a directory gets
// files, also after an interrupted run.
func TestPlansWriteIntoStores(t *testing.T) {
	ctx := context.Background()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 2000, withLabels)
	o := ReshardOptions{Options: Options{Shards: 3, Memory: source.LeastMemory, Name: "x"}, Shuffle: true}
	want := filepath.Join(t.TempDir(), "out")
	_, err := Reshard(ctx, []string{file}, want, o)
	settest.Check(t, err)
	store, url := settest.StoreOf(t)
	run, err := PlanReshard(ctx, []string{file}, url, o)
	settest.Check(t, err)
	all, err := readAll(ctx, run.Plan())
	settest.Check(t, err)
	settest.Check(t, writeAll(ctx, run.Plan(), all, 1))
	if err := run.Abandon(ctx, errors.New("lost")); !strings.Contains(err.Error(), "2 of 3 shards finished and kept") {
		t.Errorf("%v", err)
	}
	_, err = reshardByPlan(ctx, []string{file}, url, o)
	settest.Check(t, err)
	files := settest.FilesOf(t, want)
	for _, name := range store.Names() {
		if strings.HasPrefix(name, shard.StateDir+"/") {
			continue
		}
		data, err := setdir.View(ctx, url).Read(name, 1<<30)
		settest.Check(t, err)
		if string(data) != files[name] {
			t.Errorf("%s differs", name)
		}
		delete(files, name)
	}
	for name := range files {
		t.Errorf("%s is missing", name)
	}
}
