//go:build interop

package interop

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestCardsAreRead has Hugging Face's library read the header of cards, and mlcroissant validate
// croissant.json and read the records of the exports that it names.
func TestCardsAreRead(t *testing.T) {
	if exec.Command(*python, "-c", "import mlcroissant").Run() != nil {
		t.Skip("no Python with mlcroissant (make venv installs it)")
	}
	images, _ := convert(t, "images", filepath.Join(demo, "photos"), "--name", "v", "--resize", "32x32", "--splits", "train=0.7,val=0.3", "--shards", "2")
	table, _ := convert(t, "csv", filepath.Join(demo, "penguins.csv"), "--name", "p", "--shards", "2")
	detection, err := filepath.Abs("../../../testdata/detection")
	if err != nil {
		t.Fatal(err)
	}
	boxes, _ := convert(t, "images", filepath.Join(detection, "images"), "--name", "b", "--annotations", filepath.Join(detection, "coco.json"))
	bare, _ := convert(t, "csv", filepath.Join(demo, "penguins.csv"), "--name", "q", "--compression", "gzip")
	c := exec.Command(*python, "cards.py")
	for _, set := range []string{images, table, boxes, bare} {
		args := []string{"card", set, "--license", "CC-BY-4.0", "--source", "https://example.org/raw", "--url", "https://example.org/set", "--creator", "Lab", "--citation", "none", "--config", facts(t), "--quiet"}
		if set != bare {
			export := filepath.Join(set, "all.parquet")
			output(t, exec.Command(*binary, "export", set, export, "--quiet"))
			args = append(args, "--parquet", export)
		}
		output(t, exec.Command(*binary, args...))
		c.Args = append(c.Args, set)
	}
	answers := json.NewDecoder(bytes.NewReader(output(t, c)))
	for _, want := range []struct {
		records, read int
		feature       string
	}{{40, 40, "image/encoded"}, {344, 344, "species"}, {11, 11, "image/object/bbox/xmin"}, {344, 0, "species"}} {
		var got struct {
			Features, Issues []string
			Splits           map[string]int
			License          string
			Read             int
		}
		if err := answers.Decode(&got); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, records := range got.Splits {
			n += records
		}
		if n != want.records || got.Read != want.read || len(got.Issues) > 0 || got.License != "cc-by-4.0" || !slices.Contains(got.Features, want.feature) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// facts writes what no flag of tfrec card states to a file.
func facts(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "facts.yaml")
	if err := os.WriteFile(path, []byte("published: 2026-01-31\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
