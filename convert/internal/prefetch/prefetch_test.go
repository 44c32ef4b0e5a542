package prefetch

import (
	"context"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// What is requested ahead is bounded in bytes, and waiting for an image always makes progress.
func TestFetchesAreBounded(t *testing.T) {
	const size = MaxBytes / 3
	s := storagetest.New()
	s.Put("photos/large", make([]byte, size))
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)
	const url = "mem://store/photos"
	large := origin.Image{Path: "large", Size: size}
	for o, err := range storage.Parse(url).Walk(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		large.Version = origin.VersionAs([]byte(o.Version), origin.Version{})
	}
	const images = 8
	given := 0
	f := New(t.Context(), &origin.Tree{Root: storage.Parse(url)}, nil, MaxBytes, func() *origin.Image {
		if given == images {
			return nil
		}
		given++
		return &large
	})
	defer f.Close()
	var taken []*Fetch // two at a time, as two workers would
	for range images {
		if len(taken) == 2 {
			taken[0].Done()
			taken = taken[1:]
		}
		taken = append(taken, f.Take())
		last := taken[len(taken)-1]
		if last.wait(); last.image.err != nil || len(last.image.data) != size {
			t.Fatalf("%d bytes, %v", len(last.image.data), last.image.err)
		}
		f.mu.Lock()
		if f.held > MaxBytes+size || f.waiting > storage.MostRequests() {
			t.Errorf("%d bytes held, %d requests under way", f.held, f.waiting)
		}
		f.mu.Unlock()
	}
	for _, fetch := range taken {
		fetch.Done()
	}
	if f.held != 0 {
		t.Errorf("%d bytes were not given back", f.held)
	}
}
