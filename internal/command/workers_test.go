package command

import (
	"path/filepath"
	"slices"
	"testing"
)

// conversions are small, with several shards, compressed and not, of files and of an archive.
func conversions(t *testing.T) map[string][]string {
	photos, penguins := filepath.Join(demo(), "photos"), filepath.Join(demo(), "penguins.csv")
	return map[string][]string{
		"images": {"convert", "images", photos, "OUT", "--name", "k", "--resize", "48x48", "--encode", "png", "--shards", "5", "--splits", "train=0.7,val=0.3", "--quiet"},
		"gzip":   {"convert", "images", photos, "OUT", "--name", "k", "--resize", "48x48", "--encode", "raw", "--shards", "4", "--compression", "gzip", "--quiet"},
		"tar":    {"convert", "images", packedDemo(t, ".tar.gz"), "OUT", "--name", "k", "--resize", "48x48", "--encode", "png", "--shards", "5", "--quiet"},
		"csv":    {"convert", "csv", penguins, "OUT", "--name", "k", "--shards", "6", "--quiet"},
	}
}

// into returns the arguments with OUT replaced.
func into(args []string, out string, more ...string) []string {
	args = slices.Clone(args)
	args[slices.Index(args, "OUT")] = out
	return append(args, more...)
}

func TestSameBytesForAnyNumberOfWorkers(t *testing.T) {
	for name, args := range conversions(t) {
		t.Run(name, func(t *testing.T) {
			var first map[string]string
			for _, workers := range []string{"1", "2", "16"} {
				out := filepath.Join(t.TempDir(), "out")
				must(t, into(args, out, "--workers", workers)...)
				set, err := readSet(out)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = set
				}
				if diff := difference(first, set); diff != "" {
					t.Errorf("1 and %s workers: %s", workers, diff)
				}
			}
		})
	}
}
