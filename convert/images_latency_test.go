package convert

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// Small images of a distant store arrive as fast as the store, the network between and the bound on
// requests allow, with as many requests in flight as that takes, and make the set of the disk. The
// clock is that of testing/synctest, on which work takes no time: what passes is latency.
func TestSmallImagesAtADistance(t *testing.T) {
	images := 3000
	if race.Enabled {
		images = 300
	}
	src := directories(t, images)
	var bytes int
	files := contents(t, src)
	for _, data := range files {
		bytes += len(data)
	}
	local := t.TempDir()
	o := ImageOptions{Options: Options{Shards: 3, Workers: 2}}
	mustImages(t, src, local, o)
	want := contents(t, local)
	second := func(images int) int64 { return int64(bytes / len(files) * images) }
	type run struct {
		name        string
		most        string // TFREC_MAX_REQUESTS
		store       *storagetest.Distant
		least, upTo int  // requests in flight at the highest
		useful      int  // as many as are of use; 0: as many as there were
		refused     int  // at most
		whole       bool // of the run, and not of the images alone
	}
	for _, test := range torture.Sample(t, 4, []run{
		{name: "latency 1 ms", store: &storagetest.Distant{Latency: time.Millisecond}, least: 256, upTo: 256},
		{name: "latency 20 ms", store: &storagetest.Distant{Latency: 20 * time.Millisecond}, least: 256, upTo: 256},
		{name: "latency 200 ms", store: &storagetest.Distant{Latency: 200 * time.Millisecond}, least: 256, upTo: 256},
		{name: "at most 64", most: "64", store: &storagetest.Distant{Latency: 20 * time.Millisecond}, least: 64, upTo: 64, whole: true},
		{name: "at most 1000", most: "1000", store: &storagetest.Distant{Latency: 20 * time.Millisecond}, least: 512, upTo: 1000, useful: 256},
		{name: "at most 3", most: "3", store: &storagetest.Distant{Latency: 20 * time.Millisecond}, least: 3, upTo: 3, whole: true},
		{name: "40 served", store: &storagetest.Distant{Latency: 20 * time.Millisecond, Serves: 40}, least: 40, upTo: 40, refused: images / 40},
		{name: "bandwidth of 2000 images", store: &storagetest.Distant{Latency: 20 * time.Millisecond, Bandwidth: second(2000)}, least: 64, upTo: 128, useful: 40},
		{name: "bandwidth of 2000 images at 1 ms", store: &storagetest.Distant{Latency: time.Millisecond, Bandwidth: second(2000)}, least: 64, upTo: 128, useful: 2},
	}) {
		t.Run(test.name, func(t *testing.T) {
			d := test.store
			d.Store, d.Seed, d.Steady = storagetest.New(), 1, true
			for name, data := range files {
				d.Put("pets/"+name, []byte(data))
			}
			t.Setenv(storage.MaxRequestsVariable, test.most)
			storage.Register("mem", func(context.Context, string) (storage.Store, error) { return d, nil })
			t.Cleanup(storage.Forget)
			synctest.Test(t, func(t *testing.T) {
				out := t.TempDir()
				began := time.Now()
				mustImages(t, "mem://store/pets", out, o)
				whole := time.Since(began)
				if !maps.Equal(contents(t, out), want) {
					t.Error("another set")
				}
				ranges := d.Ranges()
				took := ranges.Last.Sub(ranges.First)
				useful := cmp.Or(test.useful, ranges.Most)
				allowed := time.Duration(images) * d.Latency / time.Duration(useful)
				t.Logf("%d requests in flight at the highest, and %d refused: %v, of which images %v; %d in flight allow %v, %.2f of that",
					ranges.Most, ranges.Refused, whole, took, useful, allowed, allowed.Seconds()/took.Seconds())
				if race.Enabled { // too few for more than the bytes
					return
				}
				if test.whole {
					took = whole
				}
				if took > allowed*10/9 {
					t.Error("below 0.9 of what is allowed")
				}
				if ranges.Most < test.least || ranges.Most > test.upTo || ranges.Refused > test.refused {
					t.Errorf("want %d to %d in flight, and at most %d refused", test.least, test.upTo, test.refused)
				}
			})
		})
	}
}

// Masks in a store are requested ahead as images are, whether the images are in a store or not.
func TestMasksAtADistance(t *testing.T) {
	const images = 300
	src := t.TempDir()
	for i := range images {
		name := fmt.Sprintf("%03d.png", i)
		put(t, src, "images/c/"+name, grayOf(20, 10, uint8(i)))
		put(t, src, "masks/c/"+name, grayOf(20, 10, uint8(i/2)))
	}
	o := ImageOptions{
		Options: Options{Shards: 3, Workers: 2}, Encode: EncodeSpec{Format: PNG, Channels: 1},
		Annotations: AnnotationSpec{Masks: filepath.Join(src, "masks")},
	}
	local := t.TempDir()
	mustImages(t, filepath.Join(src, "images"), local, o)
	want := contents(t, local)
	for _, from := range []string{"mem://store/images", filepath.Join(src, "images")} {
		t.Run(from, func(t *testing.T) {
			d := &storagetest.Distant{Store: storagetest.New(), Latency: 20 * time.Millisecond, Steady: true}
			for name, data := range contents(t, src) {
				d.Put(name, []byte(data))
			}
			storage.Register("mem", func(context.Context, string) (storage.Store, error) { return d, nil })
			t.Cleanup(storage.Forget)
			o := o
			o.Annotations.Masks = "mem://store/masks"
			synctest.Test(t, func(t *testing.T) {
				out := t.TempDir()
				mustImages(t, from, out, o)
				if !maps.Equal(contents(t, out), want) {
					t.Error("another set")
				}
				ranges := d.Ranges()
				// Two workers would take images * 20 ms.
				if took := ranges.Last.Sub(ranges.First); took > images*d.Latency/16 {
					t.Errorf("%v for %v, with up to %d requests in flight", took, d.Requests(), ranges.Most)
				}
			})
		})
	}
}

// The state of a set's shards is read from a distant store many at a time.
func TestStatesAtADistance(t *testing.T) {
	const shards = 150
	src := directories(t, 2*shards)
	o := ImageOptions{Options: Options{Shards: shards, Workers: 2}}
	d := &storagetest.Distant{Store: storagetest.New(), Latency: 20 * time.Millisecond, Steady: true}
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return d, nil })
	t.Cleanup(storage.Forget)
	synctest.Test(t, func(t *testing.T) {
		storage.Forget()
		mustImages(t, src, "mem://store/set", o)
		d = &storagetest.Distant{Store: d.Store, Latency: d.Latency, Steady: true}
		storage.Forget()
		s := mustImages(t, src, "mem://store/set", o)
		ranges := d.Ranges()
		took := ranges.Last.Sub(ranges.First)
		t.Logf("%v for %v, with up to %d requests in flight", took, d.Requests(), ranges.Most)
		if s.Status != UpToDate || ranges.Most != 64 || took > shards*2*d.Latency/16 {
			t.Errorf("%v, which takes 64 requests in flight", s.Status)
		}
	})
}
