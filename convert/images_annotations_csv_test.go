package convert

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/manifest"
)

// TestTablesOfBoxes: records have the flags that a table has columns for, a table without them makes
// the set again, and what cannot be used is named with its line.
func TestTablesOfBoxes(t *testing.T) {
	src, dir, out := t.TempDir(), t.TempDir(), t.TempDir()
	for i, name := range []string{"train/1.png", "train/2.png", "val/1.png"} {
		put(t, src, name, pngOf(i))
	}
	file := filepath.Join(dir, "boxes.csv")
	o := with(file, ImageOptions{Options: Options{MaxErrors: Tolerance{Count: 2}}})
	for _, c := range []struct {
		what, table string
		status      Status
		flags       bool
		classes     []string // of train/1.png
		xmax        []float32
		ledger      []string
	}{
		{"Open Images", "LabelName,ImageID,XMin,YMin,XMax,YMax,IsTruncated,IsGroupOf\n/m/1,train/1,0,0,0.5,1,0,0\n/m/1,val/1,0,0,1,1,0,0\n", Written, true, []string{"/m/1"}, []float32{0.5}, nil},
		{"the same", "LabelName,ImageID,XMin,YMin,XMax,YMax,IsTruncated,IsGroupOf\n/m/1,train/1,0,0,0.5,1,0,0\n/m/1,val/1,0,0,1,1,0,0\n", UpToDate, true, []string{"/m/1"}, []float32{0.5}, nil},
		{"without flags", "LabelName,ImageID,XMin,YMin,XMax,YMax\n/m/1,train/1,0,0,0.5,1\n/m/1,val/1,0,0,1,1\n", Updated, false, []string{"/m/1"}, []float32{0.5}, nil},
		{"pixels", "/x/train/1.png,0,0,2,2,dog\n/x/train/1.png,-3,0,1,2,cat\nval/1.png,,,,,\n", Updated, false, []string{"dog", "cat"}, []float32{-1, -1}, nil},
		{"faults", "train/1.png,0,0,2,2,dog\ntrain/1.png,2,0,1,2,cat\ntrain/gone.png,0,0,2,2,dog\n", Updated, false, []string{"dog"}, []float32{-1}, []string{
			`"key":"train/1.png","source":"boxes.csv","line":2,"stage":"annotation","reason":"line 2: the box is empty: x from 2 to 1, y from 0 to 2"`,
			`"key":"train/gone.png","source":"boxes.csv","line":3,"stage":"read"`,
		}},
	} {
		put(t, dir, "boxes.csv", []byte(c.table))
		if s := mustImages(t, src, out, o); s.Status != c.status {
			t.Errorf("%s: %s, want %s", c.what, s.Status, c.status)
		}
		e := records(t, out, "train")["train/1.png"]
		for _, key := range []string{objects.KeyCrowd, objects.KeyTruncated} {
			if _, has := e[key]; has != c.flags {
				t.Errorf("%s: %s is there: %v", c.what, key, has)
			}
		}
		var classes []string
		for _, text := range e[objects.KeyText].([][]byte) {
			classes = append(classes, string(text))
		}
		if !slices.Equal(classes, c.classes) {
			t.Errorf("%s: %v, want %v", c.what, classes, c.classes)
		}
		for i, v := range e[objects.KeyXMax].([]float32) {
			if c.xmax[i] >= 0 && v != c.xmax[i] {
				t.Errorf("%s: xmax %g, want %g", c.what, v, c.xmax[i])
			}
		}
		if c.ledger == nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(ledgerText(t, out)), "\n")
		for i, want := range c.ledger {
			if len(lines) != len(c.ledger) || !strings.Contains(lines[i], want) {
				t.Errorf("%s: ledger %q, want %q", c.what, lines, want)
			}
		}
	}
}

// ledgerText is errors.jsonl.
func ledgerText(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, manifest.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTablesOfSplits: tables of one name in the directories of splits are of the images there.
func TestTablesOfSplits(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Name: "n", MaxErrors: Tolerance{Count: 2}}}
	for i, split := range []string{"train", "test"} {
		put(t, src, split+"/1.png", pngOf(i))
		put(t, dir, split+"/_annotations.csv", []byte("filename,class,xmin,ymin,xmax,ymax\n1.png,"+split+",0,0,2,2\n1.png,x,2,2,0,0\n"))
		o.Annotations.Files = append(o.Annotations.Files, AnnotationFile{Path: filepath.Join(dir, split, "_annotations.csv"), Split: split})
	}
	out := t.TempDir()
	mustImages(t, src, out, o)
	for _, split := range []string{"train", "test"} {
		e := records(t, out, split)[split+"/1.png"]
		if texts, _ := e[objects.KeyText].([][]byte); len(texts) != 1 || string(texts[0]) != split {
			t.Errorf("%s: %v", split, e)
		}
	}
	if text := ledgerText(t, out); !strings.Contains(text, `"train/_annotations.csv","line":3`) || !strings.Contains(text, `"test/_annotations.csv","line":3`) {
		t.Errorf("ledger %s", text)
	}
}
