package records

import (
	"log/slog"
	"math"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// tellCost logs, once, the cost of an epoch over a set in an object store that does not fit in
// memory.
func (g *Global) tellCost() {
	if !g.stored || g.Kept != nil || g.length == 0 || g.costTold || g.run.Opts.Logger == nil {
		return
	}
	g.costTold = true
	bytes, requests := g.cost()
	files, _ := fitsMemory(g.set)
	g.run.Event(slog.LevelWarn, pipeline.EventCostly,
		slog.String("order", g.name), slog.Int64("set_bytes", files), slog.Int64("read_bytes", bytes),
		slog.Int64("requests", requests), slog.Int64("memory", g.run.Opts.Memory), slog.Int64("memory_needed", neededMemory(files)))
}

// cost estimates the bytes and requests of an epoch, or this worker's part of it, whose records are
// in random order.
func (g *Global) cost() (bytes, requests int64) {
	left := (g.length + int64(g.run.Opts.Workers) - 1) / int64(g.run.Opts.Workers)
	for ramp := g.ramp; left > 0; ramp = g.grown(ramp) {
		n := min(int64(min(g.steps, ramp)), left)
		b, r := g.costOf(float64(n))
		times := int64(1)
		if ramp >= g.steps { // and all that follow are as large
			times = left / n
		}
		bytes, requests, left = bytes+times*b, requests+times*r, left-times*n
	}
	return bytes, requests
}

// costOf estimates the bytes and requests of a batch read of n records at random positions: the gaps
// between them are distributed exponentially, and short ones are read.
func (g *Global) costOf(n float64) (bytes, requests int64) {
	size := float64(g.Bytes())
	own := min(size*float64(g.Stride())/float64(g.Total()), size/n) // a record, or those among which it is looked for
	gap := max(size/n-own, 1)
	const near = nearStored
	apart := math.Exp(-near / gap) // the share of gaps that are not read
	read := n * (own + gap - (near+gap)*apart)
	return int64(read), int64(math.Ceil(n*apart + read/float64(g.mostStored())))
}
