//go:build cuda && linux && amd64 && cgo

package nvjpeg_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
)

// TestArraysOfPointers decodes batches while the collector runs. The arrays that a batch makes in
// C's memory start with stale contents: the addresses of the last batch's images, which no longer
// exist. The collector must not follow them.
func TestArraysOfPointers(t *testing.T) {
	fakecuda.Use(t)
	_, s, decoder := open(t)
	small := makeJPEG(t, 1, 1, true)
	// Images of a size that gives each a span of memory of its own.
	comment := append([]byte{0xFF, 0xFE, 0xFF, 0xFF}, make([]byte, 0xFFFF-2)...)
	large := slices.Concat(small[:2], comment, small[2:])
	to, err := s.Alloc(1)
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	batch := make([]nvjpeg.Image, 120)
	for turn := range 40 {
		for i := range batch {
			data := small
			if turn%2 == 0 {
				data = slices.Clone(large)
			}
			batch[i] = nvjpeg.Image{Data: data, To: to, Planes: [3]nvjpeg.Plane{{Pitch: 1}}}
		}
		if err := decoder.Decode(batch); err != nil || batch[0].Err != nil {
			t.Error(err, batch[0].Err)
			break
		}
		clear(batch)
		runtime.GC()
	}
	close(stop)
	<-stopped
}
