package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/verify"
)

// classFile writes a file of classes.
func classFile(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "classes.txt", []byte(text))
	return filepath.Join(dir, "classes.txt")
}

// TestClassesFixIDs of directories, also below splits, and of the labels of a table.
func TestClassesFixIDs(t *testing.T) {
	flat := filepath.Join(t.TempDir(), "flat")
	put(t, flat, "1.png", pngOf(1))
	put(t, flat, "2.png", pngOf(2))
	table := filepath.Join(t.TempDir(), "t.csv")
	put(t, filepath.Dir(table), "t.csv", []byte("path,label\n1.png,x|n01\n2.png,\n"))
	splits := filepath.Join(t.TempDir(), "s")
	put(t, splits, "train/n02/1.png", pngOf(1))
	put(t, splits, "val/n01/2.png", pngOf(2))
	for _, c := range []struct {
		src, text string
		labels    LabelSpec
		want      map[string]string // image to labels, texts, synsets
		names     string
	}{
		{directories(t, 3), "c2\nnot there\nc0\nc1\n", LabelSpec{}, map[string]string{
			"c0/000.png": "[2] [c0] <nil>", "c1/001.png": "[3] [c1] <nil>", "c2/002.png": "[0] [c2] <nil>"}, "c2,not there,c0,c1"},
		{directories(t, 3), "c2 two\r\nc9 none\r\nc0 zero\r\nc1 one", LabelSpec{Offset: 1}, map[string]string{
			"c0/000.png": "[3] [zero] [c0]", "c1/001.png": "[4] [one] [c1]", "c2/002.png": "[1] [two] [c2]"}, "background_0,two,none,zero,one"},
		{splits, "n02 kit fox\nn01\tred fox\n", LabelSpec{}, map[string]string{"train/n02/1.png": "[0] [kit fox] [n02]", "val/n01/2.png": "[1] [red fox] [n01]"}, "kit fox,red fox"},
		{flat, "x\nn01\n", LabelSpec{File: table, Separator: "|"}, map[string]string{"1.png": "[0 1] [x n01] <nil>", "2.png": "[] [] <nil>"}, "x,n01"},
		{flat, "n01 kit fox\nx ex\n", LabelSpec{File: table, Separator: "|"}, map[string]string{"1.png": "[1 0] [ex kit fox] [x n01]", "2.png": "[] [] []"}, "kit fox,ex"},
	} {
		out := t.TempDir()
		c.labels.Classes = classFile(t, c.text)
		mustImages(t, c.src, out, ImageOptions{Options: Options{Name: "n"}, Labels: c.labels})
		m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Labels, ","); got != c.names {
			t.Errorf("%q: labels %s", c.text, got)
		}
		file, err := os.ReadFile(filepath.Join(out, "image.class.label.labels.txt"))
		if err != nil || string(file) != strings.ReplaceAll(c.names, ",", "\n")+"\n" {
			t.Errorf("%q: %q %v", c.text, file, err)
		}
		n := 0
		for _, split := range m.Splits {
			for name, r := range records(t, out, split.Name) {
				n++
				got := fmt.Sprint(r[imagekey.Label], " ", textOf(r[imagekey.Text]), " ", textOf(r[imagekey.Synset]))
				if got != c.want[name] {
					t.Errorf("%q: %s: %s, want %s", c.text, name, got, c.want[name])
				}
			}
		}
		if n != len(c.want) {
			t.Errorf("%q: %d records", c.text, n)
		}
		v, err := verify.Files(t.Context(), []string{out}, verify.Options{Deep: &verify.DeepOptions{}})
		if err != nil || !v.OK {
			t.Errorf("%q: verify: %v %+v", c.text, err, v)
		}
	}
}

// textOf is a feature of texts, as strings; nil without the feature.
func textOf(v any) any {
	if list, ok := v.([][]byte); ok {
		texts := []string{}
		for _, b := range list {
			texts = append(texts, string(b))
		}
		return texts
	}
	return nil
}

// TestClassesThatAreRefused whatever the errors allowed, before anything is written.
func TestClassesThatAreRefused(t *testing.T) {
	src := directories(t, 6)
	for text, want := range map[string]string{
		"c0\nc2\n":         `has no line for "c1"`,
		"c0\nc1\nc2\nc0\n": `the class "c0" is on line 1 already`,
		"c0\n\nc1\nc2\n":   "line 2 is empty",
	} {
		out := filepath.Join(t.TempDir(), "out")
		o := ImageOptions{Options: Options{MaxErrors: Tolerance{Share: 1}}, Labels: LabelSpec{Classes: classFile(t, text)}}
		_, err := Images(t.Context(), src, out, o)
		var bad *BadSamplesError
		if err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), "LabelSpec.Classes: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("a refused run left a directory")
		}
	}
}

// TestChangedClassesRedoTheirShards: a class that is added at the end changes none, a name those
// with its images; an update equals a fresh run.
func TestChangedClassesRedoTheirShards(t *testing.T) {
	src := directories(t, 90)
	file := classFile(t, "c0 zero\nc1 one\nc2 two\n")
	out := t.TempDir()
	o := ImageOptions{Options: Options{Name: "n", Shards: 4}, Labels: LabelSpec{Classes: file}}
	mustImages(t, src, out, o)
	for _, c := range []struct {
		text    string
		written int
	}{{"c0 zero\nc1 one\nc2 two\nc3 three\n", 0}, {"c0 zero\nc1 uno\nc2 two\nc3 three\n", 4}, {"c2 two\nc1 uno\nc0 zero\nc3 three\n", 4}} {
		put(t, filepath.Dir(file), filepath.Base(file), []byte(c.text))
		if s := mustImages(t, src, out, o); s.Status != Updated || s.ShardsWritten != c.written {
			t.Errorf("%q: %+v", c.text, s)
		}
		fresh := t.TempDir()
		mustImages(t, src, fresh, o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
	put(t, filepath.Dir(file), filepath.Base(file), []byte("c0\nc1\nc2\n"))
	if _, err := Images(t.Context(), src, out, o); err == nil || !strings.Contains(err.Error(), "LabelSpec.Classes") || !strings.Contains(err.Error(), "other inputs or options") {
		t.Errorf("names instead of pairs: %v", err)
	}
}

// TestFilesOfLabelsAreInputs: rules for build tools name the table and the file of classes.
func TestFilesOfLabelsAreInputs(t *testing.T) {
	s := &sample.Set{Origin: &origin.Tree{}, Options: &ImageOptions{Labels: LabelSpec{File: "t.csv", Classes: "c.txt"}}}
	if got := slices.Collect(s.Files()); !slices.Equal(got, []string{"t.csv", "c.txt"}) {
		t.Errorf("%q", got)
	}
}
