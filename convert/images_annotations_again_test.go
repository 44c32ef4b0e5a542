package convert

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/shard/verify"
)

// TestNamesOfClassesStayTrue: a set that TFDS cannot have names of has no list of those it had.
func TestNamesOfClassesStayTrue(t *testing.T) {
	src, file, _ := drawingsIn(t, rand.New(rand.NewPCG(1, 10)), 5)
	out := t.TempDir()
	list := filepath.Join(out, labels.FileName(objects.KeyLabel))
	mustImages(t, src, out, with(file, ImageOptions{}))
	if data, err := os.ReadFile(list); err != nil || !bytes.HasPrefix(data, []byte("0\n1\n2\nhue1\n")) {
		t.Errorf("%v %s", err, data)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(file), "a.json", bytes.ReplaceAll(data, []byte("hue2"), []byte("hue1")))
	mustImages(t, src, out, with(file, ImageOptions{}))
	if _, err := os.Stat(list); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the list is still there: %v", err)
	}
	if report, err := verify.Files(context.Background(), []string{out}, verify.Options{}); err != nil || !report.OK {
		t.Errorf("verify: %v %+v", err, report)
	}
}

// TestLabelsOfASplit: annotations of labels/val are not of images in train.
func TestLabelsOfASplit(t *testing.T) {
	src, y := t.TempDir(), t.TempDir()
	for _, name := range []string{"train/1.png", "train/2.png", "val/1.png"} {
		put(t, src, "images/"+name, pngOf(len(name)))
	}
	put(t, y, "classes.txt", []byte("a\n"))
	for _, name := range []string{"train/1.txt", "val/1.txt", "val/2.txt"} {
		put(t, y, "labels/"+name, []byte("0 0.5 0.5 0.5 0.5\n"))
	}
	o := ImageOptions{Options: Options{Name: "n", MaxErrors: Tolerance{Count: 1}}}
	for _, split := range []string{"train", "val"} {
		o.Annotations.Files = append(o.Annotations.Files, AnnotationFile{Path: filepath.Join(y, "labels", split), Split: split})
	}
	out := t.TempDir()
	s := mustImages(t, src, out, o)
	if s.Splits["train"].Records != 1 || s.Splits["val"].Records != 1 || s.Errors != 1 || records(t, out, "val")["images/val/1.png"] == nil {
		t.Errorf("%+v", s)
	}
}

// TestCategoriesOfSeveralFiles: files with the same categories agree, even if two have one name.
func TestCategoriesOfSeveralFiles(t *testing.T) {
	src, _, drawings := drawingsIn(t, rand.New(rand.NewPCG(1, 11)), 6)
	dir := t.TempDir()
	same := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("hue2"), []byte("hue1")) }
	put(t, dir, "a.json", same(cocoOf(drawings[:3])))
	put(t, dir, "b.json", same(cocoOf(drawings[3:])))
	o := with(filepath.Join(dir, "a.json"), ImageOptions{})
	o.Annotations.Files = append(o.Annotations.Files, AnnotationFile{Path: filepath.Join(dir, "b.json")})
	if s := mustImages(t, src, t.TempDir(), o); s.Records != 6 || s.Annotations != objectsOf(drawings) {
		t.Errorf("%+v", s)
	}
	put(t, dir, "b.json", bytes.ReplaceAll(same(cocoOf(drawings[3:])), []byte(`"id":90,"name":"hue0"`), []byte(`"id":90,"name":"hue1"`)))
	if _, err := Images(t.Context(), src, t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "class 90 is both hue0 and hue1: make the categories") {
		t.Errorf("%v", err)
	}
}

// TestKeysOfObjectsKeepTheirNames: readers of records with objects need all of their keys.
func TestKeysOfObjectsKeepTheirNames(t *testing.T) {
	src, file, _ := drawingsIn(t, rand.New(rand.NewPCG(1, 12)), 2)
	for key, refused := range map[string]bool{objects.KeyXMin: true, objects.KeyLabel: true, "image/filename": false} {
		_, err := Images(t.Context(), src, t.TempDir(), with(file, ImageOptions{Rename: map[string]string{key: "x"}}))
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "ImageOptions.Rename") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
