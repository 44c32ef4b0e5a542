package gpu_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/reader"
)

// A program renders batches on a GPU where there is one, and on the CPU otherwise.
func Example() {
	var backend augment.Backend = augment.CPU{}
	if onGPU, err := gpu.Open(gpu.Options{}); err == nil {
		defer onGPU.Close()
		backend = onGPU
	} else {
		log.Printf("on the CPU: %v", err)
	}

	policy, err := augment.ParsePolicy("random_resized_crop:224|hflip|color_jitter:0.4,0.4,0.4,0.1")
	if err != nil {
		log.Fatal(err)
	}
	batch := make([]*augment.Task, backend.Batch())
	for i := range batch {
		im := new(augment.Image) // decoded, by an augment.Codec
		im.Reset(500, 375, 3)
		batch[i] = &augment.Task{
			Image:     im,
			Draw:      policy.Draw(42, fmt.Sprint("picture", i), 1, im.Width, im.Height),
			Form:      augment.FloatPlanes,
			Normalize: augment.Normalize{Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}},
		}
	}
	if err := backend.Render(batch); err != nil {
		log.Fatal(err)
	}
	for _, task := range batch {
		if task.Err != nil {
			log.Fatal(task.Err)
		}
		fmt.Println(task.Channels, task.ResultHeight, task.ResultWidth, len(task.Floats))
	}
}

// On a GPU with nvJPEG, JPEGs become batches of floats without being decoded on the CPU. Everything
// else is the same without it.
func Example_jpeg() {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		log.Fatal(err)
	}
	backend, err := gpu.Open(gpu.Options{Decode: true, Required: true})
	if err != nil {
		log.Fatal(err) // one sentence; augment.CPU{} would do
	}
	defer backend.Close()

	files := [][]byte{ /* JPEGs */ }
	batch := make([]*augment.Task, 0, len(files))
	for _, file := range files {
		task := &augment.Task{JPEGChannels: 3, Resize: &augment.ResizeSpec{Square: 224}, Form: augment.FloatPlanes}
		if err := task.ReadJPEG(codec, file); err != nil {
			log.Print(err) // damaged: left out
			continue
		}
		batch = append(batch, task)
	}
	if err := backend.Render(batch); err != nil {
		log.Fatal(err)
	}
	for _, task := range batch {
		fmt.Println(task.Decoder, len(task.Floats), task.Err)
	}
}

// A training job reads batches that a GPU makes while it uses the one before, in memory that it may
// copy to a GPU asynchronously.
func Example_training() {
	ctx := context.Background()
	backend, err := gpu.Open(gpu.Options{Batch: 64})
	if err != nil {
		log.Fatal(err) // one sentence; without a Backend the CPU makes the same batches
	}
	defer backend.Close() // after the flow

	policy, err := augment.ParsePolicy("random_resized_crop:224|hflip|color_jitter:0.4,0.4,0.4,0.1")
	if err != nil {
		log.Fatal(err)
	}
	set, err := reader.Open(ctx, "out", reader.Options{Split: "train", Seed: 42})
	if err != nil {
		log.Fatal(err)
	}
	images := reader.Images(set.ShuffleAll(reader.ShuffleAllOptions{}), reader.ImageSpec{
		Size: 224, Batch: 64, DType: reader.Float32, NCHW: true, Policy: policy, Backend: backend,
	})
	for batch, err := range images.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Shape, len(batch.Pixels)) // wait for copies of Pixels before the next one
	}
}
