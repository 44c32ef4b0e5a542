package convert

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnnotationsOfNoImageAreNoSamples: they are lines of the ledger, whatever the limit, and a
// percentage of errors is one of samples.
func TestAnnotationsOfNoImageAreNoSamples(t *testing.T) {
	src, file, drawings := drawingsIn(t, rand.New(rand.NewPCG(2, 6)), 6)
	var more []map[string]any
	for i := range 300 {
		more = append(more, map[string]any{"id": 9000 + i, "image_id": 99, "category_id": 3, "bbox": []int{1, 1, 5, 5}, "area": 1, "iscrowd": 0})
	}
	put(t, filepath.Dir(file), "a.json", cocoOf(drawings, more...))
	o := with(file, ImageOptions{Options: Options{Limit: 4, MaxErrors: Tolerance{Count: 300}}})
	out := t.TempDir()
	for _, status := range []Status{Written, UpToDate} {
		s := mustImages(t, src, out, o)
		if s.Status != status || s.Samples != 4 || s.Records != 4 || s.Errors != 300 || s.Dropped != 300 || len(ledger(t, out)) != 300 {
			t.Errorf("%+v %+v", s, s.AnnotationCounts)
		}
	}
	o.Limit = 0
	o.MaxErrors = Tolerance{Share: 1}
	if s := mustImages(t, src, t.TempDir(), o); s.Samples != 6 || s.Records != 6 || s.Errors != 300 {
		t.Errorf("%+v", s)
	}
}

// TestShareOfSamplesWithFaults: many faults of a sample are one of a percentage.
func TestShareOfSamplesWithFaults(t *testing.T) {
	src, file, drawings := drawingsIn(t, rand.New(rand.NewPCG(2, 7)), 6)
	var more []map[string]any
	for i := range 9 {
		more = append(more, map[string]any{"id": 9000 + i, "image_id": 100 + i%3, "category_id": 3, "bbox": []int{-9, -9, 5, 5}, "area": 1, "iscrowd": 0})
	}
	put(t, filepath.Dir(file), "a.json", cocoOf(drawings, more...))
	o := with(file, ImageOptions{Options: Options{MaxErrors: Tolerance{Share: 0.5}}})
	if s := mustImages(t, src, t.TempDir(), o); s.Errors != 9 || s.Records != 6 {
		t.Errorf("%+v", s)
	}
	o.MaxErrors.Share = 0.49
	var bad *BadSamplesError
	if _, err := Images(context.Background(), src, t.TempDir(), o); !errors.As(err, &bad) {
		t.Errorf("%v", err)
	}
}

// TestGlobsLeaveOutAnnotatedImages: the annotations of an image that is left out are not those of
// another, nor of a missing one, whatever their extensions.
func TestGlobsLeaveOutAnnotatedImages(t *testing.T) {
	src, y := t.TempDir(), t.TempDir()
	put(t, src, "b/1.png", pngOf(1))
	put(t, src, "a/1.png", pngOf(2))
	put(t, src, "a/2.png", pngOf(3))
	put(t, y, "classes.txt", []byte("c\n"))
	put(t, y, "labels/2.txt", []byte("0 0.5 0.5 0.5 0.5\n"))
	put(t, y, "labels/b/1.txt", []byte("0 0.5 0.5 0.5 0.5\n"))
	for _, glob := range []string{"b/1.png", "b/**", "**/b/*"} {
		o := ImageOptions{Options: Options{Name: "n"}, Select: SelectSpec{Exclude: []string{glob}}}
		o.Annotations.Files = []AnnotationFile{{Path: y}}
		if s := mustImages(t, src, t.TempDir(), o); s.Records != 2 || s.Annotations != 1 || s.Errors != 0 {
			t.Errorf("%s: %+v %+v", glob, s, s.AnnotationCounts)
		}
	}
	o := ImageOptions{Options: Options{Name: "n"}, Select: SelectSpec{Exclude: []string{"b/**"}}}
	o.Annotations.Files = []AnnotationFile{{Path: y}}
	put(t, src, "b/2.png", pngOf(4)) // without it b/1.txt would be of a/1.png
	if _, err := Images(context.Background(), src, t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "cannot tell which image") {
		t.Errorf("%v", err)
	}
}

// TestOrderOfFaults: an image's annotations that reading refuses and those that the image refuses are
// in the order of their numbers.
func TestOrderOfFaults(t *testing.T) {
	src, file, drawings := drawingsIn(t, rand.New(rand.NewPCG(2, 8)), 2)
	var more []map[string]any
	for _, id := range []any{100, "b", 20, 3, "a", 007, 1 << 40} {
		box := []int{-9, -9, 5, 5} // outside of the image
		if n, ok := id.(int); ok && n < 20 {
			box = box[:3]
		}
		more = append(more, map[string]any{"id": id, "image_id": 100, "category_id": 3, "bbox": box, "area": 1, "iscrowd": 0})
	}
	put(t, filepath.Dir(file), "a.json", cocoOf(drawings, more...))
	out := t.TempDir()
	mustImages(t, src, out, with(file, ImageOptions{Options: Options{MaxErrors: Tolerance{Count: 9}}}))
	var names []string
	for _, line := range ledger(t, out) {
		names = append(names, strings.Fields(line)[4])
	}
	if got := strings.Join(names, " "); got != "3: 7: 20: 100: 1099511627776: a: b:" {
		t.Errorf("got %s", got)
	}
}
