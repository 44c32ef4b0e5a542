// Train fits a small classifier to images in TFRecord files, with nothing but
// package reader and the standard library:
//
//	make demo                                       # writes demo-out/photos: flowers of 5 kinds
//	go run ./examples/train -data demo-out/photos   # 30 passes over them
//
// It shows the input of a training job in Go:
//
//   - Batches: files, shuffled, repeated, decoded, resized, one []float32 a batch.
//     They are made ahead, by as many goroutines as it takes and no more.
//   - Checkpoints: the model's weights and the pipeline's State in one file. Stop the program with
//     Ctrl-C and run it again with the same flags: it continues with exactly the next batch, and
//     ends with the weights of a run that never stopped.
//   - Knowing what to improve: in the end it names the stage that held the others back, and the
//     setting that would help.
//
// The model is a softmax regression on 16x16 pixels. It distinguishes sunflowers from roses by
// their colours, and little more; put a better one into model.go, the rest can stay.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/reader"
)

// job has the input and the settings of a training.
type job struct {
	data       string  // directory of a set that `tfrec convert images` wrote
	split      string  // of it
	checkpoint string  // file to resume from and to write; empty: none
	every      int     // batches between two checkpoints
	passes     int     // over the data
	batch      int     // images in a batch
	size       int     // width and height of an image
	rate       float64 // of learning
	seed       uint64  // of the order of the images
	out        io.Writer
}

func main() {
	j := job{out: os.Stdout}
	flag.StringVar(&j.data, "data", "demo-out/photos", "`directory` of a set of images")
	flag.StringVar(&j.split, "split", "train", "split to train on")
	flag.StringVar(&j.checkpoint, "checkpoint", "demo-out/train.json", "`file` to resume from, if it exists, and to write")
	flag.IntVar(&j.every, "every", 20, "batches between two checkpoints")
	flag.IntVar(&j.passes, "passes", 30, "how often to go over the data")
	flag.IntVar(&j.batch, "batch", 8, "images in a batch")
	flag.IntVar(&j.size, "size", 16, "width and height of the images, in pixels")
	flag.Float64Var(&j.rate, "rate", 0.02, "learning rate")
	flag.Uint64Var(&j.seed, "seed", 1, "seed of the order of the images")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := j.train(ctx); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// open opens the set, and describes the batches: all records of the split, in
// another order in each pass, as images of one size with samples from -1 to 1.
func (j *job) open(ctx context.Context) (*reader.Set, reader.Flow[*reader.ImageBatch], error) {
	set, err := reader.Open(ctx, j.data, reader.Options{Split: j.split, Seed: j.seed})
	if err != nil {
		return nil, reader.Flow[*reader.ImageBatch]{}, err
	}
	half := [3]float32{0.5, 0.5, 0.5}
	images := reader.Images(
		set.Interleave(4, 1).Shuffle(1000).Repeat(j.passes),
		reader.ImageSpec{
			Size: j.size, Batch: j.batch, DType: reader.Float32,
			Normalize: augment.Normalize{Mean: half, Std: half},
		})
	return set, images.Prefetch(0), nil // 0: as many as it takes
}

// train trains on the data, from the checkpoint on if there is one, and returns its progress.
func (j *job) train(ctx context.Context) (*progress, error) {
	set, batches, err := j.open(ctx)
	if err != nil {
		return nil, err
	}
	about := set.Sources()[0].Set // the set's manifest
	if about == nil || len(about.Labels) < 2 {
		return nil, fmt.Errorf("%s: no set with labels: `tfrec convert images` makes one", j.data)
	}
	images, err := set.Len(ctx)
	if err != nil {
		return nil, err
	}

	p, err := load(j.checkpoint)
	if err != nil {
		return nil, err
	}
	var run *reader.Stream[*reader.ImageBatch]
	if p == nil {
		p = &progress{Model: newModel(3*j.size*j.size, len(about.Labels))}
		run, err = batches.Start(ctx, reader.From{})
	} else {
		fmt.Fprintf(j.out, "resuming %s after image %d\n", j.checkpoint, p.Seen)
		run, err = batches.Start(ctx, reader.From{State: &p.State}) // refused when the data are others
	}
	if err != nil {
		return nil, err
	}
	defer run.Close()

	for steps := 1; ; steps++ {
		batch, err := run.Next() // valid until the next turn
		if err != nil {
			// The end of the data, an interrupt, or a record without an image: the progress is
			// kept.
			p.State = run.State()
			saved := p.save(j.checkpoint)
			if err == io.EOF {
				report := run.Report()
				fmt.Fprintf(j.out, "bottleneck: %s\n", report.Bottleneck)
				fmt.Fprintf(j.out, "memory in flight: %.1f MB at most\n", float64(report.Memory.Peak)/1e6)
				return p, saved
			}
			return p, errors.Join(err, saved)
		}
		for _, loss := range p.Model.step(batch.Pixels, batch.Labels, j.rate) {
			p.Loss += loss
			if p.Seen++; p.Seen%images == 0 {
				p.Losses = append(p.Losses, p.Loss/float64(images))
				fmt.Fprintf(j.out, "pass %d: mean loss %.3f\n", len(p.Losses), p.Losses[len(p.Losses)-1])
				p.Loss = 0
			}
		}
		if steps%j.every == 0 {
			p.State = run.State()
			if err := p.save(j.checkpoint); err != nil {
				return p, err
			}
		}
	}
}
