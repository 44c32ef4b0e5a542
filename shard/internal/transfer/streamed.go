package transfer

import (
	"context"

	"github.com/tfrec/tfrec/shard/internal/source"
)

// shardWriters writes the shards of all targets, one shard of each target at a time. A finished
// shard is committed in the background while the next one is being written.
type shardWriters struct {
	transfer *Transfer
	open     []openTarget
	commits  *commits
}

// openTarget is the state of a target.
type openTarget struct {
	w      *openShard // nil before the first record of a shard
	shard  int64
	placed int64 // records in its shards so far
	behind int64 // number of the first record after this shard
}

func newShardWriters(t *Transfer) *shardWriters {
	w := &shardWriters{transfer: t, open: make([]openTarget, len(t.Targets)), commits: newCommits()}
	for i := range w.open {
		w.open[i].behind = t.Targets[i].Start(1)
	}
	return w
}

// block writes the records of a block, in runs of records for the same shard.
func (w *shardWriters) block(ctx context.Context, b *source.Block) error {
	at := 0
	for i := 0; i < len(b.Sizes); {
		t := b.Target(i)
		if t == source.Drop {
			at += b.Sizes[i]
			i++
			continue
		}
		o, err := w.ready(ctx, t)
		if err != nil {
			return err
		}
		first, start := i, at
		for i < len(b.Sizes) && int64(i-first) < o.behind-o.placed && b.Target(i) == t {
			at += b.Sizes[i]
			i++
		}
		o.placed += int64(i - first)
		if err := o.w.add(b, first, i, b.Data[start:at]); err != nil {
			return err
		}
		// A full shard is closed at once rather than with the next record: there may be many
		// targets.
		if o.placed == o.behind {
			if err := w.next(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready returns a target whose open shard has room for a record.
func (w *shardWriters) ready(ctx context.Context, t int) (*openTarget, error) {
	o := &w.open[t]
	for o.placed == o.behind {
		if err := w.next(ctx, t); err != nil {
			return nil, err
		}
	}
	if o.w == nil {
		return o, w.start(t)
	}
	return o, nil
}

func (w *shardWriters) start(t int) (err error) {
	o := &w.open[t]
	o.w, err = w.transfer.openShard(t, o.shard)
	if err == nil {
		o.w.Data.Aside = true // usually one at a time, so the processors are otherwise idle
	}
	return err
}

// next finishes the open shard of a target and advances to the next one.
func (w *shardWriters) next(ctx context.Context, t int) error {
	o := &w.open[t]
	if o.w == nil {
		if err := w.start(t); err != nil { // one without a record
			return err
		}
	}
	full := o.w
	o.w = nil
	o.shard++
	o.behind = w.transfer.Targets[t].Start(o.shard + 1)
	return w.commits.add(ctx, full)
}

// close finishes the last shards, or discards the open ones if the run failed with err, and waits
// for the commits. It returns err or else the first error.
func (w *shardWriters) close(ctx context.Context, err error) error {
	for t := range w.open {
		o := &w.open[t]
		for err == nil && o.shard < w.transfer.Targets[t].Shards {
			err = w.next(ctx, t)
		}
		if o.w != nil {
			o.w.Abort()
			o.w = nil
		}
	}
	return w.commits.wait(err)
}
