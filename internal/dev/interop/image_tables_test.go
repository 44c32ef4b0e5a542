//go:build interop

package interop

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTFDSLoadsImagesOfTables: lists of labels are sequences with the names of --classes, and
// columns that a row may lack are sequences of at most one value.
func TestTFDSLoadsImagesOfTables(t *testing.T) {
	photos := filepath.Join(demo, "photos")
	files, err := filepath.Glob(filepath.Join(photos, "*", "*.jpg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no photographs: %v", err)
	}
	type row struct {
		labels []string
		score  float32
		note   string
	}
	rows := map[string]row{}
	dir := t.TempDir()
	text := "path,tags,score,note\n"
	for i, file := range files {
		rel, err := filepath.Rel(photos, file)
		if err != nil {
			t.Fatal(err)
		}
		flower := filepath.Dir(rel)
		r := row{[]string{flower, "plant"}, float32(i) / 4, ""}
		switch i % 3 {
		case 0:
			r.labels, r.note = []string{"plant", "é b", flower}, fmt.Sprintf("no. %d", i)
		case 1:
			r.labels = nil
		}
		rows[filepath.ToSlash(rel)] = r
		text += fmt.Sprintf("%s,%s,%v,%s\n", filepath.ToSlash(rel), strings.Join(r.labels, "|"), r.score, r.note)
	}
	names := append([]string{"plant", "no such"}, append(slices.Clone(flowers), "é b")...)
	table, classes := filepath.Join(dir, "t.csv"), filepath.Join(dir, "classes.txt")
	for path, data := range map[string]string{table: text, classes: strings.Join(names, "\r\n")} {
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, s := convert(t, "images", photos, "--table", table, "--multi-label", "|", "--classes", classes,
		"--features", "score,note:bytes", "--resize", "32", "--encode", "png", "--strict")
	d := load(t, out, s, len(files))
	if got := d.Labels["image/class/label"]; !slices.Equal(got, names) {
		t.Errorf("label names %q, want %q", got, names)
	}
	seen := 0
	for _, e := range d.Splits["train"].Examples {
		name := e["image/filename"].text(t)
		r, ok := rows[name]
		if !ok {
			t.Fatalf("%s has no row", name)
		}
		seen++
		var ids, texts []string
		for _, l := range r.labels {
			ids, texts = append(ids, strconv.Itoa(slices.Index(names, l))), append(texts, hex.EncodeToString([]byte(l)))
		}
		if got := e["image/class/label"]; !slices.Equal(got.Values, ids) || !slices.Equal(got.Shape, []int{len(ids)}) {
			t.Errorf("%s: labels %+v, want %v", name, got, ids)
		}
		if got := e["image/class/text"]; !slices.Equal(got.Values, texts) {
			t.Errorf("%s: texts %+v, want %v", name, got, texts)
		}
		if got := e["score"]; len(got.Values) != 1 || float32Of(t, got.Values[0]) != r.score {
			t.Errorf("%s: score %+v, want %v", name, got, r.score)
		}
		var note []string
		if r.note != "" {
			note = []string{hex.EncodeToString([]byte(r.note))}
		}
		if got := e["note"]; !slices.Equal(got.Values, note) {
			t.Errorf("%s: note %+v, want %v", name, got, note)
		}
	}
	if seen != len(files) || seen != s.Records {
		t.Errorf("%d examples of %d", seen, len(files))
	}
}

// TestTFDSLoadsIntegerLabels: TFDS has a class for each id up to the largest, whose name is its
// number, and reads the labels as they are; those without a vocabulary are plain integers.
func TestTFDSLoadsIntegerLabels(t *testing.T) {
	photos := filepath.Join(demo, "photos")
	files, err := filepath.Glob(filepath.Join(photos, "*", "*.jpg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no photographs: %v", err)
	}
	upTo := func(n int) (names []string) {
		for i := range n + 1 {
			names = append(names, strconv.Itoa(i))
		}
		return names
	}
	for _, c := range []struct {
		name    string
		labels  []string // as the table has them
		ids     []string
		classes []string // lines of --classes
		names   []string // of TFDS; nil if the feature is no ClassLabel
	}{
		{"gaps", []string{"0", "5", "3"}, []string{"0", "5", "3"}, nil, upTo(5)},
		{"floats", []string{"11.0", "1.0", "7.0"}, []string{"11", "1", "7"}, nil, upTo(11)},
		{"zeros", []string{"001", "010"}, []string{"1", "10"}, nil, []string{"000", "001", "002", "003", "004", "005", "006", "007", "008", "009", "010"}},
		{"a label map", []string{"2", "4"}, []string{"2", "4"}, []string{"item {", " id: 2", " name: 'cat'", "}", "item { id: 4 name: '1' }"}, []string{"0", "#1", "cat", "3", "1"}},
		{"unlabelled", []string{"1", "-1", "0"}, []string{"1", "-1", "0"}, []string{"a", "b"}, []string{"a", "b"}},
		{"no names", []string{"-5", "5000000000"}, []string{"-5", "5000000000"}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, want := t.TempDir(), map[string]string{}
			text := ""
			for i, file := range files {
				rel, err := filepath.Rel(photos, file)
				if err != nil {
					t.Fatal(err)
				}
				rel = filepath.ToSlash(rel)
				want[rel] = c.ids[i%len(c.ids)]
				text += rel + "," + c.labels[i%len(c.labels)] + "\n"
			}
			table, flags := filepath.Join(dir, "t.csv"), []string{"--resize", "16", "--encode", "png"}
			if err := os.WriteFile(table, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if c.classes != nil {
				classes := filepath.Join(dir, "classes.txt")
				if err := os.WriteFile(classes, []byte(strings.Join(c.classes, "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
				flags = append(flags, "--classes", classes)
			}
			out, s := convert(t, append([]string{"images", photos, "--table", table}, flags...)...)
			d := load(t, out, s, len(files))
			if got := d.Labels["image/class/label"]; !slices.Equal(got, c.names) {
				t.Errorf("label names %q, want %q", got, c.names)
			}
			for _, e := range d.Splits["train"].Examples {
				name := e["image/filename"].text(t)
				if got := e["image/class/label"]; len(got.Values) != 1 || got.Values[0] != want[name] || got.DType != "int64" {
					t.Errorf("%s: %+v, want %s", name, got, want[name])
				}
			}
			if len(d.Splits["train"].Examples) != len(files) {
				t.Errorf("%d examples", len(d.Splits["train"].Examples))
			}
		})
	}
}
