// Peer compares the input of GoMLX's example dogsvscats with the input of ours: the seconds for the
// same number of images, the bytes on disk, and the accuracy of the same model. docs/gomlx.md has
// the commands and the results. It is a module of its own, since it requires GoMLX's examples,
// which have no version: it wants a clone of GoMLX v0.28.1 in ./gomlx.
//
//	GOWORK=off go run . -images DIR -n 1000 -sets originals,small
//	GOWORK=off go run . -images DIR -n 1000 -sets originals,small -learn
//
// DIR/PetImages has N images of each class. The sets are the results of tfrec convert images for
// them. The first command writes the images of GoMLX's example in advance, and times the inputs.
// The second one trains with the same inputs, except for the files, for which it uses the images
// written in advance.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/examples/dogsvscats"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/metric"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/tfrec/tfrec/gomlx"
	"github.com/tfrec/tfrec/gomlx/examples/dogsvscats/pets"
	"github.com/tfrec/tfrec/reader"
)

var (
	images = flag.String("images", "", "`directory` of PetImages")
	n      = flag.Int("n", 1000, "images of each class")
	sets   = flag.String("sets", "", "`directories` of sets, separated by commas")
	steps  = flag.Int("steps", 200, "steps of training")
	learn  = flag.Bool("learn", false, "train, with what an earlier run has written in advance")
)

const batch = 32

// input is a way to read the images.
type input struct {
	name       string
	train, val train.Dataset
}

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	dogsvscats.MaxCount = *n
	generated := filepath.Join(*images, "train_data.bin")
	val := fixed{original("val", batch, false, false)}
	inputs := []input{
		{"GoMLX, in advance", fixed{repeat{dogsvscats.NewPreGeneratedDataset("train", generated, batch, false, pets.Size, pets.Size, dtypes.Float32)}}, val},
	}
	for dir := range strings.SplitSeq(*sets, ",") {
		in, err := ours(ctx, dir)
		if err != nil {
			return err
		}
		inputs = append(inputs, in)
	}
	if *learn {
		for _, in := range inputs {
			accuracy, elapsed, err := trained(in)
			if err != nil {
				return err
			}
			fmt.Printf("%s: accuracy %.1f%% after %d steps in %.1f s\n", in.name, 100*accuracy, *steps, elapsed.Seconds())
		}
		return nil
	}
	if err := generate(generated); err != nil {
		return err
	}
	files := dataset.Buffer(original("train", batch, true, true).WithParallelism(runtime.NumCPU()), 32)
	for _, in := range append(inputs, input{"GoMLX, files", fixed{files}, val}) {
		const batches = 50
		elapsed, cpu, err := drain(in.train, batches)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d images in %.2f s, %.2f s of processor time\n", in.name, batches*batch, elapsed.Seconds(), cpu.Seconds())
	}
	return nil
}

// generate writes an epoch of images as GoMLX's example does in advance, to read them instead of the
// files.
func generate(path string) error {
	started, before := time.Now(), processorTime()
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := original("train", 2, false, true).Save(1, false, out); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	size, err := megabytes(path)
	if err != nil {
		return err
	}
	fmt.Printf("GoMLX writes an epoch in advance: %.1f MB in %.2f s, %.2f s of processor time\n",
		size, time.Since(started).Seconds(), (processorTime() - before).Seconds())
	return nil
}

// original is the dataset of GoMLX's example: folds 0 to 3 of 5 to train, fold 4 to evaluate.
func original(name string, batch int, infinite, training bool) *dogsvscats.Dataset {
	if !training {
		return dogsvscats.NewDataset(name, *images, batch, infinite, nil, 5, []int{4}, 0, pets.Size, pets.Size, 0, false, dtypes.Float32)
	}
	return dogsvscats.NewDataset(name, *images, batch, infinite, rand.New(rand.NewSource(1)), 5, []int{0, 1, 2, 3}, 0,
		pets.Size, pets.Size, 20, true, dtypes.Float32)
}

// ours is the dataset of this repository's example.
func ours(ctx context.Context, dir string) (input, error) {
	size, err := megabytes(dir)
	if err != nil {
		return input{}, err
	}
	name := fmt.Sprintf("tfrec, %s (%.1f MB)", filepath.Base(dir), size)
	training, err := reader.Open(ctx, dir, reader.Options{Split: "train", Seed: 1})
	if err != nil {
		return input{}, err
	}
	evaluation, err := reader.Open(ctx, dir, reader.Options{Split: "val"})
	if err != nil {
		return input{}, err
	}
	flow, err := pets.Train(training, batch)
	if err != nil {
		return input{}, err
	}
	trainDS, err := gomlx.New(ctx, "train", flow, reader.From{}, gomlx.Images{})
	if err != nil {
		return input{}, err
	}
	valDS, err := gomlx.New(ctx, "val", pets.Eval(evaluation, batch), reader.From{}, gomlx.Images{})
	return input{name, trainDS, valDS}, err
}

// fixed gives the batches of GoMLX's example the form of ours: images alone, and labels of Int64.
type fixed struct{ train.Dataset }

func (f fixed) Iter() iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		for b, err := range f.Dataset.Iter() {
			if err == nil {
				classes := tensors.MustCopyFlatData[float32](b.Labels[0])
				ids := make([]int64, len(classes))
				for i, c := range classes {
					ids[i] = int64(c)
				}
				b = train.Batch{Inputs: b.Inputs[:1], Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(ids, len(ids), 1)}}
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// repeat is a dataset without end. An infinite PreGeneratedDataset of v0.28.1 fails at the end of the
// second pass over its file.
type repeat struct{ train.Dataset }

func (r repeat) Iter() iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		for {
			for b, err := range r.Dataset.Iter() {
				if !yield(b, err) || err != nil {
					return
				}
			}
		}
	}
}

// drain reads batches, and returns how long that took.
func drain(ds train.Dataset, batches int) (elapsed, cpu time.Duration, err error) {
	started, before := time.Now(), processorTime()
	left := batches
	for b, err := range ds.Iter() {
		if err != nil {
			return 0, 0, err
		}
		if err := b.Finalize(); err != nil {
			return 0, 0, err
		}
		if left--; left == 0 {
			break
		}
	}
	if left > 0 {
		return 0, 0, fmt.Errorf("%s ended %d batches early", ds.Name(), left)
	}
	return time.Since(started), processorTime() - before, nil
}

// trained trains the model, and returns its accuracy on the images that it has not seen.
func trained(in input) (accuracy float64, elapsed time.Duration, err error) {
	backend, err := gobackend.New("")
	if err != nil {
		return 0, 0, err
	}
	store := model.NewStore()
	store.SetParam(optimizer.ParamLearningRate, 0.005)
	if err := store.SetRNGStateFromSeed(1); err != nil {
		return 0, 0, err
	}
	trainer := train.NewTrainer(backend, store, pets.Model, loss.SparseCategoricalCrossEntropyLogits,
		optimizer.Adam().FromScope(store.RootScope()).Done(), nil,
		[]metric.Interface{metric.NewSparseCategoricalAccuracy("accuracy", "acc")})
	started := time.Now()
	if _, err := train.NewLoop(trainer).RunSteps(in.train, *steps); err != nil {
		return 0, 0, err
	}
	elapsed = time.Since(started)
	evaluated, err := trainer.Eval(in.val)
	if err != nil {
		return 0, 0, err
	}
	return shapes.ConvertTo[float64](evaluated[1].Value()), elapsed, nil
}

// megabytes returns the size of the files below a path.
func megabytes(path string) (float64, error) {
	var total int64
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return float64(total) / 1e6, err
}
