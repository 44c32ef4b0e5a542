package gpu

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/internal/codec/lower"
	"github.com/tfrec/tfrec/internal/codec/raster"
)

// work is what is timed.
var work = []struct{ name, policy string }{
	{"resize", ""},
	{"heavy", "random_resized_crop:224|rotate:15|color_jitter:0.4,0.4,0.4,0.1|random_erasing"},
}

// photographs are tasks for images of 500x375 in planes, as JPEG has them.
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
		tasks[i] = &augment.Task{Planes: planes, Resize: &augment.ResizeSpec{Width: 224, Height: 224}}
		if p != nil {
			tasks[i].Draw, tasks[i].Resize = p.Draw(1, "picture", i+1, 500, 375), nil
		}
	}
	return tasks
}

// batchOf is how many images benchmarks have in a batch: with -test.short an eighth, for the fake
// driver.
func batchOf(n int) int {
	if testing.Short() {
		return n / 8
	}
	return n
}

// BenchmarkRender is what a GPU, with the copies there and back, makes of 64
// images at a time from as many goroutines as GOMAXPROCS says; -cpu 1,4,16 varies that.
func BenchmarkRender(b *testing.B) {
	for _, c := range work {
		for _, backend := range []string{"gpu", "cpu"} {
			b.Run(c.name+"/"+backend, func(b *testing.B) {
				var r augment.Backend = augment.CPU{}
				if backend == "gpu" {
					onGPU, err := Open(Options{Required: true, Streams: 4})
					if err != nil {
						gputest.Missing(b, err)
					}
					defer onGPU.Close()
					r = onGPU
				}
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					tasks := photographs(b, batchOf(64), c.policy)
					for pb.Next() {
						if err := r.Render(tasks); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N*batchOf(64))/b.Elapsed().Seconds(), "images/s")
			})
		}
	}
}

// testStream is a stream that no job comes to, until the test ends.
func (b *Backend) testStream(t testing.TB) *stream {
	t.Helper()
	s := &stream{backend: b, limit: 1 << 40, sentinel: firstSentinel}
	var err error
	if s.cuda, err = b.device.NewStream(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cuda.Close() })
	return s
}

// BenchmarkKernels is the launches alone, of 64 images that are on the GPU already.
func BenchmarkKernels(b *testing.B) {
	for _, c := range work {
		b.Run(c.name, func(b *testing.B) {
			onGPU, err := Open(Options{Streams: 1})
			if err != nil {
				gputest.Missing(b, err)
			}
			defer onGPU.Close()
			var programs []*raster.Program
			for _, t := range photographs(b, batchOf(64), c.policy) {
				p := new(raster.Program)
				if err := lower.Task(p, t); err != nil {
					b.Fatal(err)
				}
				programs = append(programs, p)
			}
			s := onGPU.testStream(b)
			s.layOut(programs)
			if err := s.carryOut(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := s.launch(s.batch.launches); err != nil {
					b.Fatal(err)
				}
				if err := s.wait(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*batchOf(64))/b.Elapsed().Seconds(), "images/s")
			threads := 0
			for _, o := range s.batch.ops {
				threads += int(o.Width) * int(o.Height)
			}
			b.ReportMetric(float64(threads)/float64(len(programs)), "threads/image")
		})
	}
}
