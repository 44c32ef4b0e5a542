//go:build unix

package beam

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert"
)

// TestPrismConvertsTables: typed tables, and images in one, are made as without a runner.
func TestPrismConvertsTables(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 500 {
		fmt.Fprintf(&lines, "{\"id\": %d, \"x\": %d.5, \"tags\": [%s]}\n", i, i, strings.Repeat("1, ", i%3)+"2")
	}
	rows, set, images := filepath.Join(dir, "rows.jsonl"), filepath.Join(dir, "set"), filepath.Join(dir, "images.parquet")
	if err := os.WriteFile(rows, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, plain, "convert", "images", filepath.Join(demo(t), "photos"), set, "--quiet")
	must(t, plain, "export", set, images, "--format", "parquet", "--quiet")
	for name, args := range map[string][]string{
		"table":  {"convert", "table", rows, "OUT", "--shards", "4"},
		"images": {"convert", "images", images, "OUT", "--image-key", "image/encoded", "--label-column", "image/class/text", "--resize", "32", "--shards", "4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref, out := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
			_, want := summary(t, must(t, plain, into(args, ref, "--json")...))
			if _, text := summary(t, must(t, onBeam, into(args, out, "--json")...)); text != want {
				t.Errorf("summary %s, want %s", text, want)
			}
			sameSet(t, out, ref)
			if s, _ := summary(t, must(t, onBeam, into(args, out, "--json")...)); s.Status != convert.UpToDate {
				t.Errorf("again: %+v", s)
			}
		})
	}
}
