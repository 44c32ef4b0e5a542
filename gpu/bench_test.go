package gpu_test

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
)

// photographs are tasks for pictures of 500x375 in planes, as JPEG has them.
func photographs(b *testing.B, n int, policy string) []*augment.Task {
	b.Helper()
	var p *augment.Policy
	if policy != "" {
		var err error
		if p, err = augment.ParsePolicy(policy); err != nil {
			b.Fatal(err)
		}
	}
	tasks := make([]*augment.Task, n)
	for i := range tasks {
		planes := &augment.Planes{Subsampling: "420", Width: 500, Height: 375, Denom: 1}
		planes.Y.Reset(500, 375, 1)
		planes.Cb.Reset(250, 188, 1)
		planes.Cr.Reset(250, 188, 1)
		for j := range planes.Y.Pix {
			planes.Y.Pix[j] = uint8(j * (i + 3))
		}
		tasks[i] = &augment.Task{Planes: planes, Resize: &augment.ResizeSpec{Width: 224, Height: 224, Antialias: true}}
		if p != nil {
			tasks[i].Draw, tasks[i].Resize = p.Draw(1, "picture", i+1, 500, 375), nil
		}
	}
	return tasks
}

// BenchmarkRender is what a GPU, with the copies there and back, makes of 64
// pictures at a time from as many goroutines as GOMAXPROCS says; -cpu 1,4,16 varies that.
func BenchmarkRender(b *testing.B) {
	for _, c := range []struct{ name, policy string }{
		{"resize", ""},
		{"heavy", "random_resized_crop:224|rotate:15|color_jitter:0.4,0.4,0.4,0.1|random_erasing"},
	} {
		for _, backend := range []string{"gpu", "cpu"} {
			b.Run(c.name+"/"+backend, func(b *testing.B) {
				var r augment.Backend = augment.CPU{}
				if backend == "gpu" {
					r = open(b, gpu.Options{Required: true, Streams: 4})
				}
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					tasks := photographs(b, 64, c.policy)
					for pb.Next() {
						if err := r.Render(tasks); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N)*64/b.Elapsed().Seconds(), "pictures/s")
			})
		}
	}
}
