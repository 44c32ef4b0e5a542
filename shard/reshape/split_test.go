package reshape

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

var seventyThirty = []shard.SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}}

// resplit runs Resplit and returns the split of each id.
func resplit(t *testing.T, in string, o ResplitOptions) map[int64]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	_, err := Resplit(context.Background(), []string{in}, out, o)
	settest.Check(t, err)
	verified(t, out)
	splits := map[int64]string{}
	for _, s := range settest.ManifestOf(t, out).Splits {
		ids := settest.IDsOf(t, out, s.Name, "id")
		if !slices.IsSorted(ids) {
			t.Errorf("split %s is not in the order of the input", s.Name)
		}
		for _, id := range ids {
			splits[id] = s.Name
		}
	}
	return splits
}

// countOf counts the ids in a split.
func countOf(splits map[int64]string, name string) (n int) {
	for _, s := range splits {
		if s == name {
			n++
		}
	}
	return n
}

// grouped builds records in groups of many sizes, and a few without a group.
func grouped(i int, b *tfrecord.Builder) {
	settest.Numbers(i, b)
	if group := int64(math.Sqrt(float64(i))); group > 0 {
		b.Int64("group", group)
	}
}

func TestSplitByContent(t *testing.T) {
	const n = 4000
	set := madeSet(t, n, 3, nil, settest.Numbers)
	o := ResplitOptions{Splits: seventyThirty}
	o.Seed = 1
	splits := resplit(t, set, o)
	// Five standard deviations of a binomial distribution.
	if got := countOf(splits, "val"); len(splits) != n || math.Abs(float64(got)-0.3*n) > 5*math.Sqrt(n*0.3*0.7) {
		t.Errorf("%d of %d records in a split of 0.3", got, len(splits))
	}
	if again := resplit(t, set, o); !maps.Equal(splits, again) {
		t.Error("another run splits otherwise")
	}
	o.Seed = 2
	if other := resplit(t, set, o); maps.Equal(splits, other) {
		t.Error("the seed does not matter")
	}
	o.Seed = 1
	// Without the other half of the records, none changes its split.
	half := madeSet(t, n/2, 1, nil, func(i int, b *tfrecord.Builder) { settest.Numbers(2*i, b) })
	for id, split := range resplit(t, half, o) {
		if splits[id] != split {
			t.Fatalf("record %d is in %s among all, in %s among half", id, splits[id], split)
		}
	}
}

func TestSplitByHash(t *testing.T) {
	set := madeSet(t, 2500, 2, nil, grouped)
	splits := resplit(t, set, ResplitOptions{Splits: seventyThirty, ByHash: "group"})
	groups := map[int64]string{}
	for id, split := range splits {
		group := int64(math.Sqrt(float64(id)))
		if groups[group] == "" {
			groups[group] = split
		}
		if groups[group] != split {
			t.Fatalf("group %d is in %s and %s", group, split, groups[group])
		}
	}
	// Without other groups, and from a file: the same.
	bare := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 100, grouped)
	for id, split := range resplit(t, bare, ResplitOptions{Splits: seventyThirty, ByHash: "group"}) {
		if splits[id] != split {
			t.Fatalf("record %d moved from %s to %s", id, splits[id], split)
		}
	}
}

func TestSplitStratified(t *testing.T) {
	shares := []shard.SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.2}, {Name: "test", Share: 0.1}}
	// Groups of 1 to 60 records, and 300 groups of one.
	set := madeSet(t, 2130, 2, nil, func(i int, b *tfrecord.Builder) {
		settest.Numbers(i, b)
		b.String("group", groupName(i))
	})
	var before map[int64]string
	for seed := range uint64(3) {
		o := ResplitOptions{Splits: shares, Stratify: "group"}
		o.Seed = seed
		splits := resplit(t, set, o)
		sizes, parts := map[string]int{}, map[string]map[string]int{}
		for id, split := range splits {
			group := groupName(int(id))
			if parts[group] == nil {
				parts[group] = map[string]int{}
			}
			sizes[group]++
			parts[group][split]++
		}
		singles := 0
		for group, n := range sizes {
			for _, s := range shares {
				if got, want := float64(parts[group][s.Name]), s.Share*float64(n); math.Abs(got-want) >= 1 {
					t.Errorf("seed %d: group %s of %d records has %v in %s, want %.1f within one", seed, group, n, got, s.Name, want)
				}
			}
			if n == 1 && parts[group]["train"] == 0 {
				singles++
			}
		}
		// Small splits also get their share of the groups of one.
		if singles < 50 || singles > 130 {
			t.Errorf("seed %d: %d of 301 groups of one are not in train, want about 90", seed, singles)
		}
		if maps.Equal(before, splits) {
			t.Error("the seed does not matter")
		}
		before = splits
	}
}

// groupName assigns the first 1830 numbers to groups of 1 to 60.
func groupName(i int) string {
	if i >= 1830 {
		return fmt.Sprint("alone", i)
	}
	size := 1
	for ; i >= size; size++ {
		i -= size
	}
	return fmt.Sprint("of", size)
}

func TestSplitTogether(t *testing.T) {
	set := madeSet(t, 2500, 2, nil, grouped)
	for seed := range uint64(3) {
		o := ResplitOptions{Splits: seventyThirty, Together: "group"}
		o.Seed = seed
		splits := resplit(t, set, o)
		for id, split := range splits {
			group := int64(math.Sqrt(float64(id)))
			if first := splits[group*group]; first != split {
				t.Fatalf("group %d is in %s and %s", group, first, split)
			}
		}
		// The largest group has 99 records.
		if got := countOf(splits, "val"); got < 750-99 || got > 750+99 {
			t.Errorf("seed %d: %d records in val, want 750 within the size of a group", seed, got)
		}
	}
}

func TestSplitByList(t *testing.T) {
	set := madeSet(t, 30, 1, nil, settest.Numbers)
	list := map[string]string{}
	for id := range 30 {
		list[fmt.Sprint(id)] = []string{"b", "a", "c"}[id%3]
	}
	for id, split := range resplit(t, set, ResplitOptions{List: list, Key: "id"}) {
		if list[fmt.Sprint(id)] != split {
			t.Errorf("record %d is in %s, the list says %s", id, split, list[fmt.Sprint(id)])
		}
	}
	byText := map[string]string{}
	for id := range 30 {
		byText[fmt.Sprintf("record %d", id)] = list[fmt.Sprint(id)]
	}
	if got := resplit(t, set, ResplitOptions{List: byText, Key: "text"}); got[4] != "a" || got[5] != "c" {
		t.Errorf("by text: %v", got)
	}
	out := filepath.Join(t.TempDir(), "out")
	list["99"], list["98"] = "a", "a"
	_, err := Resplit(context.Background(), []string{set}, out, ResplitOptions{List: list, Key: "id"})
	if err == nil || !strings.Contains(err.Error(), `2 keys that no record has in "id", the first of them "98", "99"`) {
		t.Errorf("keys without a record: %v", err)
	}
	settest.NothingAt(t, out)
	delete(list, "7")
	_, err = Resplit(context.Background(), []string{set}, out, ResplitOptions{List: list, Key: "id"})
	if err == nil || !strings.Contains(err.Error(), "record 7 at byte") || !strings.Contains(err.Error(), "its key 7 is not in the list") {
		t.Errorf("a record without a line: %v", err)
	}
	settest.NothingAt(t, out)
}

func TestReadSplitList(t *testing.T) {
	list, err := ReadSplitList(strings.NewReader("\ufeffa b\ttrain\r\n\nc\td\tval\nlast\ttrain"))
	if err != nil || !maps.Equal(list, map[string]string{"a b": "train", "c\td": "val", "last": "train"}) {
		t.Errorf("%q, %v", list, err)
	}
	for text, want := range map[string]string{
		"a train\n": "line 1: \"a train\": want a key, a tab", "a\ttrain\nb\tx/y\n": "line 2: split name", "a\tx\na\ty\n": "line 2: key \"a\" is in split y here, and in x before",
		"": "empty", "\n": "empty",
	} {
		if list, err := ReadSplitList(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, list, err, want)
		}
	}
}

func TestSplitOptions(t *testing.T) {
	set := madeSet(t, 30, 1, nil, settest.Numbers)
	bare := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 10, settest.Numbers)
	list := map[string]string{"1": "a"}
	for _, c := range []struct {
		in   string
		o    ResplitOptions
		want string
	}{
		{set, ResplitOptions{}, "ResplitOptions.Splits: want the splits"},
		{set, ResplitOptions{Splits: []shard.SplitShare{{Name: "a", Share: 0.5}}}, "add up to 0.5"},
		{set, ResplitOptions{Splits: []shard.SplitShare{{Name: "a/b", Share: 1}}}, "split name"},
		{set, ResplitOptions{Splits: seventyThirty, ByHash: "id", Stratify: "id"}, "ResplitOptions.ByHash: it excludes ResplitOptions.Stratify"},
		{set, ResplitOptions{Splits: seventyThirty, List: list}, "ResplitOptions.Splits: the list says"},
		{set, ResplitOptions{Splits: seventyThirty, Key: "id"}, "ResplitOptions.Key: it names"},
		{set, ResplitOptions{Splits: seventyThirty, Stratify: "label"}, `ResplitOptions.Stratify: no feature "label"; there are "id", "text"`},
		{set, ResplitOptions{List: list}, `ResplitOptions.Key: no feature "image/filename"`},
		{bare, ResplitOptions{Splits: seventyThirty, ByHash: "label"}, `ResplitOptions.ByHash: no record has a feature "label"`},
		{bare, ResplitOptions{Splits: seventyThirty, Together: "label"}, `ResplitOptions.Together: no record has a feature "label"`},
	} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := Resplit(context.Background(), []string{c.in}, out, c.o)
		if !isOptionError(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %q", c.o, err, c.want)
		}
		settest.NothingAt(t, out)
	}
	// More values than the given memory holds.
	many := madeSet(t, 12_000, 1, nil, settest.Numbers)
	o := ResplitOptions{Splits: seventyThirty, Stratify: "id"}
	o.Memory = source.LeastMemory
	if _, err := Resplit(context.Background(), []string{many}, filepath.Join(t.TempDir(), "out"), o); err == nil || !strings.Contains(err.Error(), "Options.Memory holds") {
		t.Errorf("too many values: %v", err)
	}
}

// Cuts give each split its share to within one record, however they are shifted.
func TestCuts(t *testing.T) {
	shares := []shard.SplitShare{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.25}, {Name: "c", Share: 0.05}, {Name: "d", Share: 0.2}}
	for n := int64(1); n < 200; n++ {
		for _, moved := range []float64{0, 0.1, 0.5, 0.999999} {
			got := counts(cutsOf(n, moved, shares))
			for i, s := range shares {
				if math.Abs(float64(got[i])-s.Share*float64(n)) > 1+1e-9 {
					t.Fatalf("%d records, moved by %v: %v in %s, want %v within one", n, moved, got[i], s.Name, s.Share*float64(n))
				}
			}
		}
	}
}
