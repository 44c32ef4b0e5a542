package pets

import (
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"
)

// Model returns the logits of the two classes for images of any number of channels, from the
// strongest signs that it finds in patches of 5x5 pixels. It is small, since the Go backend trains it
// in the tests, and without layers.MaxPool, which has no gradient there.
func Model(scope *model.Scope, x *graph.Node) *graph.Node {
	const side, found = 5, 32
	d := x.Shape().Dimensions
	x = graph.Reshape(x, d[0], d[1]/side, side, d[2]/side, side, d[3])
	x = graph.Reshape(graph.TransposeAllAxes(x, 0, 1, 3, 2, 4, 5), d[0], -1, side*side*d[3])
	for i := range 2 {
		x = activation.Relu(layers.Dense(scope.In("patch_%d", i), x, true, found))
	}
	return layers.Dense(scope.In("logits"), graph.ReduceMax(x, 1), true, 2)
}
