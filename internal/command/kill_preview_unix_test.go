//go:build unix

package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// TestPreviewKilledAtAnyMoment kills the verbs that write a page or a contact sheet with SIGKILL: the
// file is whole or is not there, and the same command again ends with that of a run left alone, also
// where the killed one had written it.
func TestPreviewKilledAtAnyMoment(t *testing.T) {
	race.Skip(t)
	in := filepath.Join(t.TempDir(), "in")
	must(t, "convert", "images", filepath.Join(demo(), "photos"), in, "--name", "k", "--resize", "64x64", "--encode", "png", "--shards", "3", "--quiet")
	photos, err := filepath.Glob(filepath.Join(demo(), "photos/daisy/*.jpg"))
	if err != nil || len(photos) == 0 {
		t.Fatal(photos, err)
	}
	moments := moments()/4 + 1
	for name, args := range map[string][]string{
		"page.html":    {"preview", in, "OUT", "--samples", "12", "--quiet"},
		"sheet.png":    {"inspect", in, "--sheet", "OUT", "--quiet"},
		"variants.png": {"augment", "preview", photos[0], "--augment", "hflip|rotate:20", "-o", "OUT", "--quiet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := filepath.Join(t.TempDir(), name)
			k := newKiller(t, uint64(len(name)), func() { must(t, into(args, whole)...) })
			want, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			for i := range moments {
				out := k.killFresh(t, i, moments, func() string { return filepath.Join(t.TempDir(), name) }, func(out string) []string { return into(args, out) })
				if got, err := os.ReadFile(out); err == nil && string(got) != string(want) {
					t.Errorf("killed at moment %d: another %s", i, name)
				}
				for range 2 { // the second run meets what a run left that was killed at its very end
					must(t, into(args, out)...)
					if got, err := os.ReadFile(out); err != nil || string(got) != string(want) {
						t.Errorf("killed at moment %d and run again: %v, another %s", i, err, name)
					}
				}
			}
			k.check(t)
		})
	}
}
