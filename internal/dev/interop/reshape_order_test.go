//go:build interop

package interop

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TFDS loads what the verbs that order, merge and sample records make, with the
// records in the order that was to be expected.
func TestTFDSLoadsReshardedRecords(t *testing.T) {
	photos := filepath.Join(demo, "photos")
	set, all := convert(t, "images", photos, "--resize", "24x24", "--encode", "png", "--shards", "3", "--name", "v")
	order := flowersOf(t, load(t, set, all, all.Records), "train")
	out := func() string { return filepath.Join(t.TempDir(), "out") }
	sorted := slices.Sorted(slices.Values(order))
	check := func(what string, want, got []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}

	to := out()
	s := reshape(t, "reshard", set, to, "--shards", "4")
	check("reshard", order, flowersOf(t, load(t, to, s, s.Records), "train"))

	// More shards than records: some of them are empty.
	to = out()
	s = reshape(t, "reshard", set, to, "--shards", "50")
	check("reshard to many", order, flowersOf(t, load(t, to, s, s.Records), "train"))

	to = out()
	s = reshape(t, "reshard", set, to, "--shuffle", "--seed", "3", "--records-per-shard", "9")
	shuffled := flowersOf(t, load(t, to, s, s.Records), "train")
	if slices.Equal(shuffled, order) {
		t.Error("shuffle: the order is what it was")
	}
	check("shuffle", sorted, slices.Sorted(slices.Values(shuffled)))

	to = out()
	s = reshape(t, "reshard", set, to, "--sort-by", "image/filename")
	check("sort", sorted, flowersOf(t, load(t, to, s, s.Records), "train"))

	groups := out()
	reshape(t, "reshard", set, groups, "--group-by", "image/class/text")
	for _, label := range flowers {
		var d dataset
		ask(t, &d, "tfds", map[string]any{"path": filepath.Join(groups, label), "take": len(order)})
		check(label, slices.DeleteFunc(slices.Clone(order), func(name string) bool { return filepath.Dir(name) != label }), flowersOf(t, d, "train"))
	}

	to = out()
	s = reshape(t, "sample", set, to, "--count", "11", "--seed", "2")
	sample := flowersOf(t, load(t, to, s, s.Records), "train")
	check("sample", slices.DeleteFunc(slices.Clone(order), func(name string) bool { return !slices.Contains(sample, name) }), sample)
	if len(sample) != 11 {
		t.Errorf("a sample of %d records, want 11", len(sample))
	}

	to = out()
	s = reshape(t, "take", set, to, "--skip", "5", "--count", "7")
	check("take", order[5:12], flowersOf(t, load(t, to, s, s.Records), "train"))
}

// TFDS loads a merger of sets with other labels, each record with its label.
func TestTFDSLoadsMergedLabels(t *testing.T) {
	photos := filepath.Join(demo, "photos")
	var sets []string
	n := 0
	for _, directories := range [][]string{{"roses", "tulips"}, {"daisy", "tulips"}} {
		src := t.TempDir()
		for _, directory := range directories {
			if err := os.CopyFS(filepath.Join(src, directory), os.DirFS(filepath.Join(photos, directory))); err != nil {
				t.Fatal(err)
			}
		}
		set, s := convert(t, "images", src, "--resize", "24x24", "--encode", "png")
		sets = append(sets, set)
		n += s.Records
	}
	to := filepath.Join(t.TempDir(), "out")
	s := reshape(t, "merge", sets[0], sets[1], to)
	d := load(t, to, s, s.Records)
	if diff := cmp.Diff([]string{"daisy", "roses", "tulips"}, d.Labels["image/class/label"]); diff != "" {
		t.Error(diff)
	}
	if got := flowersOf(t, d, "train"); len(got) != n || n == 0 {
		t.Errorf("%d records, want %d", len(got), n)
	}
}
