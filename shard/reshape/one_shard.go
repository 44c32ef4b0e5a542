package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// oneShard is a shard whose records come in any order, each with its position in its target.
type oneShard struct {
	*arrangement
	at shardAt
}

// newOneShard returns a shard of a target, without records. Its caller closes it.
func (t *transfer) newOneShard(target int, number int64) *oneShard {
	a := t.newArrangement(assign.Unchanged{})
	o := &oneShard{arrangement: a, at: a.shardAt(target, number)}
	records := o.at.behind - o.at.start
	memory := t.in.Memory
	bucket := max(memory/32, leastBucket)
	size := int64(float64(t.in.Unpacked()) * float64(records) / float64(max(a.base[len(a.base)-1], 1)))
	a.number = int(max(min((size+bucket-1)/bucket+1, memory/4/spill.LeastBlock, records), 1))
	a.places = placeShards([]shardAt{o.at}, max(records/int64(a.number), 1))
	a.number = a.places.buckets()
	a.spill = spill.New(a.number, a.number, memory*3/8, func() (spill.File, error) {
		f, err := t.dir.TempFile("order")
		return osfile.NewFile(t.dir.Context(), f), err
	})
	return o
}

// add adds the records of a block, whose places are set. It changes the block.
func (o *oneShard) add(ctx context.Context, b *source.Block) error {
	if err := o.work(ctx, b); err != nil {
		return err
	}
	return o.spread(ctx, b)
}

// write writes the shard, all of whose records have been added.
func (o *oneShard) write(ctx context.Context) (manifest.Shard, error) {
	w := o.newPlacedWriter(1)
	if err := w.wait(w.lot(ctx, &o.places.lots[0])); err != nil {
		return manifest.Shard{}, err
	}
	return o.targets[o.at.target].infos[o.at.shard], nil
}

// close releases the memory and the temporary file.
func (o *oneShard) close() error { return o.spill.Close() }
