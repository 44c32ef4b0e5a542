package records

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// ShuffleAllOptions are the options of Set.ShuffleAll.
type ShuffleAllOptions struct {
	// SameEachEpoch keeps the order from epoch to epoch.
	SameEachEpoch bool
	// Block keeps runs of that many records near each other, so that a disk reads them together;
	// Window runs are mixed with each other. Default: 1, a true shuffle.
	Block int
	// Window is the number of runs that are mixed. Default: 64. It has no effect with a Block of 1.
	Window int
}

const DefaultWindow = 64

// MaxRuns bounds Block and Window, so that their product does not overflow.
const MaxRuns = 1 << 30

// mostSteps is the maximum number of records looked up together: a higher number puts more of them
// near each other but delays the first. So the batch reads of an epoch begin smaller, and each is
// twice as large as the one before. Batch reads of most of a set in a store have up to maxSteps.
const (
	mostSteps = 1 << 15
	maxSteps  = 1 << fileset.StepBits
)

// FirstSteps is the maximum number of records in the first batch read of an epoch.
const FirstSteps = 1 << 14

// leastSteps is the minimum, however little memory there is.
const leastSteps = 16

// maxErrand is the maximum number of bytes of records looked up together.
const maxErrand = 16 << 20

// ShuffleAll returns a source of all records in one random order.
func ShuffleAll(s *fileset.Set, o ShuffleAllOptions) *pipeline.Link {
	if o.Block == 0 {
		o.Block = 1
	}
	if o.Window == 0 {
		o.Window = DefaultWindow
	}
	return inOrder(s, "shuffle_all", func(r *pipeline.Run) (string, globalOrder, error) {
		if o.Block < 1 || o.Block > MaxRuns || o.Window < 1 || o.Window > MaxRuns {
			return "", nil, fmt.Errorf("reader: ShuffleAll with Block %d, Window %d: want 1 to %d of each", o.Block, o.Window, MaxRuns)
		}
		seed := r.Opts.Seed
		return o.name(seed), func(epoch, records int64) (sequence, int64, error) {
			if o.SameEachEpoch {
				epoch = 0
			}
			return NewOrder(records, int64(o.Block), int64(o.Window), pipeline.Key(seed, pipeline.ForOrder, uint64(epoch))), records, nil
		}, nil
	})
}

// inOrder describes the records of a set in a global order, which plan names with what it depends
// on.
func inOrder(s *fileset.Set, kind string, plan func(r *pipeline.Run) (string, globalOrder, error)) *pipeline.Link {
	return (*pipeline.Link)(nil).Then(kind, func(r *pipeline.Run, _ pipeline.Stage) (pipeline.Stage, error) {
		set := s.As(r.Opts)
		if len(set.Joined) > 0 {
			return nil, fileset.ErrJoined
		}
		name, of, err := plan(r)
		if err != nil {
			return nil, err
		}
		name += fmt.Sprintf(",ends=%d", r.Opts.Uneven)
		if pipeline.MaySkip(r.Opts.SkipBad) {
			name += ",skip_bad"
		}
		name += ")"
		r.Rename(name)
		g := &Global{run: r, set: set, name: name, of: of, stats: r.Stats(name), stored: set.Stored()}
		g.readers = r.Readers(g.stats, pipeline.MaxReaders, g.stored)
		r.Tally(&g.bad)
		return g, nil
	})
}

// globalOrder returns the sequence of the records of an epoch, of a set with at least one, and its
// length.
type globalOrder func(epoch, records int64) (sequence, int64, error)

// sequence is a sequence of numbers of records.
type sequence interface {
	At(place int64) int64
}

// name returns the name of the stage, without what inOrder adds.
func (o *ShuffleAllOptions) name(seed uint64) string {
	name := fmt.Sprintf("shuffle_all(seed=%d", seed)
	if o.Block > 1 {
		name += fmt.Sprintf(",block=%d,window=%d", o.Block, o.Window)
	}
	if o.SameEachEpoch {
		name += ",same"
	}
	return name
}

// Global returns the records of a set in an order of all of them.
type Global struct {
	run   *pipeline.Run
	set   *fileset.Set // with the options of the run
	stats *pipeline.Counters
	name  string
	of    globalOrder
	fileset.Finder
	readers *pipeline.Gate
	stored  bool      // the files are in an object store
	Kept    *resident // what was read of them, if all of it fits in memory
	dense   bool      // each batch read reads most of them
	steps   int       // of a batch read
	ramp    int       // maximum of the next one

	costTold bool // what it reads was logged

	ctx    context.Context
	cancel context.CancelFunc
	epoch  int32
	order  sequence
	length int64        // of order
	coming int64        // index, over all workers, where the next batch read begins
	sent   []*batchRead // in flight, in order
	idle   []*batchRead // for reuse
	bad    pipeline.SkipCount

	now    *batchRead
	i      int // records of now that were returned
	faults int // faults of now that were reported
	err    error
}

func (g *Global) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	g.halt()
	g.ctx, g.cancel = context.WithCancel(ctx)
	g.keep()
	var load fileset.Loader
	if g.Kept != nil {
		load = g.Kept.load
	}
	if err := g.Find(g.ctx, g.set, load); err != nil {
		return err
	}
	o := g.run.Opts
	g.epoch, g.coming, g.i, g.faults, g.err = int32(epoch), 0, 0, 0, nil
	g.order, g.length = nil, 0
	if total := g.Total(); total > 0 {
		var err error
		if g.order, g.length, err = g.of(epoch, total); err != nil {
			return err
		}
	}
	g.run.Allow(g.length / int64(o.Workers))
	bad := int64(0)
	if own, _ := at.Pop(); at != nil {
		if len(own) != pipeline.GlobalWords || own[0] < 0 || own[0] > g.length+pipeline.MaxParts || own[1] < 0 || own[1] > pipeline.MaxSkip {
			return pipeline.ErrPosition(g.name)
		}
		g.coming, bad = own[0], own[1]
	}
	g.run.BeginTally(&g.bad, g.epoch, bad)
	if at == nil {
		if err := g.tellMissing(); err != nil {
			return err
		}
	}
	if g.length == 0 {
		return nil
	}
	// Half of the read-ahead is for batch reads in flight, half for what they read around their
	// records.
	g.dense = g.stored && g.Kept == nil && g.Bytes()/g.Total() < nearStored
	size := max(g.Bytes()/g.Total(), 1)
	if g.dense {
		size *= g.Stride()
	}
	g.steps = int(min(max(g.share()/(size+g.overhead()), min(minRoom/size, leastSteps), 1), int64(g.most())))
	g.ramp = FirstSteps
	if g.stored {
		g.ramp = FirstStored
	}
	g.tellCost()
	g.send()
	return nil
}

// tellMissing reports the records missing at the ends of files, which have no index in the order.
// Each worker reports on the files assigned to it by number.
func (g *Global) tellMissing() error {
	for i, x := range g.Indexes {
		short := g.set.MissingRecords(g.ctx, fileset.WholeFile(i), pipeline.Cursor{Number: x.Records, Offset: x.Size}, true)
		if short == nil || i%g.run.Opts.Workers != g.run.Opts.Worker {
			continue
		}
		if err := g.run.Skip(&g.bad, short.Skipped(g.set.Sources()[i].Path, g.epoch)); err != nil {
			return err
		}
	}
	return g.ctx.Err() // an index file may not have been read
}

// send starts as many batch reads as may be in flight.
func (g *Global) send() {
	o, total := g.run.Opts, g.length
	for len(g.sent) < g.mostSent() {
		e := g.nextRead()
		steps := min(g.steps, g.ramp)
		g.ramp = g.grown(g.ramp)
		for len(e.steps) < steps {
			place := g.coming + int64(o.Worker)
			if place >= total {
				if o.Uneven != pipeline.UnevenPad || g.coming >= total {
					break
				}
				place = place % total
				e.whole = min(e.whole, len(e.steps))
			}
			if o.Uneven == pipeline.UnevenDrop && g.coming+int64(o.Workers) > total {
				break
			}
			e.steps = append(e.steps, fileset.NewOrderStep(g.order.At(place), len(e.steps)))
			g.coming += int64(o.Workers)
		}
		if len(e.steps) == 0 {
			g.idle = append(g.idle, e)
			return
		}
		g.sent = append(g.sent, e)
		go e.run(g.ctx)
	}
}

// nextRead returns a batch read that begins at the coming index, reusing the memory of a finished
// one.
func (g *Global) nextRead() *batchRead {
	e := &batchRead{global: g}
	if n := len(g.idle); n > 0 {
		e, g.idle = g.idle[n-1], g.idle[:n-1]
	}
	e.place, e.steps, e.whole, e.done, e.block, e.err = g.coming, e.steps[:0], maxSteps, make(chan struct{}), nil, nil
	e.needed.Store(false)
	return e
}

// Stop ends reading, and forgets what was kept for later epochs.
func (g *Global) Stop() {
	g.halt()
	if g.Kept != nil {
		g.run.Budget.Add(-g.Kept.size, 0)
		g.Kept = nil
	}
}

// halt ends reading.
func (g *Global) halt() {
	if g.cancel == nil {
		return
	}
	g.cancel()
	g.cancel = nil
	for _, e := range g.sent {
		<-e.done
		g.stats.Queue.Add(-1)
		if e.block != nil {
			e.block.Release()
			e.block = nil
		}
		g.idle = append(g.idle, e)
	}
	if g.now != nil {
		g.now.block.Release()
		g.idle = append(g.idle, g.now)
		g.now = nil
	}
	for _, e := range g.idle {
		g.run.Budget.Add(-int64(cap(e.scratch)), 0)
	}
	clear(g.sent)
	g.sent, g.idle = g.sent[:0], nil
	g.Close()
}

func (g *Global) Next() (*pipeline.Block, error) {
	for g.err == nil {
		if g.now == nil {
			if g.err = g.receive(); g.err != nil {
				break
			}
		}
		e := g.now
		if g.faults < len(e.block.Faults) && e.block.Faults[g.faults].Before <= g.i {
			f := &e.block.Faults[g.faults]
			g.faults++
			if g.err = g.run.Skip(&g.bad, f.Skipped(g.set.Sources()[f.File].Path, g.epoch)); g.err != nil {
				break
			}
			continue
		}
		if g.i == len(e.block.Records) {
			g.err = e.err
			e.block.Release()
			e.block = nil
			g.idle = append(g.idle, e)
			g.now, g.i, g.faults = nil, 0, 0
			continue
		}
		// A block never spans damage, so that its elements and the steps of the order correspond.
		end := min(g.i+pipeline.BlockRecords, len(e.block.Records))
		if g.faults < len(e.block.Faults) {
			end = min(end, e.block.Faults[g.faults].Before)
		}
		out := g.run.NewBlock()
		out.Adopt(e.block)
		out.Records = append(out.Records, e.block.Records[g.i:end]...)
		place := e.place + int64(g.i+g.faults)*int64(g.run.Opts.Workers)
		out.At = out.At.Push(place, g.bad.Of(g.epoch))
		g.i = end
		return out, nil
	}
	return nil, g.err
}

// receive waits for the next batch read.
func (g *Global) receive() error {
	if len(g.sent) == 0 {
		return io.EOF
	}
	e := g.sent[0]
	select {
	case <-e.done:
	default:
		watch := g.stats.Watch()
		e.needed.Store(true)
		g.run.Budget.Wake()
		<-e.done
		g.stats.Awaited(watch.Lap())
	}
	g.stats.Queue.Add(-1)
	g.sent = append(g.sent[:0], g.sent[1:]...)
	if e.block == nil {
		g.idle = append(g.idle, e)
		return e.err
	}
	e.block.HandOver()
	g.now = e
	g.send()
	return nil
}
