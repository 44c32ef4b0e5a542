package conversion

import (
	"slices"
	"strings"
	"testing"
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
