// Digits learns to read handwritten digits: a small network trained with GoMLX, without cgo, on a
// set that `tfrec convert` made from images.
//
//	cd gomlx && go run ./examples/digits/images examples/digits/digits.csv.gz ../digits-png && cd ..
//	tfrec convert images digits-png digits --encode raw --channels 1 --resize 8 \
//		--splits train=0.7,val=0.15,test=0.15
//	cd gomlx && go run ./examples/digits -data ../digits -model ../digits-model
//
// The images are so small that their pixels are stored, not PNG files: nothing is left to decode.
// Interrupt or kill the program and run it again: it continues after its last checkpoint, and ends
// with the same weights.
package main

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/tfrec/tfrec/gomlx"
	"github.com/tfrec/tfrec/gomlx/examples/internal/fit"
	"github.com/tfrec/tfrec/reader"
)

func main() { fit.Main("digits", newJob) }

// side is the width and height of an image.
const side = 8

// newJob describes the training on the set in a directory.
func newJob(ctx context.Context, dir string) (*fit.Job[*reader.ImageBatch], error) {
	sets, err := fit.Splits(ctx, dir)
	if err != nil {
		return nil, err
	}
	about := sets["train"].Sources()[0].Set // the set's manifest
	if about == nil || len(about.Labels) < 2 {
		return nil, fmt.Errorf("%s: a set without labels: tfrec convert images makes one with them", dir)
	}
	images := func(pipe reader.Pipe, batch int) reader.Flow[*reader.ImageBatch] {
		return reader.Images(pipe, reader.ImageSpec{Size: side, Channels: 1, DType: reader.Float32, Batch: batch})
	}
	return &fit.Job[*reader.ImageBatch]{
		Train: images(sets["train"].Interleave(4, 1).Shuffle(2000).Repeat(-1), 64),
		Val:   images(sets["val"].Records(), 512), Test: images(sets["test"].Records(), 512),
		Spec: gomlx.Images{},
		Model: func(scope *model.Scope, images *graph.Node) *graph.Node {
			pixels := graph.Reshape(images, -1, side*side)
			return fnn.New(scope.In("classify"), pixels, len(about.Labels)).NumHiddenLayers(2, 128).Dropout(0.1).Done()
		},
		Rate: 0.003, Round: 40, Patience: 2,
	}, nil
}
