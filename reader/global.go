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

// maxSteps is the maximum number of records looked up together: a higher number puts more of them
// near each other but delays the first.
const maxSteps = 1 << 14

// leastSteps is the minimum, however little memory there is.
const leastSteps = 16

// maxErrand is the maximum number of bytes of records looked up together.
const maxErrand = 16 << 20

// globalWords is the length of a position's section: an index in the order, and the damage skipped
// so far in the epoch.
const globalWords = 2

// ShuffleAll returns the records of all files in one random order, a different one in each epoch: a
// permutation that is computed, not stored. Worker i of n takes indexes i, i + n, i + 2n … of it.
// The files must be uncompressed; those without an index file are scanned once, header by header,
// before the first record.
//
// Records are read thousands at once, in file order.
func (s *Set) ShuffleAll(o ShuffleAllOptions) Pipe {
	if o.Block == 0 {
		o.Block = 1
	}
	if o.Window == 0 {
		o.Window = defaultWindow
	}
	name := fmt.Sprintf("shuffle_all(seed=%d", s.opts.Seed)
	if o.Block > 1 {
		name += fmt.Sprintf(",block=%d,window=%d", o.Block, o.Window)
	}
	if o.SameEachEpoch {
		name += ",same"
	}
	name += fmt.Sprintf(",ends=%d", s.opts.Uneven)
	if s.opts.SkipBad.asked() {
		name += ",skip_bad"
	}
	name += ")"
	return Pipe{set: s}.then(name, func(r *run, _ stage) (stage, error) {
		if o.Block < 1 || o.Block > maxRuns || o.Window < 1 || o.Window > maxRuns {
			return nil, fmt.Errorf("reader: ShuffleAll with Block %d, Window %d: want 1 to %d of each", o.Block, o.Window, maxRuns)
		}
		g := &global{run: r, name: name, opts: o, stats: r.stats(name), stored: s.stored()}
		g.readers = r.readers(g.stats, maxReaders)
		r.tally(&g.bad)
		return g, nil
	})
}

// global returns the records of a set in a computed order.
type global struct {
	run   *run
	stats *stageStats
	name  string
	opts  ShuffleAllOptions
	finder
	readers *gate
	stored  bool // the files are in an object store
	steps   int  // of a batch read
	ramp    int  // the same, of the next one from a store

	ctx    context.Context
	cancel context.CancelFunc
	epoch  int32
	order  *order
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
	g.stop()
	g.ctx, g.cancel = context.WithCancel(ctx)
	if err := g.find(g.ctx, g.run.set); err != nil {
		return err
	}
	o := g.run.set.opts
	g.epoch, g.coming, g.i, g.faults, g.err = int32(epoch), 0, 0, 0, nil
	total := g.total()
	g.run.allow(total / int64(o.Workers))
	bad := int64(0)
	if own, _ := at.pop(); at != nil {
		if len(own) != globalWords || own[0] < 0 || own[0] > total+maxParts || own[1] < 0 || own[1] > maxSkip {
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
	if total == 0 {
		return nil
	}
	if g.opts.SameEachEpoch {
		epoch = 0
	}
	g.order = newOrder(total, int64(g.opts.Block), int64(g.opts.Window), key(o.Seed, forOrder, uint64(epoch)))
	// Half of the read-ahead is for batch reads in flight, half for what they read around their
	// records.
	size := max(g.bytes()/total, 1)
	g.steps = int(min(max(g.share()/size, min(minRoom/size, leastSteps), 1), maxSteps))
	g.ramp = firstStored
	g.send()
	return nil
}

// tellMissing reports the records missing at the ends of files, which have no index in the order:
// each worker reports those of the files assigned to it by number.
func (g *global) tellMissing() error {
	for i, x := range g.indexes {
		short := g.run.set.missingRecords(g.ctx, wholeFile(i), cursor{x.records, x.size}, true)
		if short == nil || i%g.run.set.opts.Workers != g.run.set.opts.Worker {
			continue
		}
		if err := g.run.skip(&g.bad, short.skipped(g.run.set, g.epoch)); err != nil {
			return err
		}
	}
	return g.ctx.Err() // an index file may not have been read
}

// send starts as many batch reads as may be in flight.
func (g *global) send() {
	o, total := g.run.set.opts, g.total()
	for len(g.sent) < g.mostSent() {
		e := g.nextRead()
		steps := g.steps
		if g.stored {
			steps = min(steps, g.ramp)
			g.ramp = min(2*g.ramp, maxSteps)
		}
		for len(e.wants) < steps {
			place, pad := g.coming+int64(o.Worker), false
			if place >= total {
				if o.Uneven != UnevenPad || g.coming >= total {
					break
				}
				place, pad = place%total, true
			}
			if o.Uneven == UnevenDrop && g.coming+int64(o.Workers) > total {
				break
			}
			w := g.locate(g.order.at(place))
			w.step, w.pad = len(e.wants), pad
			e.wants = append(e.wants, w)
			g.coming += int64(o.Workers)
		}
		if len(e.wants) == 0 {
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
	e.place, e.wants, e.done, e.block, e.err = g.coming, e.wants[:0], make(chan struct{}), nil, nil
	e.needed.Store(false)
	return e
}

func (g *global) stop() {
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

func (g *global) next() (*Block, error) {
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
			if g.err = g.run.skip(&g.bad, f.skipped(g.run.set, g.epoch)); g.err != nil {
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
		place := e.place + int64(g.i+g.faults)*int64(g.run.set.opts.Workers)
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
