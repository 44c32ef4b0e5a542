// Penguins learns the species of a penguin from four measurements: a small network trained with
// GoMLX, without cgo, on a set that `tfrec convert` made from a table.
//
//	tfrec convert csv testdata/demo/penguins.csv penguins \
//		--vector measurements=bill_length_mm..body_mass_g --label species --vocab \
//		--na error --max-errors 11 --splits train=0.6,val=0.2,test=0.2
//	cd gomlx && go run ./examples/penguins -data ../penguins -model ../penguins-model
//
// The eleven penguins with missing values are left out. Interrupt or kill the program and run it
// again: it continues after its last checkpoint, and ends with the same weights.
package main

import (
	"context"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/tfrec/tfrec/gomlx"
	"github.com/tfrec/tfrec/gomlx/examples/internal/fit"
	"github.com/tfrec/tfrec/reader"
)

func main() { fit.Main("penguins", newJob) }

// spec makes one input of shape {penguins, 4}, and the species.
var spec = gomlx.Columns{
	Inputs: []gomlx.Column{{Key: "measurements"}},
	Labels: []gomlx.Column{{Key: "species"}},
}

// newJob describes the training on the set in a directory.
func newJob(ctx context.Context, dir string) (*fit.Job[*reader.ColumnBatch], error) {
	sets, err := fit.Splits(ctx, dir)
	if err != nil {
		return nil, err
	}
	about := sets["train"].Sources()[0].Set // the set's manifest
	if about == nil || len(about.Labels) < 2 {
		return nil, fmt.Errorf("%s: a set without labels: convert with --label species --vocab", dir)
	}
	// All of a split in order, as a single batch.
	once := func(split string) reader.Flow[*reader.ColumnBatch] {
		return reader.ParseColumns(sets[split].Records(), reader.ColumnSpec{Batch: 1024})
	}
	return &fit.Job[*reader.ColumnBatch]{
		Train: reader.ParseColumns(sets["train"].Interleave(4, 1).Shuffle(256).Repeat(-1),
			reader.ColumnSpec{Batch: 32}),
		Val: once("val"), Test: once("test"), Spec: spec,
		Model: func(scope *model.Scope, measurements *graph.Node) *graph.Node {
			x := standardize(scope, measurements)
			return fnn.New(scope.In("classify"), x, len(about.Labels)).NumHiddenLayers(2, 128).Done()
		},
		Init: func(backend compute.Backend, store *model.Store) error {
			ds, err := gomlx.New(ctx, "train", once("train"), reader.From{}, spec)
			if err != nil {
				return err
			}
			defer ds.Close()
			mean, deviation, err := dataset.Normalization(backend, ds, 0, -1)
			if err != nil {
				return err
			}
			store.RootScope().At(standard).VariableWithValue("mean", mean)
			store.RootScope().At(standard).VariableWithValue("deviation", deviation)
			return nil
		},
		Rate: 0.001, Round: 25, Patience: 4,
	}, nil
}

// standard is the scope of the means and standard deviations of the training data, which are saved
// with the weights.
const standard = "standardize"

// standardize returns the inputs with a mean of 0 and a standard deviation of 1.
func standardize(scope *model.Scope, x *graph.Node) *graph.Node {
	value := func(name string) *graph.Node {
		return scope.At(standard).GetVariable(name).SetTrainable(false).NodeValue(x)
	}
	return graph.Div(graph.Sub(x, value("mean")), value("deviation"))
}
