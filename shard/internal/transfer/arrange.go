package transfer

import (
	"context"
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// arrangement distributes the records to buckets, each a range of the new order that is small
// enough to sort in memory, and then writes the buckets in order. What does not fit in memory is
// spilled to a file.
type arrangement struct {
	*Transfer
	order  assign.Ordering
	cuts   []assign.CutPoint // nil for an order by record number
	places *placing          // for an order by key: once the buckets are filled
	spill  *spill.Spill
	number int     // of buckets
	base   []int64 // position of the first record of each target, and the total at the end
}

// newArrangement returns an arrangement without buckets.
func (t *Transfer) newArrangement(order assign.Ordering) *arrangement {
	a := &arrangement{Transfer: t, order: order, base: make([]int64, len(t.Targets)+1)}
	if order == nil {
		a.order = assign.Unchanged{}
	}
	for i, target := range t.Targets {
		a.base[i+1] = a.base[i] + target.Records
	}
	return a
}

// leastBucket is the minimum target size of a bucket in bytes.
const leastBucket = 64 << 10

// cachedBucket is the size in bytes of a bucket whose rows a processor's cache holds while they are
// put in order.
const cachedBucket = 1 << 20

// arrange writes the shards with their records in a new order.
func (t *Transfer) arrange(ctx context.Context) error {
	a := t.newArrangement(t.Order)
	// Three eighths of the memory are for filling the buckets, half is for buckets that are being
	// written, each of about a thirty-second. The remainder is for everything else and for garbage
	// collector slack.
	memory := t.In.Memory
	held := memory * 3 / 8
	size := t.In.Unpacked()
	bucket := max(memory/32, leastBucket)
	a.number = int(min((size+bucket-1)/bucket+1, memory/4/spill.LeastBlock, a.base[len(t.Targets)]))
	if s, ok := a.order.(*assign.Sorted); ok && a.fetchable(size, 2) && !a.In.Remapped {
		return a.fetchSorted(ctx, s)
	}
	if err := a.order.Begin(ctx, t.Assignment(), a.number); err != nil {
		return err
	}
	if a.cuts = a.order.Cuts(); a.cuts != nil {
		a.number = len(a.cuts) + 1
	} else {
		if s, ok := a.order.(*assign.Shuffled); ok && a.fetchable(size, 1) {
			return a.fetch(ctx, s.Find)
		}
		// More buckets cost nothing while their blocks have the full size.
		a.number = int(max(int64(a.number), min(size/cachedBucket, held/4/spill.MaxBlock, a.base[len(t.Targets)])))
		a.places = a.newPlacing()
		a.number = a.places.buckets()
	}
	a.spill = spill.New(a.number, a.number, held, func() (spill.File, error) {
		f, err := t.Dir.TempFile("order")
		return osfile.NewFile(ctx, f), err
	})
	defer a.spill.Close()
	if err := a.fill(ctx); err != nil {
		return err
	}
	if err := a.order.Filled(); err != nil {
		return err
	}
	if a.cuts != nil {
		a.places = a.placeSorted()
	}
	return a.writePlaced(ctx)
}

// fill distributes all records to the buckets.
func (a *arrangement) fill(ctx context.Context) error {
	workers := a.In.Workers
	s := a.In.Stream()
	defer s.Close()
	a.In.Plan()
	seen := make([]int64, len(a.Targets)) // records of each target so far
	number := func(b *source.Block) {
		for i := range b.Sizes {
			t := b.Target(i)
			if t == source.Drop {
				b.Places = append(b.Places, 0)
				continue
			}
			b.Places = append(b.Places, seen[t])
			seen[t]++
		}
	}
	return par.Map(ctx, workers, 2*workers+2,
		func(ctx context.Context, give func(*source.Block) error) error {
			return a.Log.Deal(ctx, s, number, give)
		},
		func(ctx context.Context, b *source.Block) error {
			if err := a.Work(ctx, b); err != nil {
				return err
			}
			return a.spread(ctx, b)
		},
		func(b *source.Block) error {
			a.In.Done(b)
			s.Put(b)
			return nil
		})
}

// leastAlone is the minimum size of a frame that is spilled directly instead of in a batch.
const leastAlone = 1 << 20

// spread adds the records of a block to their buckets.
func (a *arrangement) spread(ctx context.Context, b *source.Block) error {
	batch := spill.GetBatch()
	defer batch.Free()
	var err error
	if a.cuts == nil {
		err = a.spreadPlaced(b, batch)
	} else {
		err = a.spreadSorted(ctx, b, batch)
	}
	if err != nil {
		return err
	}
	return a.spill.Add(batch)
}

// spreadPlaced adds records to a batch with their new positions.
func (a *arrangement) spreadPlaced(b *source.Block, batch *spill.Batch) error {
	at := 0
	for i, size := range b.Sizes {
		frame := b.Data[at : at+size]
		at += size
		t := b.Target(i)
		if t == source.Drop {
			continue
		}
		place := a.base[t] + a.order.Place(t, b.Places[i])
		row := spill.Row{Key: uint64(place)}
		row.Tag, row.Flag = b.Label(i)
		if size >= leastAlone {
			if err := a.spill.AddRow(a.places.bucket(place), row, frame); err != nil {
				return err
			}
			continue
		}
		batch.Begin()
		batch.End(a.places.bucket(place), row, frame)
	}
	return nil
}

// spreadSorted adds records to a batch, each with its key before it.
func (a *arrangement) spreadSorted(ctx context.Context, b *source.Block, batch *spill.Batch) error {
	var key, head []byte // head precedes the frame
	return b.EachRecord(ctx, func(i int, rec *source.Record) error {
		t := b.Target(i)
		row := spill.Row{Number: rec.Number}
		row.Tag, row.Flag = b.Label(i)
		var err error
		if key, err = a.order.AppendKey(assign.AppendTarget(key[:0], t), rec); err != nil {
			return err
		}
		bucket := assign.BucketOf(a.cuts, key, rec.Number)
		head = append(binary.AppendUvarint(head[:0], uint64(len(key))), key...)
		frame := b.Frame(rec)
		if len(frame) >= leastAlone {
			return a.spill.AddRow(bucket, row, head, frame)
		}
		batch.Begin()
		batch.Data = append(batch.Data, head...)
		batch.End(bucket, row, frame)
		return nil
	})
}

// labelOf returns the label of a row.
func labelOf(row *spill.Row) int64 {
	if row.Flag {
		return row.Tag
	}
	return source.NoLabel
}
