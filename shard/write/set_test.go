package write

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/store/claim"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// sample is what a test writes.
type sample struct {
	key, split string
	label      int64
	payload    []byte
}

func (p sample) write(s *Set) error {
	e := s.Example(p.key)
	if p.split != "" {
		e.Split(p.split)
	}
	e.Int64("label", p.label)
	e.Bytes("payload", p.payload)
	e.String("name", p.key)
	return e.Write()
}

// bytes returns the record of the sample.
func (p sample) bytes() string {
	return string(settest.Example(func(b *tfrecord.Builder) {
		b.Int64("label", p.label)
		b.Bytes("payload", p.payload)
		b.String("name", p.key)
	}))
}

var names = []string{"heron", "kite", "stork"}

// randomSamples returns samples of sizes from nothing to a few hundred kilobytes.
func randomSamples(r *rand.Rand, n int) []sample {
	samples := make([]sample, n)
	for i := range samples {
		size := r.IntN(200)
		if r.IntN(50) == 0 {
			size = r.IntN(300_000)
		}
		samples[i] = sample{fmt.Sprintf("%d/%x", i, r.Uint32()), "", int64(r.IntN(4) - 1), make([]byte, size)}
		for j := range samples[i].payload {
			samples[i].payload[j] = byte(r.Uint32())
		}
	}
	return samples
}

// makeSet writes samples by a number of goroutines.
func makeSet(ctx context.Context, dir string, o Options, goroutines int, samples []sample) (*Report, error) {
	s, err := Create(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	errs := make([]error, goroutines)
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for i := g; i < len(samples) && errs[g] == nil; i += goroutines {
				errs[g] = samples[i].write(s)
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s.Finish()
}

// The files of a set depend on its records and options: not on the number of goroutines, the order of
// writing, the memory, or a set that was there before. They are intact, and have every record once.
func TestSetsAreTheirRecords(t *testing.T) {
	for _, seed := range torture.Seeds(6, 60) {
		r := rand.New(rand.NewPCG(seed, 40))
		samples := randomSamples(r, 1+r.IntN(1500))
		o := Options{Name: "birds", Seed: r.Uint64(), Labels: names, Compression: tfrecord.Compression(r.IntN(5))}
		if r.IntN(2) == 0 {
			o.Splits = []shard.SplitShare{{Name: "val", Share: 0.25}, {Name: "train", Share: 0.75}}
		}
		if r.IntN(2) == 0 {
			o.Shards = 1 + r.IntN(7)
		}
		if r.IntN(2) == 0 {
			for i := range samples {
				samples[i].split = []string{"", "test", "holdout"}[r.IntN(3)]
			}
		}
		dir := filepath.Join(t.TempDir(), "set")
		report, err := makeSet(t.Context(), dir, o, 1, samples)
		settest.Check(t, err)
		if report.Manifest.Compression != max(o.Compression, tfrecord.CompressionNone).String() {
			t.Errorf("seed %d: compression %s, want %s", seed, report.Manifest.Compression, o.Compression)
		}
		checkRecords(t, dir, o, samples)
		want := settest.FilesOf(t, dir)
		if got := settest.NamesIn(t, dir); slices.Contains(got, shard.StateDir) {
			t.Errorf("seed %d: state is left: %v", seed, got)
		}

		r.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		again := filepath.Join(t.TempDir(), "again")
		o.Memory = 1 // as little as possible
		_, err = makeSet(t.Context(), again, o, 1+r.IntN(8), samples)
		settest.Check(t, err)
		if !settest.SameFiles(settest.FilesOf(t, again), want) {
			t.Errorf("seed %d: %d samples in another order make another set", seed, len(samples))
		}
		settest.Check(t, os.CopyFS(filepath.Join(t.TempDir(), "unused"), os.DirFS(again)))

		over := settest.ThreeShards(t)
		o.Overwrite = true
		_, err = makeSet(t.Context(), over, o, 2, samples)
		settest.Check(t, err)
		if !settest.SameFiles(settest.FilesOf(t, over), want) {
			t.Errorf("seed %d: the set that replaces another differs", seed)
		}
	}
}

// checkRecords checks that a set is intact, that each split has the records that it should have, each
// in one shard, and that shards are of equal length.
func checkRecords(t *testing.T, dir string, o Options, samples []sample) {
	t.Helper()
	report, err := verify.Files(t.Context(), []string{dir}, verify.Options{})
	settest.Check(t, err)
	if len(report.Faults) > 0 {
		t.Fatalf("the set has faults: %v", report.Faults)
	}
	m := settest.ManifestOf(t, dir)
	want := map[string]string{} // record by key, of all samples
	stated := map[string]string{}
	for _, p := range samples {
		want[p.key], stated[p.key] = p.bytes(), p.split
	}
	var e tfrecord.Example
	n := 0
	for _, split := range m.Splits {
		if o.Shards > 0 && len(split.Shards) != o.Shards {
			t.Errorf("split %s has %d shards, want %d", split.Name, len(split.Shards), o.Shards)
		}
		for _, info := range split.Shards {
			if d := info.Records - split.Records/int64(len(split.Shards)); d < 0 || d > 1 {
				t.Errorf("%s has %d of %d records", info.File, info.Records, split.Records)
			}
			counts := map[string]int64{}
			for _, record := range settest.RecordsOf(t, filepath.Join(dir, info.File)) {
				n++
				settest.Check(t, e.Parse(record))
				f, _ := e.Get("name")
				name, _ := f.Bytes()
				if want[string(name)] != string(record) {
					t.Fatalf("%s: the record %s is not as it was written, or twice in the set", info.File, name)
				}
				delete(want, string(name))
				if s := stated[string(name)]; s != "" && s != split.Name {
					t.Errorf("%s: the record %s is of split %s", info.File, name, s)
				}
				f, _ = e.Get("label")
				if id, _ := f.Int64(); id >= 0 {
					counts[names[id]]++
				}
			}
			for name, count := range counts {
				if info.Labels[name] != count {
					t.Errorf("%s: %d records of %s, the manifest says %d", info.File, count, name, info.Labels[name])
				}
			}
		}
	}
	if n != len(samples) {
		t.Errorf("the set has %d records, %d were written", n, len(samples))
	}
}

// A key belongs to the split that a conversion of the same seed gives it.
func TestSplitsAreThoseOfConversions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	o := Options{Seed: 7, Splits: []shard.SplitShare{{Name: "train", Share: 0.5}, {Name: "val", Share: 0.5}}}
	var samples []sample
	for i := range 40 {
		samples = append(samples, sample{key: fmt.Sprintf("class/%d.jpg", i)})
	}
	report, err := makeSet(t.Context(), dir, o, 1, samples)
	settest.Check(t, err)
	if n := report.Manifest.Splits[0].Records; n < 10 || n > 30 {
		t.Errorf("%d of 40 records in train", n)
	}
}

func TestInOrder(t *testing.T) {
	for _, memory := range []int64{0, 1} {
		dir := filepath.Join(t.TempDir(), "set")
		s, err := Create(t.Context(), dir, Options{InOrder: true, Shards: 3, Memory: memory, Splits: []shard.SplitShare{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}})
		settest.Check(t, err)
		var want []int64
		for i := range int64(5000) {
			e := s.Example("") // keys may be empty and equal
			e.Split("all")
			e.Int64("id", i)
			e.Bytes("filler", make([]byte, 300))
			settest.Check(t, e.Write())
			want = append(want, i)
		}
		report, err := s.Finish()
		settest.Check(t, err)
		if got := settest.IDsOf(t, dir, "all", "id"); !slices.Equal(got, want) {
			t.Errorf("memory %d: the records are in another order", memory)
		}
		if len(report.Manifest.Splits) != 1 || len(report.Notes) != 2 {
			t.Errorf("splits %v, notes %q: want one split and a note on each empty one", report.Manifest.Splits, report.Notes)
		}
	}
}

// Splits of records in order, with keys that are all empty, still have their shares.
func TestInOrderHasShares(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	s, err := Create(t.Context(), dir, Options{InOrder: true, Splits: []shard.SplitShare{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}})
	settest.Check(t, err)
	for i := range int64(200) {
		e := s.Example("")
		e.Int64("id", i)
		settest.Check(t, e.Write())
	}
	report, err := s.Finish()
	settest.Check(t, err)
	if len(report.Manifest.Splits) != 2 {
		t.Errorf("all records are in one split: %v", report.Manifest.Splits)
	}
}

func TestDuplicateKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	_, err := makeSet(t.Context(), dir, Options{}, 1, []sample{{key: "a"}, {key: "b"}, {key: "a", label: 2}})
	if !errors.Is(err, ErrDuplicateKey) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("a key twice: %v", err)
	}
	settest.NothingAt(t, dir)
}

func TestFeatures(t *testing.T) {
	build := func(o Options, write func(i int, e *Example)) (*Report, error) {
		s, err := Create(t.Context(), filepath.Join(t.TempDir(), "set"), o)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		for i := range 4 {
			e := s.Example(fmt.Sprint(i))
			write(i, e)
			if err := e.Write(); err != nil {
				return nil, err
			}
		}
		return s.Finish()
	}
	all := func(i int, e *Example) {
		e.Float("x", 1, 2, 3)
		e.Int64("list", make([]int64, i)...)
		e.Bytes("array", make([]byte, 48))
		e.Label("label", names[i%3])
		if i > 0 {
			e.String("text", "words")
		}
	}
	tensor := manifest.Feature{Key: "array", Kind: "bytes", Class: manifest.ClassTensor, Shape: []int{3, 4}, DType: "float32"}
	report, err := build(Options{Labels: names, Features: []manifest.Feature{tensor}, Supervised: &manifest.Supervised{Input: "x", Target: "label"}}, all)
	settest.Check(t, err)
	want := []manifest.Feature{
		tensor,
		{Key: "label", Kind: "int64", Class: manifest.ClassLabel},
		{Key: "list", Kind: "int64", Class: manifest.ClassVector, Shape: []int{-1}},
		{Key: "text", Kind: "bytes", Class: manifest.ClassText, Optional: true},
		{Key: "x", Kind: "float", Class: manifest.ClassVector, Shape: []int{3}},
	}
	if got := report.Manifest.Features; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("features\n%v, want\n%v", got, want)
	}
	if s := report.Manifest.Supervised; s == nil || s.Target != "label" {
		t.Errorf("supervised: %v", s)
	}

	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Supervised: &manifest.Supervised{Input: "x", Target: "y"}}, `no feature "y"; there are array, label`},
		{Options{Features: []manifest.Feature{{Key: "x", Kind: "float", Class: manifest.ClassVector, Shape: []int{4}}}}, "stated as 4 values in each record, and there are 3"},
		{Options{Features: []manifest.Feature{{Key: "x", Kind: "int64", Class: manifest.ClassVector, Shape: []int{3}}}}, "stated as int64, and the records have float"},
		{Options{Features: []manifest.Feature{{Key: "list", Kind: "int64", Class: manifest.ClassVector, Shape: []int{3}}}}, "the number varies"},
		{Options{Features: []manifest.Feature{{Key: "text", Kind: "bytes", Class: manifest.ClassText}}}, "not stated as optional"},
		{Options{Features: []manifest.Feature{{Key: "none", Kind: "bytes", Class: manifest.ClassText}}}, `no record has the feature "none"`},
		{Options{LabelKey: "list"}, "label 0"},
	} {
		c.o.Labels = names
		write := all
		if c.o.LabelKey != "" {
			write = func(i int, e *Example) { e.Int64("list", 0, 7) }
			c.want = "label 7 is not an id"
		}
		if _, err := build(c.o, write); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// The last values of a feature count, and every feature of labels is checked.
func TestLabelFeatures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	s, err := Create(t.Context(), dir, Options{Labels: names, Features: []manifest.Feature{{Key: "second", Kind: "int64", Class: manifest.ClassLabel, Optional: true}}})
	settest.Check(t, err)
	e := s.Example("twice")
	e.Int64("label", 0)
	e.Label("label", "kite")
	e.Label("second", "stork")
	settest.Check(t, e.Write())
	e = s.Example("none")
	e.Label("label", "kite")
	e.Int64("label")
	settest.Check(t, e.Write())
	for _, raw := range []bool{false, true} {
		e := s.Example("odd")
		if raw {
			e.Raw(settest.Example(func(b *tfrecord.Builder) { b.Int64("second", 3) }))
		} else {
			e.Int64("second", 3)
		}
		if err := e.Write(); !errors.Is(err, ErrBadSample) || !strings.Contains(err.Error(), "label 3 is not an id") {
			t.Errorf("a second label without a name: %v", err)
		}
	}
	report, err := s.Finish()
	settest.Check(t, err)
	if got := report.Manifest.Splits[0].Shards[0].Labels; len(got) != 1 || got["stork"] != 1 {
		t.Errorf("labels are counted as %v: want those of the first feature of labels", got)
	}
	checked, err := verify.Files(t.Context(), []string{dir}, verify.Options{Deep: new(verify.DeepOptions)})
	settest.Check(t, err)
	if len(checked.Faults) > 0 {
		t.Error(checked.Faults)
	}
}

// Records of other kinds are stored as they are; the labels of Examples among them are checked.
func TestRaw(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	s, err := Create(t.Context(), dir, Options{Labels: names, InOrder: true})
	settest.Check(t, err)
	var sequence tfrecord.SequenceBuilder
	sequence.Context.Int64("id", 5)
	want := [][]byte{[]byte("anything"), {}, sequence.Append(nil), settest.Example(func(b *tfrecord.Builder) { b.Int64("label", 2) })}
	for _, record := range want {
		e := s.Example("")
		e.Raw(record)
		settest.Check(t, e.Write())
	}
	e := s.Example("")
	e.Raw(settest.Example(func(b *tfrecord.Builder) { b.Int64("label", 3) }))
	if err := e.Write(); !errors.Is(err, ErrBadSample) {
		t.Errorf("a label that has no name: %v", err)
	}
	report, err := s.Finish()
	settest.Check(t, err)
	if report.Manifest.Records != "" || len(report.Manifest.Features) > 0 || len(report.Notes) == 0 {
		t.Errorf("records %q with features %v, notes %q", report.Manifest.Records, report.Manifest.Features, report.Notes)
	}
	got := settest.RecordsOf(t, filepath.Join(dir, report.Manifest.Splits[0].Shards[0].File))
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("records %q, want %q", got, want)
	}
}

func TestMisuse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	s, err := Create(t.Context(), dir, Options{Labels: names})
	settest.Check(t, err)
	for want, use := range map[string]func(e *Example){
		`label "owl" is not one of the 3 names`: func(e *Example) { e.Label("label", "owl") },
		"label 3 is not an id":                  func(e *Example) { e.Int64("label", 3) },
		"label -2 is not an id":                 func(e *Example) { e.Int64("label", -2) },
		"its split has no name":                 func(e *Example) { e.Split("") },
		`"a/b"`:                                 func(e *Example) { e.Split("a/b") },
		"it has no key":                         func(e *Example) { e.key = ""; *e = *s.Example("") },
		"is longer than":                        func(e *Example) { *e = *s.Example(strings.Repeat("k", maxKey+1)) },
	} {
		e := s.Example("key")
		use(e)
		if err := e.Write(); !errors.Is(err, ErrBadSample) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	e := s.Example("once")
	settest.Check(t, e.Write())
	e.Float("x", 1)
	if err := e.Write(); err == nil {
		t.Error("an Example was written twice")
	}
	if _, err := Create(t.Context(), dir, Options{}); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("a second set in the directory: %v", err)
	}
	late := s.Example("late")
	if p := s.Progress(); p.Records != 1 || p.Bytes == 0 || p.Written != 0 {
		t.Errorf("progress %+v", p)
	}
	_, err = s.Finish()
	settest.Check(t, err)
	if p := s.Progress(); p.Written != 1 {
		t.Errorf("progress %+v", p)
	}
	if err := late.Write(); !errors.Is(err, ErrClosed) {
		t.Errorf("Write after Finish: %v", err)
	}
	if _, err := s.Finish(); !errors.Is(err, ErrClosed) {
		t.Errorf("Finish after Finish: %v", err)
	}
	if err := s.Bad(BadSample{Key: "x", Stage: "read"}); !errors.Is(err, ErrClosed) {
		t.Errorf("Bad after Finish: %v", err)
	}
	settest.Check(t, s.Close())
	settest.ManifestOf(t, dir)
	if _, err := Create(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), "Options.Overwrite") {
		t.Errorf("a set where one is: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for field, options := range map[string][]Options{
		"Name":        {{Name: "a/b"}, {Name: strings.Repeat("x", 300)}},
		"Splits":      {{Splits: []shard.SplitShare{{Name: "a", Share: 0.5}}}, {Splits: make([]shard.SplitShare, 300)}},
		"Shards":      {{Shards: -1}, {Shards: 100_000}},
		"SplitShards": {{Shards: 2, SplitShards: map[string]int{"train": 3}}, {SplitShards: map[string]int{"train": 0}}, {SplitShards: map[string]int{"tarin": 1}}},
		"Compression": {{Compression: 77}},
		"Labels":      {{Labels: []string{"a", "a"}}, {Labels: []string{""}}},
		"LabelKey":    {{LabelKey: "label"}},
		"Features": {
			{Features: []manifest.Feature{{}}}, {Features: []manifest.Feature{{Key: "x", Kind: "float", Class: manifest.ClassImage}}},
			{Features: []manifest.Feature{{Key: "x", Kind: "int64", Class: manifest.ClassLabel}}},
			{Features: []manifest.Feature{{Key: "x", Kind: "float", Class: manifest.ClassVector, Shape: []int{-2}}}},
			{Features: []manifest.Feature{{Key: "x", Kind: "float", Class: "odd"}}},
			{Features: []manifest.Feature{{Key: "name", Kind: "bytes", Class: manifest.ClassText}, {Key: "name", Kind: "bytes", Class: manifest.ClassText}}},
		},
		"Supervised": {{Supervised: new(manifest.Supervised)}, {Supervised: &manifest.Supervised{Input: "a", Target: "a"}}},
		"MaxErrors":  {{MaxErrors: -1}},
		"Memory":     {{Memory: -1}},
	} {
		for i, o := range options {
			dir := filepath.Join(t.TempDir(), "set")
			_, err := makeSet(t.Context(), dir, o, 1, []sample{{key: "a"}})
			var option *shard.OptionError
			if !errors.As(err, &option) || option.Field != "Options."+field {
				t.Errorf("%s, case %d: %v", field, i, err)
			}
			settest.NothingAt(t, dir)
		}
	}
}

func TestBadSamples(t *testing.T) {
	for _, allowed := range []int64{0, 2} {
		dir := filepath.Join(t.TempDir(), "set")
		s, err := Create(t.Context(), dir, Options{MaxErrors: allowed})
		settest.Check(t, err)
		settest.Check(t, sample{key: "good"}.write(s))
		if err := s.Bad(BadSample{Key: "b", Stage: "cooking"}); err == nil {
			t.Error("an unknown stage was taken")
		}
		first := s.Bad(BadSample{Key: "z", Source: "in.mp4", Line: 3, Stage: "decode", Reason: "no frames"})
		second := s.Bad(BadSample{Key: "a", Stage: "read", Reason: "gone"})
		_, err = s.Finish()
		if allowed == 0 {
			if !errors.Is(first, ErrBadSample) || !errors.Is(second, ErrBadSample) || !errors.Is(err, ErrBadSample) {
				t.Errorf("more bad samples than allowed: %v, %v, %v", first, second, err)
			}
			settest.NothingAt(t, dir)
			continue
		}
		settest.Check(t, errors.Join(first, second, err))
		const want = `{"key":"a","source":"","stage":"read","reason":"gone"}
{"key":"z","source":"in.mp4","line":3,"stage":"decode","reason":"no frames"}
`
		if got := settest.FilesOf(t, dir)[manifest.LedgerFile]; got != want {
			t.Errorf("the ledger is\n%s, want\n%s", got, want)
		}
		if m := settest.ManifestOf(t, dir); m.Errors != 2 {
			t.Errorf("the manifest has %d errors", m.Errors)
		}
	}
}

// Nothing is left of a set that was closed, of one without records, and of one whose context ended.
func TestNothingIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "set")
	s, err := Create(t.Context(), dir, Options{Memory: 1})
	settest.Check(t, err)
	for _, p := range randomSamples(rand.New(rand.NewPCG(1, 2)), 3000) {
		settest.Check(t, p.write(s))
	}
	settest.Check(t, s.Close())
	settest.Check(t, s.Close())
	settest.NothingAt(t, filepath.Dir(dir))
	if err := (sample{key: "x"}).write(s); !errors.Is(err, ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}

	if _, err := makeSet(t.Context(), dir, Options{}, 1, nil); !errors.Is(err, shard.ErrNoRecords) {
		t.Errorf("no records: %v", err)
	}
	settest.NothingAt(t, dir)

	cause := errors.New("the queue is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err = Create(ctx, dir, Options{})
	settest.Check(t, err)
	settest.Check(t, sample{key: "x"}.write(s))
	cancel(cause)
	if err := (sample{key: "y"}).write(s); !errors.Is(err, cause) {
		t.Errorf("Write after the context ended: %v", err)
	}
	if _, err := s.Finish(); !errors.Is(err, cause) {
		t.Errorf("Finish after the context ended: %v", err)
	}
	settest.NothingAt(t, dir)
}

// Whichever file operation fails, there is no set or the old one, and the next try makes the new one.
func TestEachFault(t *testing.T) {
	samples := randomSamples(rand.New(rand.NewPCG(3, 4)), 400)
	o := Options{Name: "set", Shards: 3, Memory: 1, Labels: names}
	fresh := filepath.Join(t.TempDir(), "fresh")
	_, err := makeSet(t.Context(), fresh, o, 1, samples)
	settest.Check(t, err)
	want := settest.FilesOf(t, fresh)
	for _, overwrite := range []bool{false, true} {
		o := o
		o.Overwrite = overwrite
		var before map[string]string
		settest.EachFault(t, func() string {
			if !overwrite {
				return filepath.Join(t.TempDir(), "set")
			}
			dir := settest.ThreeShards(t)
			before = settest.FilesOf(t, dir)
			return dir
		}, func(ctx context.Context, dir string) error {
			_, err := makeSet(ctx, dir, o, 1, samples)
			return err
		}, func(dir, fail string, err error) {
			if err != nil && overwrite {
				_, expandErr := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{}) // completes what began
				settest.Check(t, expandErr)
				if got := settest.FilesOf(t, dir); !settest.SameFiles(got, before) && !settest.SameFiles(got, want) {
					t.Errorf("%s failed (%v): neither the old set nor the new one", fail, err)
				}
			}
			if err != nil && !overwrite {
				if _, err := os.Stat(filepath.Join(dir, manifest.File)); err == nil && !settest.SameFiles(settest.FilesOf(t, dir), want) {
					t.Errorf("%s failed: a set that is not whole has a manifest", fail)
				}
			}
			again := o
			again.Overwrite = true
			_, err = makeSet(t.Context(), dir, again, 1, samples)
			settest.Check(t, err)
			if !settest.SameFiles(settest.FilesOf(t, dir), want) {
				t.Errorf("%s failed: the next try makes another set", fail)
			}
		})
	}
}

// In a store, whichever request is the last one, there is no set or the whole one.
func TestStoreEndsAnywhere(t *testing.T) {
	samples := randomSamples(rand.New(rand.NewPCG(5, 6)), 200)
	o := Options{Name: "set", Shards: 2, Labels: names}
	local := filepath.Join(t.TempDir(), "set")
	_, err := makeSet(t.Context(), local, o, 1, samples)
	settest.Check(t, err)
	want := settest.FilesOf(t, local)
	if _, err := makeSet(t.Context(), "mem://bucket/set", Options{Overwrite: true}, 1, samples); err == nil {
		t.Error("a set in a store was to be replaced in one step")
	}
	for last := 1; ; last++ {
		store, url := settest.StoreOf(t)
		requests := 0
		var mu sync.Mutex
		store.Fault = func(kind, name string) error {
			mu.Lock()
			defer mu.Unlock()
			if requests++; requests > last {
				return fmt.Errorf("the process died: %w", os.ErrPermission)
			}
			return nil
		}
		_, err := makeSet(t.Context(), url+"/set", o, 1, samples)
		store.Fault = nil
		got := filesIn(store, "set/")
		if _, whole := got[manifest.File]; whole && !settest.SameFiles(got, want) || err == nil && !whole {
			t.Fatalf("after %d requests: %v, and %d files with a manifest", last, err, len(got))
		}
		if err == nil {
			break
		}
		if _, whole := got[manifest.File]; !whole && last%8 == 1 {
			time.Sleep(claim.Expire + claim.Renew)
			_, err = makeSet(t.Context(), url+"/set", o, 1, samples)
			settest.Check(t, err)
			if !settest.SameFiles(filesIn(store, "set/"), want) {
				t.Fatalf("after %d requests, the next try makes another set", last)
			}
		}
	}
}

// filesIn returns the objects of a store whose names begin with prefix, without it and without state.
func filesIn(store *storagetest.Store, prefix string) map[string]string {
	found := map[string]string{}
	for _, name := range store.Names() {
		if rel, ok := strings.CutPrefix(name, prefix); ok && !strings.HasPrefix(rel, shard.StateDir+"/") {
			found[rel] = string(store.Get(name))
		}
	}
	return found
}
