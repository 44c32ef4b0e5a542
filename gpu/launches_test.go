//go:build cuda && linux && amd64 && cgo

package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/internal/codec/render"
	"github.com/tfrec/tfrec/internal/dev/backendtest"
)

// TestLaunches counts the launches of a batch of images of different sizes, each resized to a third:
// the planes of all share them.
func TestLaunches(t *testing.T) {
	fakecuda.Use(t)
	codec, rng := newCodec(t), rand.New(rand.NewPCG(17, 18))
	for _, c := range []struct {
		name string
		task augment.Task
		want int64
	}{
		{"planes", augment.Task{JPEGPlanes: true}, 3}, // along, down, to RGB
		{"planes to floats", augment.Task{JPEGPlanes: true, Form: augment.Floats}, 4},
		{"planes to JPEG", augment.Task{JPEGPlanes: true, Form: augment.YCbCr, Subsampling: "420"}, 2},
		{"RGB", augment.Task{}, 3}, // to RGB, along, down
	} {
		for _, decode := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, ", decode ", decode), func(t *testing.T) {
				b := open(t, gpu.Options{Required: true, Decode: decode})
				var tasks []*augment.Task
				for i := range 12 {
					task := c.task
					w, h := 90+6*i, 60+9*i
					task.Resize = &augment.ResizeSpec{Width: w / 3, Height: h / 3}
					if err := task.ReadJPEG(codec, encoded(t, codec, rng, w, h, "420")); err != nil {
						t.Fatal(err)
					}
					if !decode {
						if err := render.Decode(&task); err != nil {
							t.Fatal(err)
						}
					}
					tasks = append(tasks, &task)
				}
				want := c.want
				if decode {
					want++ // what tells skipped images
				} else if c.name == "RGB" {
					want-- // decoded to RGB
				}
				before, _ := fakecuda.Now()
				if err := b.Render(tasks); err != nil {
					t.Fatal(err)
				}
				after, _ := fakecuda.Now()
				if got := after.Kernels - before.Kernels; got != want {
					t.Errorf("%d launches; want %d", got, want)
				}
				for _, task := range tasks {
					if fault := backendtest.Compare(task); fault != "" {
						t.Error(fault)
					}
				}
			})
		}
	}
}
