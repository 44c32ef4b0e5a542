//go:build interop

package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reshape runs a verb that makes a new set, and returns what it says.
func reshape(t *testing.T, args ...string) (s summary) {
	t.Helper()
	c := exec.Command(*binary, append(args, "--json", "--quiet")...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.Output()
	if err != nil {
		t.Fatalf("tfrec %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	if err := json.Unmarshal(stdout, &s); err != nil {
		t.Fatalf("tfrec %s: %v in %s", strings.Join(args, " "), err, stdout)
	}
	return s
}

// flowersOf returns the file names of a split, in its order, and wants each to
// have the label of its directory.
func flowersOf(t *testing.T, d dataset, split string) []string {
	t.Helper()
	var names []string
	for _, e := range d.Splits[split].Examples {
		name := e["image/filename"].text(t)
		names = append(names, name)
		var id int
		if _, err := fmt.Sscan(e["image/class/label"].Values[0], &id); err != nil {
			t.Fatal(err)
		}
		if directory, _, _ := strings.Cut(name, "/"); d.Labels["image/class/label"][id] != directory {
			t.Errorf("%s has label %d, which is %s", name, id, d.Labels["image/class/label"][id])
		}
	}
	return names
}

// TFDS loads what the verbs that choose and change records make, with the
// records and the labels that were to be expected.
func TestTFDSLoadsChosenRecords(t *testing.T) {
	set, all := convert(t, "images", filepath.Join(demo, "photos"), "--resize", "24x24", "--encode", "png", "--shards", "3")
	source := load(t, set, all, all.Records)
	order := flowersOf(t, source, "train")
	out := func() string { return filepath.Join(t.TempDir(), "out") }
	keep := func(ok func(name string) bool) []string {
		return slices.DeleteFunc(slices.Clone(order), func(name string) bool { return !ok(name) })
	}

	to := out()
	s := reshape(t, "filter", set, to, "--where", `f["image/class/text"] startsWith "d" && width == 24`)
	if diff := cmp.Diff(keep(func(name string) bool { return name[0] == 'd' }), flowersOf(t, load(t, to, s, s.Records), "train")); diff != "" {
		t.Errorf("filter: %s", diff)
	}

	to = out()
	s = reshape(t, "split", set, to, "--splits", "train=0.5,val=0.25,test=0.25", "--stratify", "image/class/label", "--shards", "2")
	d := load(t, to, s, s.Records)
	var names []string
	for split, n := range map[string]int{"train": 20, "val": 10, "test": 10} {
		part := flowersOf(t, d, split)
		if len(part) != n || !slices.Equal(part, keep(func(name string) bool { return slices.Contains(part, name) })) {
			t.Errorf("split %s: %d records, want %d in the order of the input", split, len(part), n)
		}
		names = append(names, part...)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(order)), slices.Sorted(slices.Values(names))); diff != "" {
		t.Errorf("split: %s", diff)
	}

	to = out()
	s = reshape(t, "dedupe", set, set, to)
	if diff := cmp.Diff(order, flowersOf(t, load(t, to, s, s.Records), "train")); diff != "" {
		t.Errorf("dedupe: %s", diff)
	}

	to = out()
	s = reshape(t, "features", "select", set, to, "--keys", "image/encoded,image/filename,image/class/label")
	d = load(t, to, s, s.Records)
	if diff := cmp.Diff(order, flowersOf(t, d, "train")); diff != "" {
		t.Errorf("features select: %s", diff)
	}
	want := []string{"image/class/label", "image/encoded", "image/filename"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(d.Splits["train"].Examples[0]))); diff != "" || len(d.Splits["train"].Pairs) != len(order) {
		t.Errorf("features select: %d pairs, %s", len(d.Splits["train"].Pairs), diff)
	}
	to = out()
	s = reshape(t, "features", "rename", set, to, "--keys", "image/class/label=label,image/*=*")
	d = load(t, to, s, s.Records)
	if diff := cmp.Diff(flowers, d.Labels["label"]); diff != "" {
		t.Errorf("features rename: %s", diff)
	}
	for i, e := range d.Splits["train"].Examples {
		if diff := cmp.Diff(source.Splits["train"].Examples[i]["image/encoded"], e["encoded"]); diff != "" || e["filename"].text(t) != order[i] {
			t.Fatalf("features rename: example %d: %s", i, diff)
		}
	}
}

// TFDS loads a set that was appended to, with the labels of both matched by
// their names.
func TestTFDSLoadsAppendedRecords(t *testing.T) {
	photos := filepath.Join(demo, "photos")
	set, s := convert(t, "images", photos, "--resize", "24x24", "--encode", "png", "--shards", "2", "--name", "v")
	first := flowersOf(t, load(t, set, s, s.Records), "train")
	// The same classes but one, and a new one in front of all.
	src := t.TempDir()
	for _, class := range flowers[1:] {
		if err := os.CopyFS(filepath.Join(src, class), os.DirFS(filepath.Join(photos, class))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(src, "aster"), os.DirFS(filepath.Join(photos, "daisy"))); err != nil {
		t.Fatal(err)
	}
	more, m := convert(t, "images", src, "--resize", "24x24", "--encode", "png", "--shards", "2", "--name", "w")
	second := flowersOf(t, load(t, more, m, m.Records), "train")
	s = reshape(t, "append", set, more, "--new-labels", "--shards", "3")
	d := load(t, set, s, s.Records)
	if diff := cmp.Diff(append(slices.Clone(first), second...), flowersOf(t, d, "train")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(slices.Clone(flowers), "aster"), d.Labels["image/class/label"]); diff != "" {
		t.Error(diff)
	}
}
