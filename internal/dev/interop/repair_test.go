//go:build interop

package interop

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TFDS loads shards that were adopted, under the names that they have: those of
// other writers, which a template of TFDS's makes, and that of a single file.
func TestTFDSLoadsAdoptedShards(t *testing.T) {
	set, all := convert(t, "images", filepath.Join(demo, "photos"), "--resize", "24x24", "--encode", "png", "--shards", "2", "--splits", "train=0.7,val=0.3")
	for _, c := range []struct {
		name  string
		shard func(split string, i int) string
		flags []string
	}{
		{"ours", func(split string, i int) string { return fmt.Sprintf("x-%s.tfrecord-%05d-of-00002", split, i) }, nil},
		{"Beam's", func(split string, i int) string { return fmt.Sprintf("%s-%05d-of-00002.tfrecord", split, i) }, nil},
		{"Kaggle's, renamed", func(split string, i int) string { return fmt.Sprintf("%s%02d-20.tfrec", split, i) }, []string{"--rename"}},
	} {
		dir := filepath.Join(t.TempDir(), "theirs")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, split := range []string{"train", "val"} {
			shards, err := filepath.Glob(filepath.Join(set, "*-"+split+".tfrecord-*"))
			if err != nil || len(shards) != 2 {
				t.Fatal(shards, err)
			}
			for i, shard := range shards {
				data, err := os.ReadFile(shard)
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, c.shard(split, i)), data, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		reshape(t, append([]string{"adopt", dir}, c.flags...)...)
		d := load(t, dir, all, all.Records)
		if got := d.Labels["image/class/label"]; !slices.Equal(got, flowers) {
			t.Errorf("%s: labels %q", c.name, got)
		}
		want := load(t, set, all, all.Records)
		for _, split := range []string{"train", "val"} {
			if got, want := flowersOf(t, d, split), flowersOf(t, want, split); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q, want %q", c.name, split, got, want)
			}
		}
	}
}

// TFDS counts what is left of a set after a repair, and TensorFlow reads the
// quarantine.
func TestTFDSLoadsARepairedSet(t *testing.T) {
	set, all := convert(t, "images", filepath.Join(demo, "photos"), "--resize", "24x24", "--encode", "png", "--shards", "2")
	shards, err := filepath.Glob(filepath.Join(set, "*.tfrecord-*"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(shards[1])
	if err != nil {
		t.Fatal(err)
	}
	data[3] ^= 1
	if err := os.WriteFile(shards[1], data, 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	var report struct {
		Saved      int    `json:"records_saved"`
		Lost       int    `json:"records_lost"`
		Bytes      int    `json:"bytes_lost"`
		Quarantine string `json:"quarantine"`
	}
	stdout, err := exec.Command(*binary, "repair", set, out, "--json", "--quiet").Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("repair: %v, want exit code 3", err)
	}
	if err := json.Unmarshal(stdout, &report); err != nil {
		t.Fatal(err)
	}
	if report.Saved != all.Records-1 || report.Lost != 1 {
		t.Errorf("%s", stdout)
	}
	train := all.Splits["train"]
	train.Records--
	all.Splits["train"] = train
	d := load(t, out, all, all.Records)
	if got := flowersOf(t, d, "train"); len(got) != report.Saved {
		t.Errorf("%d examples", len(got))
	}
	var records []map[string]feature
	ask(t, &records, "read", map[string]any{"path": report.Quarantine, "compression": ""})
	if len(records) != 1 || records[0]["offset"][1] != "0" || len(records[0]["data"][1]) != 2*report.Bytes {
		t.Errorf("the quarantine holds %v", records)
	}
}
