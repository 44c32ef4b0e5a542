package convert

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
)

// idsIn returns the id of each label in the records of a split, and fails if records disagree.
func idsIn(t *testing.T, out, split string) map[string]int64 {
	t.Helper()
	ids := map[string]int64{}
	for name, m := range records(t, out, split) {
		text, id := string(m[imagekey.Text].([][]byte)[0]), m[imagekey.Label].([]int64)[0]
		if was, ok := ids[text]; ok && was != id {
			t.Errorf("%s: label %s is %d and %d", name, text, was, id)
		}
		ids[text] = id
	}
	return ids
}

// notes collects the notes of a run.
func notes(o *Options) *[]string {
	var list []string
	o.Note = func(s string) { list = append(list, s) }
	return &list
}

func TestIntegerLabelsAreTheirOwnIDs(t *testing.T) {
	src, out := t.TempDir(), t.TempDir()
	want := map[string]int64{}
	for i := range 12 {
		want[strconv.Itoa(i)] = int64(i)
		put(t, src, fmt.Sprintf("train/%d/a.png", i), pngOf(i))
		put(t, src, fmt.Sprintf("test/%d/b.png", i), pngOf(i))
	}
	put(t, src, "train/11/broken.png", []byte("no picture"))
	o := ImageOptions{Options: Options{Shards: 1, MaxErrors: Tolerance{Count: 1}}}
	said := notes(&o.Options)
	mustImages(t, src, out, o)
	for _, split := range []string{"train", "test"} {
		if got := idsIn(t, out, split); !maps.Equal(got, want) {
			t.Errorf("%s: %v", split, got)
		}
	}
	if s := strings.Join(*said, "\n"); strings.Contains(s, "label") {
		t.Errorf("notes %q", s)
	}
}

// TestIDsFollowTheListing: a label whose only sample fails keeps its id, as does one that only
// another split has.
func TestIDsFollowTheListing(t *testing.T) {
	src, out := t.TempDir(), t.TempDir()
	put(t, src, "train/1/a.png", pngOf(1))
	put(t, src, "train/10/b.png", pngOf(2))
	put(t, src, "train/0/broken.png", []byte("no picture"))
	put(t, src, "test/2/c.png", pngOf(3))
	o := ImageOptions{Options: Options{Shards: 1, MaxErrors: Tolerance{Count: 1}}}
	said := notes(&o.Options)
	mustImages(t, src, out, o)
	got := idsIn(t, out, "train")
	maps.Copy(got, idsIn(t, out, "test"))
	if want := map[string]int64{"1": 1, "2": 2, "10": 3}; !maps.Equal(got, want) {
		t.Errorf("ids %v, want %v", got, want)
	}
	if s := strings.Join(*said, "\n"); !strings.Contains(s, `"10" is 3`) {
		t.Errorf("notes %q", s)
	}
}

// TestOrderOfLabelsThatChanges: sets with another label order, as made by earlier versions, are
// updated to the bytes of a new one.
func TestOrderOfLabelsThatChanges(t *testing.T) {
	src, out := t.TempDir(), t.TempDir()
	for i := range 60 {
		put(t, src, fmt.Sprintf("%d/%d.png", i%12, i), pngOf(i))
	}
	put(t, src, "x/60.png", pngOf(60)) // makes the others sort as text
	o := ImageOptions{Options: Options{Name: "n", Shards: 6}}
	mustImages(t, src, out, o)
	if ids := idsIn(t, out, "train"); ids["10"] != 2 || ids["2"] != 4 {
		t.Fatalf("ids %v", ids)
	}
	if err := os.RemoveAll(filepath.Join(src, "x")); err != nil {
		t.Fatal(err)
	}
	said := notes(&o.Options)
	s := mustImages(t, src, out, o)
	if s.Status != Updated || s.ShardsWritten == 0 {
		t.Errorf("summary %+v", s)
	}
	if n := strings.Join(*said, "\n"); !strings.Contains(n, `label ids change: "10" was 2 and is 10`) {
		t.Errorf("notes %q", n)
	}
	for text, id := range idsIn(t, out, "train") {
		if text != strconv.FormatInt(id, 10) {
			t.Errorf("label %s has id %d", text, id)
		}
	}
	fresh := t.TempDir()
	mustImages(t, src, fresh, o)
	sameSet(t, contents(t, out), contents(t, fresh))
	*said = nil
	if s := mustImages(t, src, out, o); s.Status != UpToDate || len(*said) != 0 {
		t.Errorf("once more: %s, %q", s.Status, *said)
	}
}

func TestVocabOfIntegers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		values, order []string // the names by id
		note          string
	}{
		{strings.Fields("11 10 9 8 7 6 5 4 3 2 1 0"), strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11"), ""},
		{strings.Fields("3 0 1"), strings.Fields("0 1 2 3"), "labels are integers, which are ids as they are: 3 labels up to 3; 1 id without a label named by the number (CSVOptions.Vocabulary gives names)"},
		{strings.Fields("007 010 009"), strings.Fields("000 001 002 003 004 005 006 007 008 009 010"), "3 labels up to 10; 8 ids without"},
		{strings.Fields("7 007 10"), strings.Fields("007 10 7"), "same one"},
	} {
		var text strings.Builder
		text.WriteString("a,y\n")
		var values []string
		for i := range 40 {
			v := c.values[i%len(c.values)]
			if i >= len(c.values) {
				v = c.values[rnd.IntN(len(c.values))]
			}
			values = append(values, v)
			fmt.Fprintf(&text, "%d,%s\n", i, v)
		}
		src, out := filepath.Join(t.TempDir(), "t.csv"), t.TempDir()
		if err := os.WriteFile(src, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		o := CSVOptions{Options: Options{Shards: 1}, Label: "y", Vocab: true, Types: map[string]ColumnType{"a": TypeInt64}}
		said := notes(&o.Options)
		if _, err := CSV(context.Background(), []string{src}, out, o); err != nil {
			t.Fatal(err)
		}
		for _, m := range examples(t, out, "train") {
			i, id := m["a"].([]int64)[0], m["y"].([]int64)[0]
			if c.order[id] != values[i] {
				t.Errorf("%v: row %d with %s has id %d", c.values, i, values[i], id)
			}
		}
		if n := strings.Join(*said, "\n"); !strings.Contains(n, c.note) || strings.Contains(n, "label") != (c.note != "") {
			t.Errorf("%v: notes %q", c.values, n)
		}
		m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
		if err != nil || !slices.Equal(m.Labels, c.order) {
			t.Errorf("manifest: %v, %v", m, err)
		}
	}
}
