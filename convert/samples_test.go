package convert

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// rows is a Source of numbered rows.
type rows struct {
	samples []Sample
	made    atomic.Int64
	fail    func(s Sample) error
	set     func(s Sample, b *tfrecord.Builder) // nil: id and label
}

func (r *rows) List(context.Context) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		for _, s := range r.samples {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (r *rows) Make(_ context.Context, s Sample, b *tfrecord.Builder) error {
	r.made.Add(1)
	if r.fail != nil {
		if err := r.fail(s); err != nil {
			return err
		}
	}
	if r.set != nil {
		r.set(s, b)
		return nil
	}
	var id int64
	fmt.Sscanf(s.Key, "row %d", &id)
	b.Int64("id", id)
	b.Int64("label", id%3-1)
	b.String("version", s.Version)
	return nil
}

func newRows(n int) *rows {
	r := new(rows)
	for i := range n {
		r.samples = append(r.samples, Sample{Key: fmt.Sprintf("row %d", i), Version: "1"})
	}
	return r
}

var rowOptions = SampleOptions{
	Labels: []string{"even", "odd"},
	Features: []manifest.Feature{
		{Key: "id", Kind: "int64", Class: manifest.ClassScalar},
		{Key: "label", Kind: "int64", Class: manifest.ClassLabel},
		{Key: "version", Kind: "bytes", Class: manifest.ClassText},
	},
}

// A set of a program's samples is the same for any number of workers and any order of the listing; it is
// intact, and has each sample once.
func TestSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 5 {
		r := newRows(1 + rng.IntN(800))
		o := rowOptions
		o.Name, o.Seed, o.Workers, o.Even = "rows", rng.Uint64(), 1, rng.IntN(2) == 0
		o.Splits = []SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}}
		if rng.IntN(2) == 0 {
			o.Shards = 1 + rng.IntN(9)
		}
		out := filepath.Join(t.TempDir(), "set")
		sum, err := Samples(t.Context(), r, out, o)
		settest.Check(t, err)
		if sum.Records != int64(len(r.samples)) || r.made.Load() != sum.Records {
			t.Errorf("%d records of %d samples, %d made", sum.Records, len(r.samples), r.made.Load())
		}
		checkSet(t, out)
		ids := settest.IDsOf(t, out, "", "id")
		slices.Sort(ids)
		for i, id := range ids {
			if id != int64(i) {
				t.Fatalf("record %d of the sorted set is %d", i, id)
			}
		}
		rng.Shuffle(len(r.samples), func(i, j int) { r.samples[i], r.samples[j] = r.samples[j], r.samples[i] })
		o.Workers = 7
		again := filepath.Join(t.TempDir(), "again")
		_, err = Samples(t.Context(), r, again, o)
		settest.Check(t, err)
		if !settest.SameFiles(settest.FilesOf(t, out), settest.FilesOf(t, again)) {
			t.Error("another order of the listing makes another set")
		}
	}
}

// Another version, or another sample, redoes one shard; nothing changed makes nothing.
func TestSamplesAreUpdated(t *testing.T) {
	r, o := newRows(500), rowOptions
	o.Shards = 10
	out := filepath.Join(t.TempDir(), "set")
	run := func(want Status, least, most int64) {
		t.Helper()
		r.made.Store(0)
		sum, err := Samples(t.Context(), r, out, o)
		settest.Check(t, err)
		if n := r.made.Load(); sum.Status != want || n < least || n > most {
			t.Errorf("status %s, %d samples made; want %s, %d to %d", sum.Status, n, want, least, most)
		}
		fresh := filepath.Join(t.TempDir(), "set")
		_, err = Samples(t.Context(), r, fresh, o)
		settest.Check(t, err)
		if !settest.SameFiles(settest.FilesOf(t, out), settest.FilesOf(t, fresh)) {
			t.Error("the updated set is not that of a fresh run")
		}
	}
	run(Written, 500, 500)
	run(UpToDate, 0, 0)
	r.samples[77].Version = "2"
	run(Updated, 20, 110)
	r.samples = append(r.samples, Sample{Key: "row 500", Version: "1"})
	run(Updated, 20, 110)
	r.samples = slices.Delete(r.samples, 3, 4)
	run(Updated, 20, 110)

	o.MakeVersion = "b"
	if _, err := Samples(t.Context(), r, out, o); err == nil || !strings.Contains(err.Error(), "MakeVersion") {
		t.Errorf("another version of Make: %v", err)
	}
	o.Overwrite = true
	run(Written, 500, 500)
}

// After any changes of a source, an update makes the set of a fresh run, and no more samples than those of
// the shards that changed.
func TestSamplesAreUpdatedAtRandom(t *testing.T) {
	for _, seed := range torture.Seeds(4, 60) {
		rng := rand.New(rand.NewPCG(seed, 77))
		r, o := newRows(50+rng.IntN(400)), rowOptions
		o.Name, o.Seed, o.Workers, o.AllowShrink = "rows", rng.Uint64(), 1+rng.IntN(4), true
		o.Compression = tfrecord.Compression(rng.IntN(3))
		if o.Shards = rng.IntN(12); rng.IntN(2) == 0 {
			o.Splits = []SplitShare{{Name: "train", Share: 0.6}, {Name: "val", Share: 0.4}}
		}
		next := len(r.samples)
		out := filepath.Join(t.TempDir(), "set")
		for range 6 {
			r.made.Store(0)
			sum, err := Samples(t.Context(), r, out, o)
			settest.Check(t, err)
			made := r.made.Load()
			fresh := filepath.Join(t.TempDir(), "set")
			like := o
			like.ShardsLike = countsOf(t, out) // which an update keeps, where their number is chosen
			_, err = Samples(t.Context(), r, fresh, like)
			settest.Check(t, err)
			if !settest.SameFiles(settest.FilesOf(t, out), settest.FilesOf(t, fresh)) {
				t.Fatalf("seed %d: the updated set is not that of a fresh run: %+v", seed, sum)
			}
			if written := samplesIn(t, out, sum); made > written {
				t.Errorf("seed %d: %d samples were made for shards of %d", seed, made, written)
			}
			for range rng.IntN(4) {
				switch at := rng.IntN(len(r.samples)); rng.IntN(3) {
				case 0:
					r.samples[at].Version += "+"
				case 1:
					r.samples = slices.Delete(r.samples, at, at+1)
				default:
					r.samples = append(r.samples, Sample{Key: fmt.Sprintf("row %d", next), Version: "1", Size: rng.Int64N(1000)})
					next++
				}
			}
		}
	}
}

// countsOf returns the number of shards of each split of a set.
func countsOf(t *testing.T, dir string) map[string]int {
	shards := map[string]int{}
	for _, split := range settest.ManifestOf(t, dir).Splits {
		shards[split.Name] = len(split.Shards)
	}
	return shards
}

// samplesIn returns an upper bound on the samples of the shards that a run wrote: those of the longest.
func samplesIn(t *testing.T, dir string, sum *Summary) (n int64) {
	var lengths []int64
	for _, split := range settest.ManifestOf(t, dir).Splits {
		for _, info := range split.Shards {
			lengths = append(lengths, info.Records)
		}
	}
	slices.Sort(lengths)
	for _, length := range lengths[max(0, len(lengths)-sum.ShardsWritten):] {
		n += length
	}
	return n
}

// A run that fails keeps its shards, and the next one makes the rest.
func TestSamplesResume(t *testing.T) {
	r, o := newRows(300), rowOptions
	o.Shards, o.Workers = 6, 1
	out := filepath.Join(t.TempDir(), "set")
	gone := errors.New("the database is gone")
	r.fail = func(Sample) error {
		if r.made.Load() > 200 {
			return gone
		}
		return nil
	}
	if _, err := Samples(t.Context(), r, out, o); !errors.Is(err, gone) || !strings.Contains(err.Error(), `"row `) {
		t.Errorf("a source that fails: %v", err)
	}
	if _, err := shard.Expand(t.Context(), []string{out}, shard.ExpandOptions{}); err == nil {
		t.Error("a part of the set reads as a whole")
	}
	r.made.Store(0)
	r.fail = nil
	_, err := Samples(t.Context(), r, out, o)
	settest.Check(t, err)
	if n := r.made.Load(); n > 200 {
		t.Errorf("%d of 300 samples were made again", n)
	}
	checkSet(t, out)
}

// Tasks of an array job make the set of one run.
func TestSamplesOfTasks(t *testing.T) {
	r, o := newRows(300), rowOptions
	o.Shards, o.Name = 5, "rows"
	whole, out := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "tasks")
	_, err := Samples(t.Context(), r, whole, o)
	settest.Check(t, err)
	for i := range 3 {
		task := o
		task.Task = &Task{Index: i, Count: 3}
		_, err := Samples(t.Context(), r, out, task)
		settest.Check(t, err)
	}
	_, err = Finalize(t.Context(), out, FinalizeOptions{})
	settest.Check(t, err)
	if !settest.SameFiles(settest.FilesOf(t, whole), settest.FilesOf(t, out)) {
		t.Error("tasks make another set than one run")
	}
	job, err := BeginSamples(t.Context(), r, filepath.Join(t.TempDir(), "job"), o)
	settest.Check(t, err)
	if job.Shards() != 5 || len(job.Todo()) != 5 {
		t.Errorf("%d shards, %v to do", job.Shards(), job.Todo())
	}
	settest.Check(t, job.Close())
}

// Manifests count the first feature of labels, by key, whatever the order in which they are stated; a
// record without it does not count.
func TestLabelsOfPrograms(t *testing.T) {
	r, o := newRows(30), rowOptions
	o.Features = []manifest.Feature{
		{Key: "z", Kind: "int64", Class: manifest.ClassLabel}, {Key: "a", Kind: "int64", Class: manifest.ClassLabel, Optional: true},
		{Key: "list", Kind: "int64", Class: manifest.ClassLabel, Shape: []int{-1}},
	}
	n := 0
	r.set = func(s Sample, b *tfrecord.Builder) {
		b.Int64("z", 0)
		b.Int64("list", 1, 0, 1)
		if id := len(s.Key) % 2; id == 1 {
			b.Int64("a", int64(id))
		}
	}
	for _, s := range r.samples {
		n += len(s.Key) % 2
	}
	out := filepath.Join(t.TempDir(), "set")
	_, err := Samples(t.Context(), r, out, o)
	settest.Check(t, err)
	if got := settest.ManifestOf(t, out).Splits[0].Shards[0].Labels; got["odd"] != int64(n) || got["even"] != 0 {
		t.Errorf("labels are counted as %v, want %d times odd", got, n)
	}
	checkSet(t, out)
}

func TestBadSamplesOfPrograms(t *testing.T) {
	text := func(key string) func(Sample, *tfrecord.Builder) {
		return func(_ Sample, b *tfrecord.Builder) {
			b.Int64("id", 1)
			b.Int64("label", 1)
			b.String("version", "")
			b.String(key, "x", "y")
		}
	}
	for want, set := range map[string]func(s Sample, b *tfrecord.Builder){
		`it has no feature "id"`:                            func(_ Sample, b *tfrecord.Builder) { b.Int64("label", 0); b.String("version", "") },
		`its feature "id" is bytes, and is stated as int64`: text("id"),
		`its feature "version" has 2 values, and is stated`: text("version"),
		`its feature "extra" is not stated`:                 text("extra"),
		`its label 2 is not an id of the 2 names, nor -1`:   func(_ Sample, b *tfrecord.Builder) { b.Int64("id", 1); b.Int64("label", 2); b.String("version", "") },
	} {
		r, o := newRows(20), rowOptions
		out := filepath.Join(t.TempDir(), "set")
		odd := r.samples[7].Key
		plain := newRows(0)
		r.set = func(s Sample, b *tfrecord.Builder) {
			if s.Key == odd {
				set(s, b)
				return
			}
			if err := plain.Make(t.Context(), s, b); err != nil {
				t.Error(err)
			}
		}
		var bad *BadSamplesError
		if _, err := Samples(t.Context(), r, out, o); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || bad.Samples[0].Stage != "encode" {
			t.Errorf("%v, want %q", err, want)
		}
		o.MaxErrors = Tolerance{Count: 1}
		sum, err := Samples(t.Context(), r, out, o)
		settest.Check(t, err)
		if sum.Records != 19 || sum.Errors != 1 || !strings.Contains(settest.FilesOf(t, out)[manifest.LedgerFile], `"key":"row 7"`) {
			t.Errorf("%+v: want 19 records, and row 7 in the ledger", sum)
		}
	}
	r, o := newRows(20), rowOptions
	r.samples[3].Origin = "table:4"
	r.fail = func(s Sample) error {
		if s.Key == "row 3" {
			return fmt.Errorf("look: %w", &SampleError{Stage: "parse", Err: errors.New("no number")})
		}
		return nil
	}
	o.MaxErrors = Tolerance{Share: 0.5}
	out := filepath.Join(t.TempDir(), "set")
	_, err := Samples(t.Context(), r, out, o)
	settest.Check(t, err)
	const line = `{"key":"row 3","source":"table:4","stage":"parse","reason":"no number"}` + "\n"
	if got := settest.FilesOf(t, out)[manifest.LedgerFile]; got != line {
		t.Errorf("the ledger is %s, want %s", got, line)
	}
}

func TestListingsOfPrograms(t *testing.T) {
	gone := errors.New("the listing broke")
	for want, change := range map[string]func(r *rows, o *SampleOptions){
		"two samples have this key":     func(r *rows, _ *SampleOptions) { r.samples[4].Key = r.samples[2].Key },
		"is not a key":                  func(r *rows, _ *SampleOptions) { r.samples[4].Key = "" },
		"the size -1 is negative":       func(r *rows, _ *SampleOptions) { r.samples[4].Size = -1 },
		"1 of 10 samples state a split": func(r *rows, _ *SampleOptions) { r.samples[4].Split = "val" },
		"the source lists none":         func(r *rows, _ *SampleOptions) { r.samples = nil },
		"SampleOptions.Features":        func(_ *rows, o *SampleOptions) { o.Features = nil },
		"its class is label, and its kind": func(_ *rows, o *SampleOptions) {
			o.Features = []manifest.Feature{{Key: "x", Kind: "float", Class: manifest.ClassLabel}}
		},
		"and there are no label names":   func(_ *rows, o *SampleOptions) { o.Labels = nil },
		"SampleOptions.Labels":           func(_ *rows, o *SampleOptions) { o.Labels = []string{"a", "a"} },
		"and no feature of class label":  func(_ *rows, o *SampleOptions) { o.Features = o.Features[:1] },
		"supervised names a feature":     func(_ *rows, o *SampleOptions) { o.Supervised = &manifest.Supervised{Input: "id", Target: "y"} },
		"Options.Expect":                 func(_ *rows, o *SampleOptions) { o.Expect = Expected{Min: 11, Max: 12} },
		"there is no split test":         func(_ *rows, o *SampleOptions) { o.SplitShards = map[string]int{"test": 1} },
		"the samples state their splits": func(r *rows, o *SampleOptions) { state(r); o.Splits = []SplitShare{{Name: "a", Share: 1}} },
	} {
		r, o := newRows(10), rowOptions
		o.Features = slices.Clone(o.Features)
		change(r, &o)
		out := filepath.Join(t.TempDir(), "set")
		if _, err := Samples(t.Context(), r, out, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		settest.NothingAt(t, out)
	}
	broken := source{func(yield func(Sample, error) bool) { yield(Sample{}, gone) }}
	if _, err := Samples(t.Context(), broken, t.TempDir(), rowOptions); !errors.Is(err, gone) {
		t.Errorf("a listing that breaks: %v", err)
	}

	r, o := newRows(40), rowOptions
	state(r)
	o.Limit = 30
	out := filepath.Join(t.TempDir(), "set")
	sum, err := Samples(t.Context(), r, out, o)
	settest.Check(t, err)
	if sum.Records != 30 || sum.Splits["val"].Records == 0 || sum.Splits["train"].Records == 0 {
		t.Errorf("%+v: want 30 records in two splits", sum)
	}
	for _, id := range settest.IDsOf(t, out, "val", "id") {
		if id%2 == 0 {
			t.Errorf("row %d is in val", id)
		}
	}
}

// state states the split of all rows: odd ones are in val.
func state(r *rows) {
	for i := range r.samples {
		r.samples[i].Split = []string{"train", "val"}[i%2]
	}
}

// source is a Source that only lists.
type source struct{ list iter.Seq2[Sample, error] }

func (s source) List(context.Context) iter.Seq2[Sample, error] { return s.list }

func (source) Make(context.Context, Sample, *tfrecord.Builder) error { return nil }

// checkSet fails the test if a set has faults.
func checkSet(t *testing.T, dir string) {
	t.Helper()
	report, err := verify.Files(t.Context(), []string{dir}, verify.Options{Deep: new(verify.DeepOptions)})
	settest.Check(t, err)
	if len(report.Faults) > 0 {
		t.Errorf("the set has faults: %v", report.Faults)
	}
}
