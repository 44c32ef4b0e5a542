package conversion

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

func TestPatterns(t *testing.T) {
	for names, want := range map[string]string{
		"a.tar": "a.tar", "a.tar b.tar": "*.tar", "d/a.tar d/b.tar": "d/*.tar", "train/0.tar val/0.tar": "*/*.tar", "a.tar b.tar.gz": "a.tar b.tar.gz",
		"a.csv b.csv.gz c.csv.gz": "a.csv *.csv.gz", "x/a.tar b.tar": "x/a.tar b.tar", "data/train-00000-of-00002.parquet data/test-00000-of-00001.parquet": "data/*.parquet",
		"x-train.tfrecord-00000-of-00002 x-val.tfrecord-00000-of-00001": "*.tfrecord-*", "part-r-00000 part-r-00001": "part-r-*",
		"a/b/c.npz a/d/c.npz": "a/*/*.npz",
	} {
		if got := patterns(strings.Fields(names)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
	}
}

// Whatever the files, each is in a pattern, and a pattern has files of one extension alone.
func TestPatternsOfRandomFiles(t *testing.T) {
	rng := torture.Rand(t)
	dirs, bases := []string{"", "a/", "b/", "a/c/", "b/c/"}, []string{"0.tar", "1.tar", "2.tar.gz", "x.csv", "y.csv.zst", "s-train.tfrecord-00000-of-00002", "s-val.tfrecord-00001-of-00002", "part-r-00000", "t-00000-of-00002.parquet", "k.npz"}
	for range torture.Seeds(300, 5000) {
		var names []string
		for range 1 + rng.IntN(8) {
			names = append(names, dirs[rng.IntN(len(dirs))]+bases[rng.IntN(len(bases))])
		}
		slices.Sort(names)
		names = slices.Compact(names)
		found := patterns(names)
		for _, name := range names {
			if !slices.ContainsFunc(found, func(pattern string) bool { ok, err := path.Match(pattern, name); return ok && err == nil }) {
				t.Errorf("%q: no pattern of %q has %s", names, found, name)
			}
		}
		for _, pattern := range found {
			var bare []string
			for _, name := range names {
				if ok, _ := path.Match(pattern, name); ok {
					bare = append(bare, basePattern(path.Base(name)))
				}
			}
			if slices.Sort(bare); len(slices.Compact(bare)) != 1 {
				t.Errorf("%q: the pattern %s has files of %q", names, pattern, bare)
			}
		}
	}
}
