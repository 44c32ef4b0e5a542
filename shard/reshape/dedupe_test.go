package reshape

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestDedupeSpills compares with a map, with more hashes than fit in memory.
func TestDedupeSpills(t *testing.T) {
	const n = 60_000 // some 1.7 MB of hashes
	rnd := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, n)
	for i := range values {
		values[i] = rnd.Int64N(n)
		if i%100 == 0 {
			values[i] = -1 // a value that repeats throughout
		}
	}
	build := func(i int, b *tfrecord.Builder) { b.Int64("id", values[i]) }
	one := settest.ExampleFile(t, filepath.Join(t.TempDir(), "one.tfrecord"), n/2, build)
	two := settest.ExampleFile(t, filepath.Join(t.TempDir(), "two.tfrecord"), n/2, func(i int, b *tfrecord.Builder) { build(n/2+i, b) })
	position := func(i int) Position {
		if i < n/2 {
			return Position{Path: one, Record: int64(i)}
		}
		return Position{Path: two, Record: int64(i - n/2)}
	}
	var want []int64
	var wantDropped []Duplicate
	first := map[int64]int{}
	for i, v := range values {
		if k, seen := first[v]; seen {
			wantDropped = append(wantDropped, Duplicate{position(i), position(k)})
			continue
		}
		first[v] = i
		want = append(want, v)
	}
	var before map[string]string
	for _, memory := range []int64{source.LeastMemory, 0} {
		var dropped []Duplicate
		o := DedupeOptions{Dropped: func(d Duplicate) error { dropped = append(dropped, d); return nil }}
		o.Memory, o.Shards, o.Name = memory, 1, "d"
		out := filepath.Join(t.TempDir(), "out")
		report, err := Dedupe(context.Background(), []string{one, two}, out, o)
		settest.Check(t, err)
		if got := settest.IDsOf(t, out, "", "id"); !slices.Equal(got, want) {
			t.Errorf("memory %d: %d records, want %d: the first of each", memory, len(got), len(want))
		}
		if !slices.Equal(dropped, wantDropped) || report.Duplicates != int64(len(wantDropped)) {
			t.Errorf("memory %d: %d duplicates were told and %d counted, want %d", memory, len(dropped), report.Duplicates, len(wantDropped))
		}
		verified(t, out)
		files := settest.FilesOf(t, out)
		if before != nil && !settest.SameFiles(before, files) {
			t.Error("the bytes depend on the memory")
		}
		before = files
	}
}

// TestDedupeBySetOfUnknownRecords: a manifest that knows of no features, since not all records are
// Examples, does not say that no record has one. The record that is not an Example is the error.
func TestDedupeBySetOfUnknownRecords(t *testing.T) {
	ctx := context.Background()
	example := settest.ExampleFile(t, filepath.Join(t.TempDir(), "example.tfrecord"), 5, settest.Numbers)
	other := filepath.Join(t.TempDir(), "other.tfrecord")
	settest.PutFile(t, other, settest.FileOf([]byte("~")))
	set := filepath.Join(t.TempDir(), "set")
	_, err := Reshard(ctx, []string{example, other}, set, ReshardOptions{Options: Options{Name: "s", Shards: 1, Union: true}})
	settest.Check(t, err)
	_, err = Dedupe(ctx, []string{set}, filepath.Join(t.TempDir(), "out"), DedupeOptions{By: "id"})
	if at := (*tfrecord.Error)(nil); isOptionError(err) || !errors.As(err, &at) || at.Record != 5 || at.Part != tfrecord.PartParse {
		t.Errorf("got %v: want an error of record 5", err)
	}
}

func TestDedupeByFeature(t *testing.T) {
	set := madeSet(t, 100, 2, nil, func(i int, b *tfrecord.Builder) {
		b.Int64("id", int64(i))
		switch {
		case i%10 == 3:
		case i%2 == 0:
			b.String("key", fmt.Sprint(i%20))
		default:
			b.Int64("number", 1) // no key
		}
	})
	out := filepath.Join(t.TempDir(), "out")
	report, err := Dedupe(context.Background(), []string{set}, out, DedupeOptions{By: "key"})
	settest.Check(t, err)
	var want []int64
	for i := range int64(100) {
		if i%2 == 1 || i < 20 {
			want = append(want, i)
		}
	}
	if got := settest.IDsOf(t, out, "", "id"); !slices.Equal(got, want) || report.Duplicates != int64(100-len(want)) {
		t.Errorf("%v, %d duplicates; want %v", got, report.Duplicates, want)
	}
	for in, want := range map[string]string{
		set: `DedupeOptions.By: no feature "nope"`,
		settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 5, settest.Numbers): `DedupeOptions.By: no record has a feature "nope"`,
	} {
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Dedupe(context.Background(), []string{in}, out, DedupeOptions{By: "nope"}); !isOptionError(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		settest.NothingAt(t, out)
	}
	// The caller's own error ends the run.
	full := errors.New("disk full")
	o := DedupeOptions{By: "key", Dropped: func(Duplicate) error { return full }}
	out = filepath.Join(t.TempDir(), "out")
	if _, err := Dedupe(context.Background(), []string{set}, out, o); !errors.Is(err, full) {
		t.Errorf("%v; want %v", err, full)
	}
	settest.NothingAt(t, out)
}

// Values are compared, not their encoding; different kinds are different values.
func TestHashOfValue(t *testing.T) {
	packed := []byte("\x0a\x0e\x0a\x0c\x0a\x01k\x12\x07\x1a\x05\x0a\x03\x01\x02\x03")
	loose := []byte("\x0a\x11\x0a\x0f\x0a\x01k\x12\x0a\x1a\x08\x08\x01\x08\x02\x08\x03\x10\x07")
	hash := func(record []byte) digest.Hash {
		var e tfrecord.Example
		settest.Check(t, e.Parse(record))
		f, _ := e.Get("k")
		return digest.OfValue(f)
	}
	if hash(packed) != hash(loose) {
		t.Error("packed and unpacked values have two hashes")
	}
	seen := map[digest.Hash]string{}
	for name, build := range map[string]func(b *tfrecord.Builder){
		"none": func(*tfrecord.Builder) {}, "1": func(b *tfrecord.Builder) { b.Int64("k", 1) }, "1, 0": func(b *tfrecord.Builder) { b.Int64("k", 1, 0) },
		"ab": func(b *tfrecord.Builder) { b.String("k", "ab") }, "a, b": func(b *tfrecord.Builder) { b.String("k", "a", "b") },
		"a": func(b *tfrecord.Builder) { b.String("k", "a") }, "empty": func(b *tfrecord.Builder) { b.String("k", "") }, "float": func(b *tfrecord.Builder) { b.Float("k", 1) },
	} {
		var b tfrecord.Builder
		build(&b)
		m := hash(b.Append(nil))
		if other, known := seen[m]; known {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[m] = name
	}
	var b tfrecord.Builder
	b.Int64("k")
	if hash(b.Append(nil)) != hash(nil) {
		t.Error("an empty feature is not like a missing one")
	}
}
