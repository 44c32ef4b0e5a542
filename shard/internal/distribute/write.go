package distribute

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/transfer"
	"github.com/tfrec/tfrec/tfrecord"
)

// Write makes a shard from all batches that Read dealt to it, in any order, puts it in place and
// records that it is finished. Each record must come exactly once. If batches yields an error,
// Write fails with it. Records that do not fit in Options.Memory are spilled to the output
// directory or, if that is a URL, to the system's temporary directory. A shard that this plan has
// finished already is kept, without reading batches.
func (p *Plan) Write(ctx context.Context, shard int, batches iter.Seq2[[]byte, error]) (Counts, error) {
	var receiving error
	counts, err := p.writeShard(ctx, shard, func(yield func([]byte, error) bool) {
		for batch, err := range batches {
			receiving = err
			if !yield(batch, err) {
				return
			}
		}
	})
	if err != nil && receiving == nil {
		p.fail(ctx, err)
	}
	return counts, err
}

func (p *Plan) writeShard(ctx context.Context, shard int, batches iter.Seq2[[]byte, error]) (Counts, error) {
	if shard < 0 || shard >= p.Shards() {
		return Counts{}, fmt.Errorf("shard %d: there are %d", shard, p.Shards())
	}
	dir, err := p.join(ctx)
	if err != nil {
		return Counts{}, err
	}
	defer dir.Close()
	if done := p.done(dir, shard); done != nil {
		return keptShard(done), nil
	}
	g := p.newCollector(dir, shard)
	defer g.Close()
	for batch, err := range batches {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = g.addBatch(ctx, batch)
		}
		if err != nil {
			return Counts{}, err
		}
	}
	if want := g.behind - g.start; g.records != want {
		return Counts{}, fmt.Errorf("%s: got %d of its %s: the others were lost between Read and Write", g.file, g.records, plural.Of(want, "record"))
	}
	var counts Counts
	// A concurrent Write of the same shard, started because a runner lost track of this one, for
	// example, must not replace the file between the rename and the record of it.
	err = dir.WithLock(ctx, g.file, func() error {
		if done := p.done(dir, shard); done != nil {
			counts = keptShard(done)
			return nil
		}
		done, err := g.finish(ctx)
		if err == nil {
			counts = Counts{Records: done.Records, Bytes: done.Bytes}
		}
		return err
	})
	return counts, err
}

// join opens the output directory to write shards, if the run of this plan is still under way.
func (p *Plan) join(ctx context.Context) (*setdir.Dir, error) {
	if err := p.underWay(setdir.View(ctx, p.out)); err != nil {
		return nil, err
	}
	dir, err := setdir.Open(ctx, p.out, setdir.Options{Join: true})
	if err != nil {
		return nil, err
	}
	if err := p.underWay(dir); err != nil { // it cannot change any more
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// underWay returns an error unless the run in dir belongs to the plan.
func (p *Plan) underWay(dir *setdir.Dir) error {
	run, err := dir.State().Run()
	if err == nil && (run == nil || run.Plan != p.id) {
		err = errOtherPlan(p.out)
	}
	return err
}

// done returns the state of a shard that this plan has finished; nil otherwise.
func (p *Plan) done(dir *setdir.Dir, shard int) *setdir.Done {
	if done := dir.Shards().Done(p.ShardFile(shard), false); done != nil && done.Plan == p.id {
		return done
	}
	return nil
}

// allDone returns the result of done for all shards.
func (p *Plan) allDone(ctx context.Context, dir *setdir.Dir) ([]*setdir.Done, error) {
	files := make([]string, p.Shards())
	for shard := range files {
		files[shard] = p.ShardFile(shard)
	}
	all, err := dir.Shards().AllDone(ctx, files, false, nil)
	for i, done := range all {
		if done != nil && done.Plan != p.id {
			all[i] = nil
		}
	}
	return all, err
}

func keptShard(done *setdir.Done) Counts {
	return Counts{Records: done.Records, Bytes: done.Bytes, Kept: true}
}

// collector collects the records of a shard from batches.
type collector struct {
	*transfer.OneShard
	plan          *Plan
	run           *transfer.Transfer
	file          string
	source        *source.Input // reported as the origin of the records
	start, behind int64         // of the shard's records, in their split
	seen          []uint64
	records       int64
}

func (p *Plan) newCollector(dir *setdir.Dir, number int) *collector {
	split, index := p.find(number)
	t, layout := p.transfer(dir), p.layout[split]
	g := &collector{
		OneShard: t.NewOneShard(split, index), plan: p, run: t, file: p.ShardFile(number),
		start: layout.Start(index), behind: layout.Start(index + 1),
	}
	g.source = &source.Input{Counted: recordcount.Counted{Source: shard.Source{Path: g.file}}, SplitIndex: split}
	g.seen = make([]uint64, (g.behind-g.start+63)/64)
	return g
}

// addBatch adds the records of a batch.
func (g *collector) addBatch(ctx context.Context, batch []byte) error {
	n, size := binary.Uvarint(batch)
	// A record takes at least one byte for its position, and its framing.
	if size <= 0 || n > uint64(len(batch))/(1+tfrecord.Overhead) {
		return g.strange("it does not begin with a record count")
	}
	b := &source.Block{File: g.source, Checked: true, Sizes: make([]int, n), Places: make([]int64, n)}
	b.Data = batch[size:]
	for i := range b.Places {
		place, size := binary.Uvarint(b.Data)
		at := int64(place) - g.start
		switch {
		case size <= 0 || at < 0 || at >= g.behind-g.start:
			return g.strange("a record does not belong to the shard")
		case g.seen[at/64]>>(at%64)&1 != 0:
			return fmt.Errorf("%s: record %d came twice: it was repeated between Read and Write", g.file, at)
		}
		g.seen[at/64] |= 1 << (at % 64)
		b.Places[i], b.Data = int64(place), b.Data[size:]
	}
	g.records += int64(n)
	framing := tfrecord.Framing{MaxRecord: g.run.In.MaxRecord}
	at := 0
	for i := range b.Sizes {
		frame, v := framing.Check(b.Data[at:])
		if v != tfrecord.FrameWhole {
			return g.strange("a record is not what Read returned")
		}
		b.Sizes[i] = frame
		at += frame
	}
	if at < len(b.Data) {
		return g.strange("it has data after its records")
	}
	return g.Add(ctx, b)
}

func (g *collector) strange(what string) error {
	return fmt.Errorf("%s: a batch of records was changed between Read and Write: %s", g.file, what)
}

// finish writes the shard and records that it is finished.
func (g *collector) finish(ctx context.Context) (*setdir.Done, error) {
	info, err := g.Write(ctx)
	if err != nil {
		return nil, err
	}
	if err := g.run.Dir.SyncNames(); err != nil {
		return nil, err
	}
	done := &setdir.Done{Shard: info, Plan: g.plan.id, Samples: g.records}
	if !g.run.In.Known {
		seen, err := json.Marshal(g.run.Scans.Total())
		if err != nil {
			return nil, err
		}
		done.Seen = seen
	}
	return done, g.run.Dir.Shards().PutDone(done)
}
