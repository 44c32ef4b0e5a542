package yolo

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// Files of a distant store, one for each image, are read many at a time, whatever the number of
// workers.
func TestReadAtADistance(t *testing.T) {
	const files = 640
	d := &storagetest.Distant{Store: storagetest.New(), Latency: 20 * time.Millisecond, Steady: true}
	for i := range files {
		d.Put(fmt.Sprintf("labels/%03d.txt", i), []byte("0 0.5 0.5 0.2 0.2\n"))
	}
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return d, nil })
	t.Cleanup(storage.Forget)
	synctest.Test(t, func(t *testing.T) {
		set, err := Read(t.Context(), "mem://store/labels", annotation.Options{Workers: 2, Classes: []string{"cat"}})
		if err != nil {
			t.Fatal(err)
		}
		ranges := d.Ranges()
		if took := ranges.Last.Sub(ranges.First); len(set.Images) != files || took > files/64*d.Latency {
			t.Errorf("%d images in %v, with up to %d requests in flight", len(set.Images), took, ranges.Most)
		}
	})
}
