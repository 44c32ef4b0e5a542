//go:build cuda && linux && amd64 && cgo

package gpu_test

import (
	"errors"
	"testing"

	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/reader"
)

// TestImagesFaults injects faults while batches are read: the CPU continues with the same bytes.
func TestImagesFaults(t *testing.T) {
	set := imageSet(t, 45, 60, 50, true)
	spec := trainingSpecs(t)[8]
	want := readImages(t, set, spec)
	for _, c := range []struct {
		fault            string
		failed, unpinned bool
	}{
		{"kernel:3:719", true, false},
		{"cuMemcpyDtoHAsync:4:719", true, false},
		{"cuMemHostAlloc:2:719", true, false},
		{"cuMemcpyDtoHAsync:2:2", false, false},
		{"cuMemHostAlloc:1:2,cuMemHostAlloc:2:2", false, true},
		{"cuMemHostAlloc:1+:2", false, true},
	} {
		t.Run(c.fault, func(t *testing.T) {
			fakecuda.Use(t)
			b := open(t, gpu.Options{Batch: 6})
			fakecuda.Set(t, "FAIL", c.fault)
			one := spec
			one.Backend = b
			sameBatches(t, c.fault, readImages(t, set, one), want)
			if s := b.Stats(); (s.Failure != nil) != c.failed || c.unpinned && s.Unpinned == 0 || s.Pinned != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestImagesOfRequired ends the flow when a GPU fails that there must be, and frees everything.
func TestImagesOfRequired(t *testing.T) {
	fakecuda.Use(t)
	spec := reader.ImageSpec{Size: 16, Batch: 10, Backend: open(t, gpu.Options{Required: true})}
	fakecuda.Set(t, "FAIL", "kernel:9:719")
	var err error
	for _, err = range reader.Images(imageSet(t, 45, 60, 50, true).Records(), spec).All(t.Context()) {
	}
	if !errors.Is(err, gpu.ErrFailed) {
		t.Error(err)
	}
}

// TestImagesOverlap has the wait for a batch return only once another batch is queued on another
// stream: its copy to the GPU, its kernels and its copy back do not wait for the first one.
func TestImagesOverlap(t *testing.T) {
	fakecuda.Use(t)
	set := imageSet(t, 40, 60, 50, false)
	spec := reader.ImageSpec{Size: 16, Batch: 10}
	want := readImages(t, set, spec)
	spec.Backend = open(t, gpu.Options{Required: true, Batch: 10})
	fakecuda.Set(t, "MEET", "2")
	sameBatches(t, "together", readImages(t, set, spec), want)
}

// TestImagesClose closes flows early, and the backend before a flow: all memory is freed.
func TestImagesClose(t *testing.T) {
	set := imageSet(t, 40, 60, 50, false)
	for _, first := range []bool{false, true} {
		for n := range 4 {
			fakecuda.Use(t)
			b := open(t, gpu.Options{Batch: 6})
			s, err := reader.Images(set.Records().Repeat(-1), reader.ImageSpec{Size: 16, Batch: 10, DType: reader.Float32, Backend: b}).Start(t.Context(), reader.From{})
			if err != nil {
				t.Fatal(err)
			}
			for range n {
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if n > 0 && b.Stats().Pinned == 0 {
				t.Error("nothing is pinned")
			}
			if first {
				b.Close()
				for err == nil {
					_, err = s.Next()
				}
				if !errors.Is(err, gpu.ErrClosed) {
					t.Error(err)
				}
			}
			s.Close()
			if p := b.Stats().Pinned; p != 0 {
				t.Errorf("%d bytes are still pinned", p)
			}
		}
	}
}
