package reshape

import (
	"cmp"
	"context"
	"slices"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// transfer copies the records of inputs to the shards of targets.
type transfer struct {
	in   *source.Inputs
	dir  *setdir.Dir // for temporary files
	name string      // of the dataset
	// compression of the shards.
	compression tfrecord.Compression
	targets     []target
	log         *assign.TargetLog // nil if each record stays in its split
	order       assign.Ordering   // nil if records keep their order
	rewrite     rewriter          // nil if records do not change
	label       string            // key of the feature by which labels are counted; empty without one
	scans       features.Scanners
	maxOpen     int // default: maxOpenShards
}

// rewriter appends the new payload of a record to dst. It is called concurrently. It must not keep
// or change the record's data.
type rewriter func(dst []byte, r *source.Record) ([]byte, error)

// target is a split of a set to be made.
type target struct {
	dir   *setdir.Dir
	sub   string // dir in the output directory, with a trailing slash; or empty
	split string
	assign.Layout
	infos []manifest.Shard // of its finished shards
}

func (t *target) shardName(dataset string, number int64) string {
	return shard.Name{Dataset: dataset, Split: t.split, Index: int(number), Count: int(t.Shards)}.String()
}

// assignment returns the inputs with the targets of their records.
func (t *transfer) assignment() assign.Assignment {
	a := assign.Assignment{In: t.in, Log: t.log}
	for _, target := range t.targets {
		a.Records = append(a.Records, target.Records)
	}
	return a
}

// write reads the inputs once more and writes the shards. It uses the fastest of several ways, all
// of which give the same bytes:
//
//   - Unchanged order, all files uncompressed: shards are copied in parallel, each from its ranges
//     of the files (spans.go).
//   - Unchanged order, but compressed files or chosen records: blocks of records go through the
//     workers, and then in order to the open shards of their targets (stream.go and this file).
//   - A new order, or more targets than shards that may be open: records are distributed to
//     buckets, which are then sorted in memory one by one (arrange.go, with sort.go for an order by
//     key and place.go for an order by number, such as a shuffle).
//   - A new order of large records in uncompressed files: each record is read from its input when its
//     turn comes (fetch.go), for a sort after its key has been read (fetch_sorted.go).
func (t *transfer) write(ctx context.Context) error {
	t.prepare()
	switch {
	case t.contiguous():
		return t.copySpans(ctx)
	case t.order != nil || len(t.targets) > t.mostOpen():
		return t.arrange(ctx)
	}
	out := newShardWriters(t)
	workers := t.in.Workers
	s := t.in.Stream()
	t.in.Plan()
	err := par.Map(ctx, workers, 2*workers+2,
		func(ctx context.Context, give func(*source.Block) error) error { return t.log.Deal(ctx, s, nil, give) },
		func(ctx context.Context, b *source.Block) error { return t.work(ctx, b) },
		func(b *source.Block) error {
			err := out.block(ctx, b)
			t.in.Done(b)
			s.Put(b)
			return err
		})
	return out.close(ctx, err)
}

// prepare allocates the infos of the shards, and determines the feature by which labels are
// counted.
func (t *transfer) prepare() {
	for i := range t.targets {
		target := &t.targets[i]
		target.infos = make([]manifest.Shard, target.Shards)
	}
	t.label = t.in.BareLabel
	if labels := manifest.LabelKeys(t.in.Described.Features); len(labels) > 0 {
		t.label = labels[0]
	}
}

// maxOpenShards is the maximum number of targets with an open shard at the same time. Records for
// more targets are put in order first.
const maxOpenShards = 64

// maxUploads is maxOpenShards for object stores, where each open shard holds an 8 MiB part that is
// being filled.
const maxUploads = 16

func (t *transfer) mostOpen() int {
	most := cmp.Or(t.maxOpen, maxOpenShards)
	if t.dir.Remote() {
		return min(maxUploads, most)
	}
	return most
}

// work prepares a block for writing: its payloads are verified, scanned and rewritten.
func (t *transfer) work(ctx context.Context, b *source.Block) error {
	if err := b.Check(ctx, t.in.MaxRecord); err != nil {
		return err
	}
	rewrites := b.File.Remap != nil || t.rewrite != nil
	if t.in.Known && t.label == "" && !rewrites {
		return nil
	}
	var scan *features.Scan
	if !t.in.Known {
		scan = t.scans.Get()
		defer t.scans.Put(scan)
	}
	if t.label != "" {
		b.Labels = slices.Grow(b.Labels, len(b.Sizes))[:len(b.Sizes)]
	}
	var changed rewriting
	if rewrites {
		changed.frames = changed.frames[:0]
		changed.sizes = make([]int, len(b.Sizes))
	}
	err := b.EachRecord(ctx, func(i int, rec *source.Record) error {
		if b.File.Remap != nil {
			var err error
			if changed.mapped, err = b.File.Remap.Append(changed.mapped[:0], rec); err != nil {
				return err
			}
			rec.Replace(changed.mapped)
		}
		if scan != nil && !scan.Quick(rec.Data) {
			example, err := rec.Parse()
			scan.AddParsed(rec.Data, example, err)
		}
		if t.label != "" {
			b.Labels[i] = rec.Label(t.label)
		}
		if !rewrites {
			return nil
		}
		return changed.add(i, rec, t.rewrite)
	})
	if err != nil || !rewrites {
		return err
	}
	b.Data, b.Sizes = changed.frames, changed.sizes
	return nil
}

// rewriting holds the rewritten records of a block.
type rewriting struct {
	frames []byte
	sizes  []int
	mapped []byte
}

func (w *rewriting) add(i int, r *source.Record, rewrite rewriter) error {
	start := len(w.frames)
	frames, mark := tfrecord.BeginFrame(w.frames)
	if rewrite == nil {
		frames = append(frames, r.Data...)
	} else {
		var err error
		if frames, err = rewrite(frames, r); err != nil {
			return err
		}
	}
	w.frames = tfrecord.EndFrame(frames, mark)
	w.sizes[i] = len(w.frames) - start
	return nil
}

// shardWriters writes the shards of all targets, one shard of each target at a time. A finished
// shard is committed in the background while the next one is being written.
type shardWriters struct {
	transfer *transfer
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

func newShardWriters(t *transfer) *shardWriters {
	w := &shardWriters{transfer: t, open: make([]openTarget, len(t.targets)), commits: newCommits()}
	for i := range w.open {
		w.open[i].behind = t.targets[i].Start(1)
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
	o.behind = w.transfer.targets[t].Start(o.shard + 1)
	return w.commits.add(ctx, full)
}

// close finishes the last shards, or discards the open ones if the run failed with err, and waits
// for the commits. It returns err or else the first error.
func (w *shardWriters) close(ctx context.Context, err error) error {
	for t := range w.open {
		o := &w.open[t]
		for err == nil && o.shard < w.transfer.targets[t].Shards {
			err = w.next(ctx, t)
		}
		if o.w != nil {
			o.w.Abort()
			o.w = nil
		}
	}
	return w.commits.wait(err)
}
