package reshape

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
)

func init() {
	maps.Copy(modelVerbs, choosingVerbs)
	maps.Copy(reshapers, choosers)
}

// choosers are runs of the verbs that choose or change records.
var choosers = map[string]func(ctx context.Context, in []string, out string, o Options) error{
	"filter": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Filter(ctx, in, out, FilterOptions{Options: o, Keep: idKeep(func(id int64) bool { return id%2 == 0 })})
		return err
	},
	"stratify": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Resplit(ctx, in, out, ResplitOptions{Options: o, Splits: seventyThirty, Stratify: "group"})
		return err
	},
	"dedupe": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := Dedupe(ctx, in, out, DedupeOptions{Options: o, By: "noise"})
		return err
	},
	"features": func(ctx context.Context, in []string, out string, o Options) error {
		_, err := DropFeatures(ctx, in, out, []string{"noise"}, o)
		return err
	},
}

// only returns the records for which ok returns true, in their splits. ok is called with all
// records in order.
func (m model) only(ok func(r modelRecord) bool) model {
	kept := model{}
	for _, split := range slices.Sorted(maps.Keys(m)) {
		for _, r := range m[split] {
			if ok(r) {
				kept[split] = append(kept[split], r)
			}
		}
	}
	return kept
}

// dealt returns all records in the splits that split returns for them.
func (m model) dealt(split func(r modelRecord) string) model {
	dealt := model{}
	for _, r := range m.all() {
		s := split(r)
		dealt[s] = append(dealt[s], r)
	}
	return dealt
}

// splitsOf returns the split of each value that key returns for a record; no value may be in two
// splits.
func splitsOf(t *testing.T, m model, key func(r modelRecord) string) map[string]string {
	t.Helper()
	splits := map[string]string{}
	for split, records := range m {
		for _, r := range records {
			if other, known := splits[key(r)]; known && other != split {
				t.Fatalf("%.20q is in %s and in %s", key(r), split, other)
			}
			splits[key(r)] = split
		}
	}
	return splits
}

func dataOf(r modelRecord) string  { return r.data }
func groupOf(r modelRecord) string { return r.group }

// choosingVerbs are the verbs that choose which records to keep, and their splits.
var choosingVerbs = map[string]modelVerb{
	"filter": func(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
		rest := rnd.Int64N(3)
		keep := func(id int64) bool { return id%3 != rest }
		report, err := Filter(context.Background(), []string{path}, out, FilterOptions{Options: o, Keep: idKeep(keep)})
		settest.Check(t, err)
		want := m.only(func(r modelRecord) bool { return keep(r.id) })
		if int(report.Dropped) != len(m.all())-len(want.all()) {
			t.Errorf("%d dropped of %d, %d are left", report.Dropped, len(m.all()), len(want.all()))
		}
		return want, false
	},
	"dedupe": func(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
		in := []string{path}
		for range rnd.IntN(3) {
			in = append(in, path) // all records again
		}
		_, err := Dedupe(context.Background(), in, out, DedupeOptions{Options: o})
		settest.Check(t, err)
		seen := map[string]bool{}
		return m.only(func(r modelRecord) bool {
			known := seen[r.data]
			seen[r.data] = true
			return !known
		}), false
	},
	"dedupe by id": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Dedupe(context.Background(), []string{path}, out, DedupeOptions{Options: o, By: "id"})
		settest.Check(t, err)
		seen := map[int64]bool{}
		return m.only(func(r modelRecord) bool {
			known := seen[r.id]
			seen[r.id] = true
			return !known
		}), false
	},
	"split": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Resplit(context.Background(), []string{path}, out, ResplitOptions{Options: o, Splits: seventyThirty})
		settest.Check(t, err)
		splits := splitsOf(t, readModel(t, out), dataOf)
		return m.dealt(func(r modelRecord) string { return splits[r.data] }), false
	},
	"split by hash": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Resplit(context.Background(), []string{path}, out, ResplitOptions{Options: o, Splits: seventyThirty, ByHash: "group"})
		settest.Check(t, err)
		splits := splitsOf(t, readModel(t, out), groupOf)
		return m.dealt(func(r modelRecord) string { return splits[r.group] }), false
	},
	"split together": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Resplit(context.Background(), []string{path}, out, ResplitOptions{Options: o, Splits: seventyThirty, Together: "group"})
		settest.Check(t, err)
		splits := splitsOf(t, readModel(t, out), groupOf)
		return m.dealt(func(r modelRecord) string { return splits[r.group] }), false
	},
	"split stratified": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Resplit(context.Background(), []string{path}, out, ResplitOptions{Options: o, Splits: seventyThirty, Stratify: "group"})
		settest.Check(t, err)
		got := readModel(t, out)
		sizes := map[string]int{}
		for _, r := range m.all() {
			sizes[r.group]++
		}
		for group, n := range sizes {
			inTrain := len(got.only(func(r modelRecord) bool { return r.group == group })["train"])
			if math.Abs(float64(inTrain)-0.7*float64(n)) >= 1 {
				t.Errorf("%d of %d records of %s are in a split of 0.7", inTrain, n, group)
			}
		}
		rest := map[string][]modelRecord{}
		for split, records := range got {
			if !isPart(records, m.all()) {
				t.Errorf("split %s is out of order, or has a record that was not there", split)
			}
			rest["all"] = append(rest["all"], records...)
		}
		sameModel(t, rest, model{"all": m.all()}, true)
		return got, false
	},
	"split by list": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		list := map[string]string{}
		for _, r := range m.all() {
			list[fmt.Sprint(r.id)] = []string{"train", "odd"}[r.id&1]
		}
		_, err := Resplit(context.Background(), []string{path}, out, ResplitOptions{Options: o, List: list, Key: "id"})
		settest.Check(t, err)
		return m.dealt(func(r modelRecord) string { return list[fmt.Sprint(r.id)] }), false
	},
	"rename and back": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		other := filepath.Join(t.TempDir(), "renamed")
		_, err := RenameFeatures(context.Background(), []string{path}, other, []RenameFeature{{"*o*", "z*-*"}}, o)
		if err == nil {
			t.Fatal("two * in a key were taken")
		}
		_, err = RenameFeatures(context.Background(), []string{path}, other, []RenameFeature{{"group", "zz/group"}, {"noi*", "*"}}, o)
		settest.Check(t, err)
		_, err = RenameFeatures(context.Background(), []string{other}, out, []RenameFeature{{"zz/*", "*"}, {"se", "noise"}}, o)
		settest.Check(t, err)
		return m, false
	},
	"append": func(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
		grown := filepath.Join(t.TempDir(), "grown")
		settest.Check(t, os.CopyFS(grown, os.DirFS(path)))
		other := randomModel(rnd)
		_, err := Append(context.Background(), grown, []string{other.put(t, rnd)}, AppendOptions{Options: Options{Shards: 1 + rnd.IntN(3)}})
		settest.Check(t, err)
		want := maps.Clone(m)
		for split, records := range other {
			want[split] = slices.Concat(want[split], records)
		}
		sameModel(t, readModel(t, grown), want, false)
		_, err = Reshard(context.Background(), []string{grown}, out, ReshardOptions{Options: o})
		settest.Check(t, err)
		return want, false
	},
}

// isPart reports whether the records of part are a subsequence of those of whole.
func isPart(part, whole []modelRecord) bool {
	for _, r := range part {
		i := slices.Index(whole, r)
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}
