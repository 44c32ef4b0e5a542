package reshape

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Write makes a shard from all batches that Read dealt to it, in any order, puts it in place and
// records that it is finished. Each record must come exactly once. If batches yields an error,
// Write fails with it. Records that do not fit in Options.Memory are spilled to the output
// directory or, if that is a URL, to the system's temporary directory. A shard that this plan has
// finished already is kept, without reading batches.
func (p *ReshardPlan) Write(ctx context.Context, shard int, batches iter.Seq2[[]byte, error]) (ReshardCounts, error) {
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

func (p *ReshardPlan) writeShard(ctx context.Context, shard int, batches iter.Seq2[[]byte, error]) (ReshardCounts, error) {
	if shard < 0 || shard >= p.Shards() {
		return ReshardCounts{}, fmt.Errorf("shard %d: there are %d", shard, p.Shards())
	}
	dir, err := p.join(ctx)
	if err != nil {
		return ReshardCounts{}, err
	}
	defer dir.Close()
	if done := p.done(dir, shard); done != nil {
		return keptShard(done), nil
	}
	g := p.newCollector(dir, shard)
	defer g.spill.Close()
	for batch, err := range batches {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = g.add(ctx, batch)
		}
		if err != nil {
			return ReshardCounts{}, err
		}
	}
	if want := g.at.behind - g.at.start; g.records != want {
		return ReshardCounts{}, fmt.Errorf("%s: got %d of its %s: the others were lost between Read and Write", g.file, g.records, plural.Of(want, "record"))
	}
	var counts ReshardCounts
	// A concurrent Write of the same shard, started because a runner lost track of this one, for
	// example, must not replace the file between the rename and the record of it.
	err = dir.WithLock(ctx, g.file, func() error {
		if done := p.done(dir, shard); done != nil {
			counts = keptShard(done)
			return nil
		}
		done, err := g.write(ctx)
		if err == nil {
			counts = ReshardCounts{Records: done.Records, Bytes: done.Bytes}
		}
		return err
	})
	return counts, err
}

// join opens the output directory to write shards, if the run of this plan is still under way.
func (p *ReshardPlan) join(ctx context.Context) (*setdir.Dir, error) {
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
func (p *ReshardPlan) underWay(dir *setdir.Dir) error {
	run, err := dir.State().Run()
	if err == nil && (run == nil || run.Plan != p.id) {
		err = errOtherPlan(p.out)
	}
	return err
}

// done returns the state of a shard that this plan has finished; nil otherwise.
func (p *ReshardPlan) done(dir *setdir.Dir, shard int) *setdir.Done {
	if done := dir.Shards().Done(p.ShardFile(shard), false); done != nil && done.Plan == p.id {
		return done
	}
	return nil
}

// allDone returns the result of done for all shards.
func (p *ReshardPlan) allDone(ctx context.Context, dir *setdir.Dir) ([]*setdir.Done, error) {
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

func keptShard(done *setdir.Done) ReshardCounts {
	return ReshardCounts{Records: done.Records, Bytes: done.Bytes, Kept: true}
}

// collector collects the records of a shard in buckets.
type collector struct {
	*arrangement
	plan    *ReshardPlan
	file    string
	at      shardAt
	source  *input // reported as the origin of the records
	seen    []uint64
	records int64
}

func (p *ReshardPlan) newCollector(dir *setdir.Dir, number int) *collector {
	split, index := p.find(number)
	a := &arrangement{reshaping: p.run(dir), order: unchanged{}, base: p.base}
	g := &collector{arrangement: a, plan: p, file: p.ShardFile(number), at: a.shardAt(split, index)}
	g.source = &input{Counted: recordcount.Counted{Source: shard.Source{Path: g.file}}, split: split}
	records := g.at.behind - g.at.start
	g.seen = make([]uint64, (records+63)/64)
	memory := a.o.memory()
	bucket := max(memory/32, leastBucket)
	size := int64(float64(a.in.unpacked()) * float64(records) / float64(max(p.base[len(p.base)-1], 1)))
	a.number = int(max(min((size+bucket-1)/bucket+1, memory/4/spill.LeastBlock, records), 1))
	a.places = placeShards([]shardAt{g.at}, max(records/int64(a.number), 1))
	a.number = a.places.buckets()
	a.spill = spill.New(a.number, a.number, memory*3/8, func() (spill.File, error) {
		f, err := dir.TempFile("order")
		return osfile.NewFile(dir.Context(), f), err
	})
	return g
}

// add adds the records of a batch to their buckets.
func (g *collector) add(ctx context.Context, batch []byte) error {
	n, size := binary.Uvarint(batch)
	// A record takes at least one byte for its position, and its framing.
	if size <= 0 || n > uint64(len(batch))/(1+tfrecord.Overhead) {
		return g.strange("it does not begin with a record count")
	}
	b := &block{file: g.source, checked: true, sizes: make([]int, n), places: make([]int64, n)}
	b.data = batch[size:]
	base := g.base[g.source.split]
	for i := range b.places {
		place, size := binary.Uvarint(b.data)
		at := base + int64(place) - g.at.start
		switch {
		case size <= 0 || at < 0 || at >= g.at.behind-g.at.start:
			return g.strange("a record does not belong to the shard")
		case g.seen[at/64]>>(at%64)&1 != 0:
			return fmt.Errorf("%s: record %d came twice: it was repeated between Read and Write", g.file, at)
		}
		g.seen[at/64] |= 1 << (at % 64)
		b.places[i], b.data = int64(place), b.data[size:]
	}
	g.records += int64(n)
	framing := tfrecord.Framing{MaxRecord: g.o.MaxRecord}
	at := 0
	for i := range b.sizes {
		frame, v := framing.Check(b.data[at:])
		if v != tfrecord.FrameWhole {
			return g.strange("a record is not what Read returned")
		}
		b.sizes[i] = frame
		at += frame
	}
	if at < len(b.data) {
		return g.strange("it has data after its records")
	}
	if err := g.work(ctx, b); err != nil {
		return err
	}
	return g.spread(b)
}

func (g *collector) strange(what string) error {
	return fmt.Errorf("%s: a batch of records was changed between Read and Write: %s", g.file, what)
}

// write writes the shard and records that it is finished.
func (g *collector) write(ctx context.Context) (*setdir.Done, error) {
	w := g.newPlacedWriter(1)
	if err := w.wait(w.lot(ctx, &g.places.lots[0])); err != nil {
		return nil, err
	}
	if err := g.dir.SyncNames(); err != nil {
		return nil, err
	}
	done := &setdir.Done{Shard: g.targets[g.at.target].infos[g.at.shard], Plan: g.plan.id, Samples: g.records}
	if !g.in.known {
		seen, err := json.Marshal(g.scans.Total())
		if err != nil {
			return nil, err
		}
		done.Seen = seen
	}
	return done, g.dir.Shards().PutDone(done)
}
