package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/internal/codec/render"
)

// BenchmarkDecode measures batches of 64 JPEGs of 500x375 pixels, 4:2:0, resized to 224x224: the
// search for damage, decoding, resizing, in GOMAXPROCS goroutines; -cpu 1,4,16 varies that. For
// comparison: the CPU alone, and the CPU with the GPU resizing.
func BenchmarkDecode(b *testing.B) {
	for _, c := range []string{"nvjpeg", "cpu-gpu", "cpu"} {
		b.Run(c, func(b *testing.B) {
			codec, err := augment.NewCodec(augment.CodecOptions{})
			if err != nil {
				b.Fatal(err)
			}
			var backend augment.Backend = augment.CPU{}
			if c != "cpu" {
				backend = open(b, gpu.Options{Required: true, Decode: c == "nvjpeg", Streams: 4})
			}
			rng := rand.New(rand.NewPCG(7, 8))
			files := make([][]byte, 64)
			if testing.Short() {
				files = files[:8]
			}
			var size int64
			for i := range files {
				files[i] = encoded(b, codec, rng, 500, 375, "420")
				size += int64(len(files[i]))
			}
			b.SetBytes(size)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				tasks := make([]*augment.Task, len(files))
				for i := range tasks {
					tasks[i] = &augment.Task{JPEGPlanes: true, Resize: &augment.ResizeSpec{Width: 224, Height: 224}}
				}
				for pb.Next() {
					for i, task := range tasks {
						if err := task.ReadJPEG(codec, files[i]); err != nil {
							b.Error(err)
							return
						}
					}
					if err := backend.Render(tasks); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N*len(files))/b.Elapsed().Seconds(), "images/s")
		})
	}
}

// BenchmarkStreams has 1 to 4 batches in flight. Where copies and kernels, and the decoding of one
// batch and the kernels of another, overlap, more than one is faster.
func BenchmarkStreams(b *testing.B) {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	policy, err := augment.ParsePolicy("random_resized_crop:224|rotate:15|color_jitter:0.4,0.4,0.4,0.1|random_erasing")
	if err != nil {
		b.Fatal(err)
	}
	for _, decode := range []bool{false, true} {
		for streams := 1; streams <= 4; streams++ {
			b.Run(fmt.Sprintf("decode=%v/streams=%d", decode, streams), func(b *testing.B) {
				backend := open(b, gpu.Options{Required: true, Decode: decode, Streams: streams})
				b.SetParallelism(4)
				n := 32
				if testing.Short() {
					n = 4
				}
				files := make([][]byte, n)
				for i := range files {
					files[i] = encoded(b, codec, rng, 500, 375, "420")
				}
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					tasks := make([]*augment.Task, n)
					for i := range tasks {
						tasks[i] = &augment.Task{JPEGPlanes: true, Draw: policy.Draw(1, "picture", i+1, 500, 375)}
						if err := tasks[i].ReadJPEG(codec, files[i]); err != nil {
							b.Error(err)
							return
						}
						if err := decodeFirst(tasks[i], decode); err != nil {
							b.Error(err)
							return
						}
					}
					for pb.Next() {
						if err := backend.Render(tasks); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "images/s")
			})
		}
	}
}

// decodeFirst decodes the task's image on the CPU, unless the GPU is to.
func decodeFirst(t *augment.Task, onGPU bool) error {
	if onGPU {
		return nil
	}
	return render.Decode(t)
}
