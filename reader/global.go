package reader

import (
	"context"
	"fmt"
	"io"
)

// ShuffleAllOptions are the options of [Set.ShuffleAll].
type ShuffleAllOptions struct {
	// SameEachEpoch keeps the order from epoch to epoch.
	SameEachEpoch bool
	// Block keeps runs of that many records near each other, so that a disk reads them together;
	// Window runs are mixed with each other. Default: 1, a true shuffle.
	Block int
	// Window is the number of runs that are mixed. Default: 64. It has no effect with a Block of 1.
	Window int
}

const defaultWindow = 64

// maxRuns bounds Block and Window, so that their product does not overflow.
const maxRuns = 1 << 30

// mostSteps is the maximum number of records looked up together: a higher number puts more of them
// near each other but delays the first. So the batch reads of an epoch begin smaller, and each is
// twice as large as the one before. Batch reads of most of a set in a store have up to maxSteps.
const (
	mostSteps = 1 << 15
	maxSteps  = 1 << stepBits
)

// firstSteps is the maximum number of records in the first batch read of an epoch.
const firstSteps = 1 << 14

// leastSteps is the minimum, however little memory there is.
const leastSteps = 16

// maxErrand is the maximum number of bytes of records looked up together.
const maxErrand = 16 << 20

// ShuffleAll returns a source of all records in one random order.
func (s *fileSet) ShuffleAll(o ShuffleAllOptions) *link {
	if o.Block == 0 {
		o.Block = 1
	}
	if o.Window == 0 {
		o.Window = defaultWindow
	}
	return s.inOrder("shuffle_all", func(r *run) (string, globalOrder, error) {
		if o.Block < 1 || o.Block > maxRuns || o.Window < 1 || o.Window > maxRuns {
			return "", nil, fmt.Errorf("reader: ShuffleAll with Block %d, Window %d: want 1 to %d of each", o.Block, o.Window, maxRuns)
		}
		seed := r.opts.Seed
		return o.name(seed), func(epoch, records int64) (sequence, int64, error) {
			if o.SameEachEpoch {
				epoch = 0
			}
			return newOrder(records, int64(o.Block), int64(o.Window), key(seed, forOrder, uint64(epoch))), records, nil
		}, nil
	})
}

// inOrder describes the records of a set in a global order, which plan names with what it depends
// on.
func (s *fileSet) inOrder(kind string, plan func(r *run) (string, globalOrder, error)) *link {
	return (*link)(nil).then(kind, func(r *run, _ stage) (stage, error) {
		set := s.as(r.opts)
		if len(set.joined) > 0 {
			return nil, errJoined
		}
		name, of, err := plan(r)
		if err != nil {
			return nil, err
		}
		name += fmt.Sprintf(",ends=%d", r.opts.Uneven)
		if maySkip(r.opts.SkipBad) {
			name += ",skip_bad"
		}
		name += ")"
		r.rename(name)
		g := &global{run: r, set: set, name: name, of: of, stats: r.stats(name), stored: set.stored()}
		g.readers = r.readers(g.stats, maxReaders, g.stored)
		r.tally(&g.bad)
		return g, nil
	})
}

// globalOrder returns the sequence of the records of an epoch, of a set with at least one, and its
// length.
type globalOrder func(epoch, records int64) (sequence, int64, error)

// sequence is a sequence of numbers of records.
type sequence interface {
	at(place int64) int64
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

// global returns the records of a set in an order of all of them.
type global struct {
	run   *run
	set   *fileSet // with the options of the run
	stats *stageStats
	name  string
	of    globalOrder
	finder
	readers *gate
	stored  bool      // the files are in an object store
	kept    *resident // what was read of them, if all of it fits in memory
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
	bad    skipCount

	now    *batchRead
	i      int // records of now that were returned
	faults int // faults of now that were reported
	err    error
}

func (g *global) start(ctx context.Context, epoch int64, at position) error {
	g.halt()
	g.ctx, g.cancel = context.WithCancel(ctx)
	g.keep()
	if err := g.find(g.ctx, g.set, g.kept); err != nil {
		return err
	}
	o := g.run.opts
	g.epoch, g.coming, g.i, g.faults, g.err = int32(epoch), 0, 0, 0, nil
	g.order, g.length = nil, 0
	if total := g.total(); total > 0 {
		var err error
		if g.order, g.length, err = g.of(epoch, total); err != nil {
			return err
		}
	}
	g.run.allow(g.length / int64(o.Workers))
	bad := int64(0)
	if own, _ := at.pop(); at != nil {
		if len(own) != globalWords || own[0] < 0 || own[0] > g.length+maxParts || own[1] < 0 || own[1] > maxSkip {
			return errPosition(g.name)
		}
		g.coming, bad = own[0], own[1]
	}
	g.run.beginTally(&g.bad, g.epoch, bad)
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
	g.dense = g.stored && g.kept == nil && g.bytes()/g.total() < nearStored
	size := max(g.bytes()/g.total(), 1)
	if g.dense {
		size *= g.stride()
	}
	g.steps = int(min(max(g.share()/(size+g.overhead()), min(minRoom/size, leastSteps), 1), int64(g.most())))
	g.ramp = firstSteps
	if g.stored {
		g.ramp = firstStored
	}
	g.tellCost()
	g.send()
	return nil
}

// tellMissing reports the records missing at the ends of files, which have no index in the order:
// each worker reports those of the files assigned to it by number.
func (g *global) tellMissing() error {
	for i, x := range g.indexes {
		short := g.set.missingRecords(g.ctx, wholeFile(i), cursor{x.records, x.size}, true)
		if short == nil || i%g.run.opts.Workers != g.run.opts.Worker {
			continue
		}
		if err := g.run.skip(&g.bad, short.skipped(g.set.sources[i].Path, g.epoch)); err != nil {
			return err
		}
	}
	return g.ctx.Err() // an index file may not have been read
}

// send starts as many batch reads as may be in flight.
func (g *global) send() {
	o, total := g.run.opts, g.length
	for len(g.sent) < g.mostSent() {
		e := g.nextRead()
		steps := min(g.steps, g.ramp)
		g.ramp = g.grown(g.ramp)
		for len(e.steps) < steps {
			place := g.coming + int64(o.Worker)
			if place >= total {
				if o.Uneven != UnevenPad || g.coming >= total {
					break
				}
				place = place % total
				e.whole = min(e.whole, len(e.steps))
			}
			if o.Uneven == UnevenDrop && g.coming+int64(o.Workers) > total {
				break
			}
			e.steps = append(e.steps, newOrderStep(g.order.at(place), len(e.steps)))
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
func (g *global) nextRead() *batchRead {
	e := &batchRead{global: g}
	if n := len(g.idle); n > 0 {
		e, g.idle = g.idle[n-1], g.idle[:n-1]
	}
	e.place, e.steps, e.whole, e.done, e.block, e.err = g.coming, e.steps[:0], maxSteps, make(chan struct{}), nil, nil
	e.needed.Store(false)
	return e
}

// stop ends reading, and forgets what was kept for later epochs.
func (g *global) stop() {
	g.halt()
	if g.kept != nil {
		g.run.budget.add(-g.kept.size, 0)
		g.kept = nil
	}
}

// halt ends reading.
func (g *global) halt() {
	if g.cancel == nil {
		return
	}
	g.cancel()
	g.cancel = nil
	for _, e := range g.sent {
		<-e.done
		g.stats.queue.Add(-1)
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
		g.run.budget.add(-int64(cap(e.scratch)), 0)
	}
	clear(g.sent)
	g.sent, g.idle = g.sent[:0], nil
	g.close()
}

func (g *global) next() (*recordBlock, error) {
	for g.err == nil {
		if g.now == nil {
			if g.err = g.receive(); g.err != nil {
				break
			}
		}
		e := g.now
		if g.faults < len(e.block.faults) && e.block.faults[g.faults].before <= g.i {
			f := &e.block.faults[g.faults]
			g.faults++
			if g.err = g.run.skip(&g.bad, f.skipped(g.set.sources[f.file].Path, g.epoch)); g.err != nil {
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
		end := min(g.i+blockRecords, len(e.block.Records))
		if g.faults < len(e.block.faults) {
			end = min(end, e.block.faults[g.faults].before)
		}
		out := g.run.newBlock()
		out.adopt(e.block)
		out.Records = append(out.Records, e.block.Records[g.i:end]...)
		place := e.place + int64(g.i+g.faults)*int64(g.run.opts.Workers)
		out.at = out.at.push(place, g.bad.of(g.epoch))
		g.i = end
		return out, nil
	}
	return nil, g.err
}

// receive waits for the next batch read.
func (g *global) receive() error {
	if len(g.sent) == 0 {
		return io.EOF
	}
	e := g.sent[0]
	select {
	case <-e.done:
	default:
		watch := g.stats.watch()
		e.needed.Store(true)
		g.run.budget.wake()
		<-e.done
		g.stats.awaited(watch.lap())
	}
	g.stats.queue.Add(-1)
	g.sent = append(g.sent[:0], g.sent[1:]...)
	if e.block == nil {
		g.idle = append(g.idle, e)
		return e.err
	}
	e.block.handOver()
	g.now = e
	g.send()
	return nil
}
