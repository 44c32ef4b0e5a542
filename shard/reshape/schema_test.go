package reshape

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// Inputs are merged if they have a common schema, which features missing in some records do not
// break, or if the caller wants the union.
func TestMergeOfUnlikeInputs(t *testing.T) {
	ctx := context.Background()
	with := func(keys ...string) func(i int, b *tfrecord.Builder) {
		return func(i int, b *tfrecord.Builder) {
			for _, key := range keys {
				if key, sometimes := strings.CutSuffix(key, "?"); !sometimes || i%2 == 1 {
					b.Int64(key, int64(i))
				}
			}
		}
	}
	set := func(keys ...string) string { return madeSet(t, 6, 2, nil, with(keys...)) }
	dir := t.TempDir()
	file := func(dir, name string, keys ...string) string {
		return settest.ExampleFile(t, filepath.Join(dir, name), 6, with(keys...))
	}
	text := filepath.Join(dir, "text.tfrecord")
	settest.PutFile(t, text, settest.FileOf([]byte("no example")))
	ab, abc, bc, xy := set("a", "b"), set("a", "b", "c?"), set("b", "c"), set("x", "y")
	for _, c := range []struct {
		name string
		in   []string
		want string // an error, or a note
	}{
		{"the same", []string{ab, ab}, ""},
		{"an optional feature", []string{ab, abc}, `note: some inputs do not have feature "c"`},
		{"turned around", []string{abc, ab}, `note: some inputs do not have feature "c"`},
		{"a feature of each", []string{ab, bc}, `a", those of`},
		{"nothing in common", []string{ab, xy}, `a", those of`},
		{"only the third", []string{ab, ab, xy}, `a", those of`},
		{"a set and a file of its kind", []string{ab, file(dir, "ab.tfrecord", "a", "b")}, ""},
		{"a set and another file", []string{ab, file(dir, "ac.tfrecord", "a", "c")}, `b", those of`},
		{"a file that has more", []string{ab, file(dir, "abd.tfrecord", "a", "b", "d")}, `d", those of ` + ab},
		{"files of two directories", []string{file(dir, "ab1.tfrecord", "a", "b"), file(t.TempDir(), "bc.tfrecord", "b", "c")}, `a", those of`},
		{"files of a directory", []string{file(dir, "ab2.tfrecord", "a", "b"), file(dir, "bc.tfrecord", "b", "c")}, ""},
		{"unlike files of a directory", []string{file(dir, "ab3.tfrecord", "a", "b"), file(dir, "xy.tfrecord", "x", "y")}, "no feature in common"},
		{"other messages", []string{ab, text}, "are tf.train.Examples, and not all of those of " + text},
		{"other messages first", []string{text, file(dir, "ab4.tfrecord", "a")}, "are tf.train.Examples, and not all of those of " + text},
	} {
		out := filepath.Join(t.TempDir(), "out")
		refused := c.want != "" && !strings.HasPrefix(c.want, "note: ")
		report, err := Merge(ctx, c.in, out, Options{})
		switch {
		case refused:
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "Options.Union") {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			settest.NothingAt(t, out)
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		default:
			noted := strings.Join(report.Notes, "\n")
			if want := strings.TrimPrefix(c.want, "note: "); !strings.Contains(noted, want) || c.want == "" && noted != "" {
				t.Errorf("%s: notes %q, want %q", c.name, noted, want)
			}
		}
		out = filepath.Join(t.TempDir(), "union")
		report, err = Reshard(ctx, c.in, out, ReshardOptions{Options: Options{Union: true}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(report.Notes) == 0 && refused {
			t.Errorf("%s: the union is made without a note", c.name)
		}
		if m := settest.ManifestOf(t, out); strings.Contains(c.name, "feature of each") && !optional(m, "a", "c") {
			t.Errorf("%s: %+v", c.name, m.Features)
		}
	}
}

// TestMergeOfUnlikeKinds merges inputs with features of random kinds: sets, their shards without a
// manifest, and files, in one directory or two. They are refused if a feature has different kinds,
// whatever the inputs are and whichever of their records have it. With Options.Union, files make a set
// with a note.
func TestMergeOfUnlikeKinds(t *testing.T) {
	ctx := context.Background()
	keys := []string{"a", "b", "c"}
	for _, seed := range torture.Sample(t, 40, torture.Seeds(100, 1000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		kinds := [2][]int{{r.IntN(3), r.IntN(3), r.IntN(3)}, nil}
		kinds[1] = slices.Clone(kinds[0])
		unlike := ""
		if r.IntN(2) == 0 {
			k := r.IntN(len(keys))
			kinds[1][k], unlike = (kinds[0][k]+1+r.IntN(2))%3, keys[k]
		}
		sometimes := r.IntN(4) == 0
		make := func(of []int) func(i int, b *tfrecord.Builder) {
			return func(i int, b *tfrecord.Builder) {
				for k, key := range keys {
					switch {
					case sometimes && i%2 == k%2:
					case of[k] == 0:
						b.Int64(key, int64(i))
					case of[k] == 1:
						b.Float(key, float32(i))
					default:
						b.String(key, "x")
					}
				}
			}
		}
		dir, bare := t.TempDir(), true
		var in []string
		for n, of := range kinds {
			switch r.IntN(4) {
			case 0:
				in, bare = append(in, madeSet(t, 6, 2, nil, make(of))), false
			case 1:
				at := madeSet(t, 6, 2, nil, make(of))
				settest.Check(t, os.Rename(filepath.Join(at, manifest.File), filepath.Join(at, "other.json")))
				in = append(in, at)
			default:
				at := dir
				if r.IntN(2) == 0 {
					at = t.TempDir()
				}
				in = append(in, settest.ExampleFile(t, filepath.Join(at, fmt.Sprintf("%d.tfrecord", n)), 6, make(of)))
			}
		}
		out := filepath.Join(t.TempDir(), "out")
		_, err := Merge(ctx, in, out, Options{})
		if unlike == "" {
			settest.Check(t, err)
			continue
		}
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("feature %q is ", unlike)) || !strings.Contains(err.Error(), "reshape.DropFeatures") {
			t.Errorf("seed %d: %v of %v: %v", seed, in, kinds, err)
		}
		settest.NothingAt(t, out)
		if bare {
			report, err := Merge(ctx, in, out, Options{Union: true})
			settest.Check(t, err)
			if !strings.Contains(strings.Join(report.Notes, "\n"), "several kinds") {
				t.Errorf("seed %d: notes %q", seed, report.Notes)
			}
		}
	}
}

func optional(m *manifest.Manifest, keys ...string) bool {
	found := 0
	for _, f := range m.Features {
		for _, key := range keys {
			if f.Key == key && f.Optional {
				found++
			}
		}
	}
	return found == len(keys)
}

// Records stay in the splits that the names of their files state.
func TestSplitsOfNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"train.record", "my-Validation.tfrecords", "x_test-00000-of-00001.tfrecord.gz", "part-r-00000"} {
		settest.ExampleFile(t, filepath.Join(dir, name), 3, settest.Numbers)
	}
	out := filepath.Join(t.TempDir(), "out")
	report, err := Reshard(context.Background(), []string{filepath.Join(dir, "*")}, out, ReshardOptions{})
	settest.Check(t, err)
	for split, records := range map[string]int64{"train": 6, "validation": 3, "test": 3} {
		if got := report.Splits[split].Records; got != records {
			t.Errorf("split %s has %d records, want %d", split, got, records)
		}
	}
	for split, records := range map[string]int{"train": 2, "test": 1} {
		settest.ExampleFile(t, filepath.Join(dir, split, "x.tfrecord"), records, settest.Numbers)
	}
	report, err = Merge(context.Background(), []string{filepath.Join(dir, "train", "x.tfrecord"), filepath.Join(dir, "test", "x.tfrecord")}, filepath.Join(t.TempDir(), "out"), Options{})
	settest.Check(t, err)
	if report.Splits["train"].Records != 2 || report.Splits["test"].Records != 1 {
		t.Errorf("of directories: %+v", report.Splits)
	}
}
