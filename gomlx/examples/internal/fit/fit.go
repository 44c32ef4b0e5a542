// Package fit trains the models of the examples: rounds of steps, each followed by an evaluation
// and a checkpoint, until the model no longer gets better. A training that was killed continues
// where its last checkpoint is, and ends with the weights of one that was not.
package fit

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/metric"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/tfrec/tfrec/gomlx"
	"github.com/tfrec/tfrec/reader"
)

// Job is a classifier, and the data to train it on.
type Job[B any] struct {
	// Train is learned from, and has no end ([reader.Flow.Repeat]). Val says after each round how
	// good the model is, and Test at the end how good the best one was.
	Train, Val, Test reader.Flow[B]
	// Spec makes the inputs and the label, an integer of shape {records, 1}.
	Spec gomlx.Spec[B]
	// Model returns the logits of the classes.
	Model func(scope *model.Scope, input *graph.Node) *graph.Node
	// Init sets variables of a new model. Default: there are none to set.
	Init func(backend compute.Backend, store *model.Store) error
	// Rate is the learning rate of Adam.
	Rate float64
	// Round is the number of steps in a round, Steps that after which the training ends. It ends
	// earlier after Patience rounds without a lower loss on Val.
	Round, Steps, Patience int
	// Dir is the directory of checkpoints, which is created.
	Dir string
	// Out shows the progress.
	Out io.Writer
}

// Result is the result of a training.
type Result struct {
	// Steps is the number of steps trained, Best the number after which the loss on Val was lowest.
	Steps, Best int
	// Loss and Accuracy of the best model on Test; the accuracy is from 0 to 1.
	Loss, Accuracy float64
	// Waited is the share of a step that goes into waiting for data, from 0 to 1: the median wait
	// and the median step. On a busy machine, where any step may be suspended, it is steadier than
	// WaitedInAll, the share of the sums. Both are 0 if nothing was trained.
	Waited, WaitedInAll float64
	// Model is the directory of the best model: a checkpoint of GoMLX.
	Model string
}

// Run trains from the last checkpoint on, or a new model if there is none.
func (j Job[B]) Run(ctx context.Context) (*Result, error) {
	// One operation at a time, since the tests compare weights to the bit.
	backend, err := gobackend.New("ops_sequential")
	if err != nil {
		return nil, err
	}
	defer backend.Finalize()
	store := model.NewStore()
	store.SetParam(optimizer.ParamLearningRate, j.Rate)
	if err := store.SetRNGStateFromSeed(1); err != nil { // of the initial weights
		return nil, err
	}
	saved, err := openCheckpoints(j.Dir, store)
	if err != nil {
		return nil, err
	}
	var from reader.From
	p := saved.last
	if p == nil {
		p = &progress{}
		if j.Init != nil {
			if err := j.Init(backend, store); err != nil {
				return nil, err
			}
		}
	} else {
		fmt.Fprintf(j.Out, "resuming after step %d\n", p.Step)
		from.State = &p.State
	}
	ds, err := gomlx.New(ctx, "train", j.Train, from, j.Spec)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	val, err := gomlx.New(ctx, "val", j.Val, reader.From{}, j.Spec)
	if err != nil {
		return nil, err
	}
	defer val.Close()

	trainer := j.trainer(backend, store)
	loop := train.NewLoop(trainer)
	var waits, steps []time.Duration
	var before time.Duration
	loop.OnStep("wait", 0, func(*train.Loop, []*tensors.Tensor) error {
		waits = append(waits, ds.Waited()-before)
		before = ds.Waited()
		return nil
	})
	for p.Step < j.Steps && p.Step-p.Best < j.Patience*j.Round {
		trained, err := loop.RunSteps(ds, j.Round)
		if err != nil {
			return nil, err
		}
		steps = append(steps, loop.TrainStepDurations...)
		evaluated, err := trainer.Eval(val)
		if err != nil {
			return nil, err
		}
		p.Step = loop.LoopStep
		p.State = ds.State()
		if loss := number(evaluated[0]); p.Best == 0 || loss < p.Loss {
			p.Best, p.Loss = p.Step, loss
		}
		if err := saved.save(*p); err != nil {
			return nil, err
		}
		fmt.Fprintf(j.Out, "step %d: loss %.4f, on val %.4f with accuracy %.1f%%\n",
			p.Step, number(trained[1]), number(evaluated[0]), 100*number(evaluated[1]))
	}

	r := &Result{Steps: p.Step, Best: p.Best, Model: saved.path(p.Best)}
	if r.Loss, r.Accuracy, err = j.Evaluate(ctx, r.Model, "test", j.Test); err != nil {
		return nil, err
	}
	fmt.Fprintf(j.Out, "best after step %d: loss on test %.4f, accuracy %.1f%%: %s\n", r.Best, r.Loss, 100*r.Accuracy, r.Model)
	if len(steps) > 0 {
		r.Waited, r.WaitedInAll = share(median(waits), median(steps)), share(sum(waits), sum(steps))
		fmt.Fprintf(j.Out, "waiting for data: %.2f%% of a step, %.2f%% in all\n", 100*r.Waited, 100*r.WaitedInAll)
	}
	return r, nil
}

// trainer returns what trains and evaluates a model.
func (j Job[B]) trainer(backend compute.Backend, store *model.Store) *train.Trainer {
	accuracy := metric.NewSparseCategoricalAccuracy("accuracy", "acc")
	return train.NewTrainer(backend, store, j.Model, loss.SparseCategoricalCrossEntropyLogits,
		optimizer.Adam().FromScope(store.RootScope()).Done(), nil, []metric.Interface{accuracy})
}

// Evaluate loads a saved model, and returns its mean loss and its accuracy on a flow.
func (j Job[B]) Evaluate(ctx context.Context, dir, name string, flow reader.Flow[B]) (loss, accuracy float64, err error) {
	backend, err := gobackend.New("ops_sequential")
	if err != nil {
		return 0, 0, err
	}
	defer backend.Finalize()
	store := model.NewStore()
	if err := load(dir, store); err != nil {
		return 0, 0, err
	}
	ds, err := gomlx.New(ctx, name, flow, reader.From{}, j.Spec)
	if err != nil {
		return 0, 0, err
	}
	defer ds.Close()
	evaluated, err := j.trainer(backend, store).Eval(ds)
	if err != nil {
		return 0, 0, err
	}
	return number(evaluated[0]), number(evaluated[1]), nil
}

// number returns the value of a scalar.
func number(t *tensors.Tensor) float64 { return shapes.ConvertTo[float64](t.Value()) }

// share returns the share that waiting has of the time for waiting and stepping.
func share(wait, step time.Duration) float64 { return wait.Seconds() / (wait + step).Seconds() }

func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

func sum(all []time.Duration) (total time.Duration) {
	for _, d := range all {
		total += d
	}
	return total
}
