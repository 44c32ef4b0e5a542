package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// MixOptions are the options of [Mix]; the zero value draws from all pipes with equal probability.
type MixOptions struct {
	// Weights are proportional to the probabilities of the pipes: as many numbers of 0 or more, not
	// all 0. A pipe with weight 0 is not drawn from. Default: all equal.
	Weights []float64
	// Seed of the draws. Default: Seed of the first pipe's Options.
	Seed *uint64
	// Choose, if not nil, names the pipe of each element instead of a draw, as
	// tf.data.Dataset.choose_from_datasets does: it gets the epoch and the number of the choice in
	// it, both counted from 0, and returns the index of a pipe, or -1 to end the epoch. The same
	// arguments must give the same result. Not with Weights and Seed.
	Choose func(epoch, n int64) int
	// StopOnEmpty ends the epoch when an element is to come from a pipe that has none left.
	// Default: the epoch continues with the other pipes, until all have ended.
	StopOnEmpty bool
}

// Mix returns records of several pipes, each drawn by the weights or chosen.
func Mix(o MixOptions, pipes []Pipe) Pipe {
	o.Weights = slices.Clone(o.Weights)
	name := fmt.Sprintf("choose(pipes=%d", len(pipes))
	if o.Choose == nil {
		if o.Seed == nil {
			o.Seed = new(uint64)
			if len(pipes) > 0 && pipes[0].Set != nil {
				*o.Seed = pipes[0].Set.Opts.Seed
			}
		}
		name = fmt.Sprintf("mix(seed=%d,pipes=%d", *o.Seed, len(pipes))
	}
	if o.StopOnEmpty {
		name += ",stop"
	}
	next := join("Mix", name+")", pipes, func(r *pipeline.Run, in []input) (pipeline.Stage, error) {
		weights, err := o.weights(len(in))
		if err != nil {
			return nil, fmt.Errorf("reader: Mix: %w", err)
		}
		full := name + ")"
		if r.Rereads && o.Choose == nil {
			full = fmt.Sprintf("%s,weights=%v)", name, weights)
			r.Rename(full)
		}
		return &mix{opts: o, run: r, name: full, in: in, asked: weights, stats: r.Stats(full)}, nil
	})
	next.Last.Shuffles, next.Last.Calls = true, o.Choose != nil
	return next
}

// weights returns the weights of n pipes.
func (o *MixOptions) weights(n int) ([]float64, error) {
	switch {
	case o.Choose != nil && (o.Weights != nil || o.Seed != nil):
		return nil, errors.New("want neither Weights nor a Seed with Choose")
	case o.Weights == nil:
		return slices.Repeat([]float64{1}, n), nil
	case len(o.Weights) != n:
		return nil, fmt.Errorf("%d Weights for %d pipes", len(o.Weights), n)
	}
	return o.Weights, pipeline.CheckWeights(o.Weights)
}

// mix draws each element from one of its inputs. Its own section is the number of draws, then for
// each input its place and the bits of its weight.
type mix struct {
	opts  MixOptions
	run   *pipeline.Run
	stats *pipeline.Counters
	name  string
	in    []input

	epoch   int64
	draws   pipeline.Draws
	drawn   int64
	weights []float64 // in force up to draw number turn,
	asked   []float64 // and from there on
	turn    int64
	total   float64  // of the weights of inputs that have not ended
	sums    []uint64 // bits of those up to each input, then of infinity, 2ⁿ-1 in all; none: not known
	number  int64    // of the block, from 1
	err     error
}

// MixStretch is the number of draws that have the same weights.
const MixStretch = pipeline.BlockRecords

func (x *mix) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	var seed uint64
	if x.opts.Seed != nil {
		seed = *x.opts.Seed
	}
	x.epoch, x.draws, x.drawn, x.err = epoch, pipeline.Draws(pipeline.Key(seed, pipeline.ForMix, uint64(epoch))), 0, nil
	x.weights, x.turn, x.sums = append(x.weights[:0], x.asked...), MixStretch, x.sums[:0]
	if at == nil {
		for i := range x.in {
			if err := x.in[i].begin(ctx, epoch, nil, 0); err != nil {
				return err
			}
		}
		return nil
	}
	own, at := at.Pop()
	if len(own) != 1+2*len(x.in) || own[0] < 0 || own[0] > pipeline.MaxSkip {
		return pipeline.ErrPosition(x.name)
	}
	x.drawn = own[0]
	x.turn = (x.drawn/MixStretch + 1) * MixStretch
	for i := range x.in {
		if place := own[1+2*i]; place < inputEnded || place > pipeline.MaxLead {
			return pipeline.ErrPosition(x.name)
		}
		x.weights[i] = math.Float64frombits(uint64(own[2+2*i]))
	}
	if pipeline.CheckWeights(x.weights) != nil {
		return pipeline.ErrPosition(x.name)
	}
	if x.run.Merged && !slices.Equal(x.weights, x.asked) {
		return fmt.Errorf("resume: %w: its %s has the weights %v, here they are %v: after MergeStates they stay the same to the end of the epoch", pipeline.ErrState, x.name, x.weights, x.asked)
	}
	for i := range slices.Backward(x.in) {
		in := &x.in[i]
		var its pipeline.Position
		its, at = at.Split(in.sections)
		if err := in.resume(ctx, epoch, its, own[1+2*i]); err != nil {
			return err
		}
	}
	return nil
}

func (x *mix) Next() (*pipeline.Block, error) {
	if x.err != nil {
		return nil, x.err
	}
	watch := x.stats.Watch()
	out := x.run.NewBlock()
	x.number++
	out.At = x.appendAt(out.At)
	for size, misses := 0, 0; len(out.Records) < pipeline.BlockRecords && size < pipeline.BlockBytes; {
		if x.drawn == x.turn {
			if len(out.Records) > 0 {
				break
			}
			copy(x.weights, x.asked)
			x.turn, x.sums = x.turn+MixStretch, x.sums[:0]
			out.At = x.appendAt(out.At[:0])
		}
		in, err := x.draw()
		if err == nil && in.blk == nil {
			watch.Busy()
			err = in.fill()
			watch.Waited()
			if err == io.EOF && !x.opts.StopOnEmpty {
				if misses++; misses > mostMisses {
					x.err = fmt.Errorf("reader: %s chose pipes that have ended %d times in a row: return -1 to end the epoch", x.name, misses)
					break
				}
				x.drawn++
				x.sums = x.sums[:0]
				continue
			}
		}
		if err != nil {
			x.err = err
			break
		}
		x.drawn++
		misses = 0
		in.give(out, x.number)
		size += len(out.Records[len(out.Records)-1].Data)
	}
	watch.Busy()
	if len(out.Records) == 0 {
		out.Release()
		return nil, x.err
	}
	x.stats.Gave(out)
	return out, nil
}

// mostMisses limits how often Choose may return pipes that have ended.
const mostMisses = 1 << 20

// draw returns the input of the next element; io.EOF if there is none.
func (x *mix) draw() (*input, error) {
	if x.opts.Choose != nil {
		i := x.opts.Choose(x.epoch, x.drawn)
		if i < -1 || i >= len(x.in) {
			return nil, fmt.Errorf("reader: %s: choice %d of epoch %d is %d: want a pipe from 0 to %d, or -1", x.name, x.drawn, x.epoch, i, len(x.in)-1)
		}
		if i < 0 || !slices.ContainsFunc(x.in, func(in input) bool { return !in.ended }) {
			return nil, io.EOF
		}
		return &x.in[i], nil
	}
	if len(x.sums) == 0 {
		x.sum()
	}
	if x.total == 0 {
		return nil, io.EOF
	}
	u := x.draws.Float(x.drawn) * x.total
	if u >= x.total { // by rounding
		u = math.Nextafter(x.total, 0)
	}
	i, at := 0, math.Float64bits(u)
	for step := (len(x.sums) + 1) / 2; step > 0; step /= 2 {
		_, below := bits.Sub64(at, x.sums[i+step-1], 0)
		i += step & (int(below) - 1)
	}
	return &x.in[i], nil
}

// sum computes the sums of the weights. They compare like their bits, which takes no branch: half
// of the branches would be predicted wrong.
func (x *mix) sum() {
	x.total = 0
	for i, w := range x.weights {
		if !x.in[i].ended {
			x.total += w
		}
		x.sums = append(x.sums, math.Float64bits(x.total))
	}
	for bits.OnesCount(uint(len(x.sums)+1)) != 1 {
		x.sums = append(x.sums, math.Float64bits(math.Inf(1)))
	}
}

// appendAt appends the position.
func (x *mix) appendAt(dst pipeline.Position) pipeline.Position {
	for i := range x.in {
		dst = x.in[i].appendAt(dst)
	}
	begin := len(dst)
	dst = append(dst, x.drawn)
	for i := range x.in {
		dst = append(dst, x.in[i].place(), int64(math.Float64bits(x.weights[i])))
	}
	return append(dst, int64(len(dst)-begin))
}

func (x *mix) Stop() {
	for i := range x.in {
		x.in[i].end()
	}
}
