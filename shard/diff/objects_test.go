package diff

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// thing is an object of these tests.
type thing struct {
	text string
	x    float32
	mask string
}

func withThings(list ...thing) []byte {
	return settest.Example(func(b *tfrecord.Builder) {
		var left, right []float32
		var texts, masks []string
		for _, o := range list {
			left, right = append(left, o.x), append(right, o.x+0.5)
			texts, masks = append(texts, o.text), append(masks, o.mask)
		}
		for _, key := range []string{objects.KeyXMin, objects.KeyYMin} {
			b.Float(key, left...)
		}
		for _, key := range []string{objects.KeyXMax, objects.KeyYMax} {
			b.Float(key, right...)
		}
		b.String(objects.KeyText, texts...)
		b.String(objects.KeyMask, masks...)
	})
}

// objectDiff compares two records.
func objectDiff(t *testing.T, a, b []byte, o Options) *Report {
	t.Helper()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
	settest.PutFile(t, one, settest.FileOf(a))
	settest.PutFile(t, two, settest.FileOf(b))
	return diff(t, one, two, o)
}

func TestDiffOfObjects(t *testing.T) {
	dog, cat, cow := thing{"dog", 0, "m"}, thing{"cat", 0.25, "m"}, thing{"cow", 0.5, "m"}
	moved, redrawn := thing{"cat", 0.375, "m"}, thing{"cow", 0.5, "mm"}
	for name, c := range map[string]struct {
		a, b   []thing
		want   []ObjectDifference
		reason string
	}{
		"moved":   {[]thing{dog, cat, cow}, []thing{dog, moved, cow}, []ObjectDifference{{`object 1: "cat" at [0.25 0.25 0.75 0.75]`, `object 1: "cat" at [0.375 0.375 0.875 0.875]`}}, ""},
		"removed": {[]thing{dog, cat, cow}, []thing{cat, cow}, []ObjectDifference{{`object 0: "dog" at [0 0 0.5 0.5]`, ""}}, ""},
		"added":   {[]thing{dog}, []thing{dog, dog}, []ObjectDifference{{"", `object 1: "dog" at [0 0 0.5 0.5]`}}, ""},
		"removed and moved": {[]thing{dog, cat, cow}, []thing{moved, cow}, []ObjectDifference{
			{`object 0: "dog" at [0 0 0.5 0.5]`, ""}, {`object 1: "cat" at [0.25 0.25 0.75 0.75]`, `object 0: "cat" at [0.375 0.375 0.875 0.875]`},
		}, ""},
		"masks": {[]thing{cow}, []thing{redrawn}, []ObjectDifference{
			{`object 0: "cow" at [0.5 0.5 1 1], mask of 1 bytes (XXH3 `, `object 0: "cow" at [0.5 0.5 1 1], mask of 2 bytes (XXH3 `},
		}, ""},
		"renamed": {[]thing{dog, cow}, []thing{dog, {"ox", 0.5, "m"}}, []ObjectDifference{{`object 1: "cow" at [0.5 0.5 1 1]`, `object 1: "ox" at [0.5 0.5 1 1]`}}, ""},
		"others":  {[]thing{dog}, []thing{cat}, []ObjectDifference{{`object 0: "dog" at [0 0 0.5 0.5]`, ""}, {"", `object 0: "cat" at [0.25 0.25 0.75 0.75]`}}, ""},
		"all":     {[]thing{dog}, nil, []ObjectDifference{{`object 0: "dog" at [0 0 0.5 0.5]`, ""}}, ""},
		"order":   {[]thing{dog, cat}, []thing{cat, dog}, nil, "the same objects in another order"},
	} {
		report := objectDiff(t, withThings(c.a...), withThings(c.b...), Options{})
		if len(report.Differences) != 1 || len(report.Features) == 0 {
			t.Fatalf("%s: %+v", name, report)
		}
		got := report.Differences[0].Objects
		for i := range got { // without hashes
			for _, s := range []*string{&got[i].A, &got[i].B} {
				*s = (*s)[:len(*s)-max(0, len(*s)-strings.Index(*s+"XXH3 ", "XXH3 ")-5)]
			}
		}
		if d := cmp.Diff(c.want, got); d != "" || report.Differences[0].Reason != c.reason {
			t.Errorf("%s: %q, %s", name, report.Differences[0].Reason, d)
		}
	}
	r := objectDiff(t, withThings(slices.Repeat([]thing{dog}, 50)...), withThings(slices.Repeat([]thing{cat}, 30)...), Options{})
	if d := r.Differences[0]; len(d.Objects) != maxObjectsListed || d.Reason != "80 objects differ, of which 20 are listed" {
		t.Errorf("%+v", d)
	}
	// Lists that do not fit are compared as features alone.
	broken := settest.Example(func(b *tfrecord.Builder) { b.Float(objects.KeyXMin, 1) })
	if r := objectDiff(t, withThings(dog), broken, Options{}); len(r.Differences) != 1 || r.Differences[0].Objects != nil || len(r.Differences[0].Features) == 0 {
		t.Errorf("%+v", r)
	}
}

// TestDiffOfKeypoints compares records of two objects that differ in one of their keypoints.
func TestDiffOfKeypoints(t *testing.T) {
	posed := func(x float32, visibility int64, name string) []byte {
		return settest.Example(func(b *tfrecord.Builder) {
			for _, axis := range objects.Axes {
				b.Float(axis.Min, 0, 0)
				b.Float(axis.Max, 0.5, 1)
			}
			b.String(objects.KeyText, "dog", "cat")
			b.Float(objects.KeyKeypointX, 0, 0.5, x, 0.5)
			b.Float(objects.KeyKeypointY, 0, 0.5, 0.25, 0.5)
			b.Int64(objects.KeyKeypointVisibility, 1, 2, visibility, 2)
			b.String(objects.KeyKeypointText, "a", "b", name, "b")
		})
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"moved":   {posed(0.25, 2, "a"), "2 labelled keypoints (XXH3 "},
		"hidden":  {posed(0.75, 0, "a"), "1 labelled keypoints (XXH3 "},
		"renamed": {posed(0.75, 2, "c"), "2 labelled keypoints (XXH3 "},
	} {
		report := objectDiff(t, posed(0.75, 2, "a"), c.b, Options{})
		if len(report.Differences) != 1 || len(report.Differences[0].Objects) != 1 || !strings.HasPrefix(report.Differences[0].Objects[0].B, `object 1: "cat" at [0 0 1 1], `+c.want) {
			t.Errorf("%s: %+v", name, report.Differences)
		}
	}
}

// What only one side has is what is left when the objects of the other are taken away one by one.
func TestDiffOfObjectsAgainstAModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	draw := func() (list []thing) {
		for range rnd.IntN(6) {
			list = append(list, thing{fmt.Sprint(rnd.IntN(2)), float32(rnd.IntN(2)), "m"})
		}
		return list
	}
	less := func(a, b []thing) int {
		rest := slices.Clone(a)
		for _, o := range b {
			if i := slices.Index(rest, o); i >= 0 {
				rest = slices.Delete(rest, i, i+1)
			}
		}
		return len(rest)
	}
	for range 300 {
		a, b := draw(), draw()
		if slices.Equal(a, b) {
			continue
		}
		report := objectDiff(t, withThings(a...), withThings(b...), Options{})
		inA, inB := 0, 0
		for _, d := range report.Differences[0].Objects {
			if d.A != "" {
				inA++
			}
			if d.B != "" {
				inB++
			}
		}
		if inA != less(a, b) || inB != less(b, a) {
			t.Fatalf("%v, %v: %+v", a, b, report.Differences[0])
		}
	}
}
