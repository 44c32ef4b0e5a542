package transfer

import (
	"context"

	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// OneShard is a shard whose records come in any order, each with its position in its target.
type OneShard struct {
	*arrangement
	at shardAt
}

// NewOneShard returns a shard of a target, without records. Its caller closes it.
func (t *Transfer) NewOneShard(target int, number int64) *OneShard {
	a := t.newArrangement(assign.Unchanged{})
	o := &OneShard{arrangement: a, at: a.shardAt(target, number)}
	records := o.at.behind - o.at.start
	memory := t.In.Memory
	bucket := max(memory/32, leastBucket)
	size := int64(float64(t.In.Unpacked()) * float64(records) / float64(max(a.base[len(a.base)-1], 1)))
	a.number = int(max(min((size+bucket-1)/bucket+1, memory/4/spill.LeastBlock, records), 1))
	a.places = placeShards([]shardAt{o.at}, max(records/int64(a.number), 1))
	a.number = a.places.buckets()
	a.spill = spill.New(a.number, a.number, memory*3/8, func() (spill.File, error) {
		f, err := t.Dir.TempFile("order")
		return osfile.NewFile(t.Dir.Context(), f), err
	})
	return o
}

// Add adds the records of a block, whose places are set. It changes the block.
func (o *OneShard) Add(ctx context.Context, b *source.Block) error {
	if err := o.Work(ctx, b); err != nil {
		return err
	}
	return o.spread(ctx, b)
}

// Write writes the shard, all of whose records have been added.
func (o *OneShard) Write(ctx context.Context) (manifest.Shard, error) {
	w := o.newPlacedWriter(1)
	if err := w.wait(w.lot(ctx, &o.places.lots[0])); err != nil {
		return manifest.Shard{}, err
	}
	return o.Targets[o.at.target].Infos[o.at.shard], nil
}

// Close releases the memory and the temporary file.
func (o *OneShard) Close() error { return o.spill.Close() }
