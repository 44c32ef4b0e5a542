package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The number of shards and the division into splits follow from the input: the same command on a
// changed input updates the set.
func TestInputsGrow(t *testing.T) {
	halves, err := ParseSplits("train=0.5,val=0.5")
	if err != nil {
		t.Fatal(err)
	}
	for name, grow := range map[string]struct {
		o             ImageOptions
		first, second []string // images
	}{
		"more shards of one split": {
			o:     ImageOptions{Options: Options{Shards: 3}},
			first: []string{"a/1.png"}, second: []string{"a/2.png", "b/3.png", "b/4.png"},
		},
		"a split gets its first sample": {
			o:     ImageOptions{Options: Options{Shards: 2, Splits: halves}},
			first: []string{"a/1.png"}, second: []string{"a/2.png", "a/3.png", "a/4.png", "a/5.png", "a/6.png", "a/7.png"},
		},
		"auto": {
			first: []string{"a/1.png"}, second: many(200),
		},
		"split directories": {
			o:     ImageOptions{Options: Options{Shards: 2}},
			first: []string{"train/a/1.png", "train/a/2.png"}, second: []string{"val/a/1.png"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
			o := grow.o
			o.Name = "grown"
			for i, file := range grow.first {
				put(t, src, file, pngOf(i))
			}
			mustImages(t, src, out, o)
			for i, file := range grow.second {
				put(t, src, file, pngOf(i+50))
			}
			if s := mustImages(t, src, out, o); s.Status != Updated {
				t.Errorf("grown: %+v", s)
			}
			fresh := filepath.Join(t.TempDir(), "fresh")
			mustImages(t, src, fresh, o)
			sameSet(t, contents(t, out), contents(t, fresh))
			for _, file := range grow.second {
				if err := os.Remove(filepath.Join(src, file)); err != nil {
					t.Fatal(err)
				}
			}
			o.AllowShrink = true
			if s := mustImages(t, src, out, o); s.Status != Updated {
				t.Errorf("shrunk: %+v", s)
			}
			os.RemoveAll(fresh)
			mustImages(t, src, fresh, o)
			sameSet(t, contents(t, out), contents(t, fresh))
		})
	}
	src, out, o := directories(t, 9), t.TempDir(), ImageOptions{Options: Options{Shards: 3}}
	mustImages(t, src, out, o)
	o.Shards = 4
	if _, err := Images(t.Context(), src, out, o); err == nil || !strings.Contains(err.Error(), "Options.Shards") {
		t.Errorf("another number of shards: %v", err)
	}
}

func many(n int) (files []string) {
	for i := range n {
		files = append(files, fmt.Sprintf("b/%d.png", i))
	}
	return files
}
