package transfer

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

// Transfer copies the records of inputs to the shards of targets.
type Transfer struct {
	// In are the inputs, counted.
	In *source.Inputs
	// Dir is the output directory, for temporary files.
	Dir *setdir.Dir
	// Name is the name of the dataset, and Compression the compression of the shards.
	Name        string
	Compression tfrecord.Compression
	// Targets are the splits to make. Write puts the infos of finished shards there.
	Targets []Target
	// Log has the target of each record; nil if each stays in its split.
	Log *assign.TargetLog
	// Order is the order of the records in each target; nil if they keep theirs.
	Order assign.Ordering
	// Rewrite changes the records; nil if they do not change.
	Rewrite Rewriter
	// Label is the key of the feature by which labels are counted; empty without one.
	Label string
	// Scans collect the features of the records, unless the inputs' are known.
	Scans features.Scanners
	// MaxOpen is the maximum number of targets with an open shard at the same time. Default: 64.
	MaxOpen int
}

// Rewriter appends the new payload of a record to dst. It is called concurrently. It must not keep
// or change the record's data.
type Rewriter func(dst []byte, r *source.Record) ([]byte, error)

// Target is a split of a set to be made.
type Target struct {
	Dir   *setdir.Dir
	Sub   string // dir in the output directory, with a trailing slash; or empty
	Split string
	assign.Layout
	Infos []manifest.Shard // of its finished shards
}

// ShardName returns the name of a shard of the target.
func (t *Target) ShardName(dataset string, number int64) string {
	return shard.Name{Dataset: dataset, Split: t.Split, Index: int(number), Count: int(t.Shards)}.String()
}

// Assignment returns the inputs with the targets of their records.
func (t *Transfer) Assignment() assign.Assignment {
	a := assign.Assignment{In: t.In, Log: t.Log}
	for _, target := range t.Targets {
		a.Records = append(a.Records, target.Records)
	}
	return a
}

// Write reads the inputs once more and writes the shards. It uses the fastest of several ways, all
// of which give the same bytes:
//
//   - Unchanged order, all files uncompressed: shards are copied in parallel, each from its ranges
//     of the files (spans.go).
//   - Unchanged order, but compressed files or chosen records: blocks of records go through the
//     workers, and then in order to the open shards of their targets (streamed.go).
//   - A new order, or more targets than shards that may be open: records are distributed to
//     buckets, which are then sorted in memory one by one (arrange.go, with sort_rows.go for an order
//     by key and place.go for an order by number, such as a shuffle).
//   - A new order of large records in uncompressed files: each record is read from its input when its
//     turn comes (fetch.go), for a sort after its key has been read (fetch_sorted.go).
func (t *Transfer) Write(ctx context.Context) error {
	t.Prepare()
	switch {
	case t.contiguous():
		return t.copySpans(ctx)
	case t.Order != nil || len(t.Targets) > t.mostOpen():
		return t.arrange(ctx)
	}
	out := newShardWriters(t)
	workers := t.In.Workers
	s := t.In.Stream()
	t.In.Plan()
	err := par.Map(ctx, workers, 2*workers+2,
		func(ctx context.Context, give func(*source.Block) error) error { return t.Log.Deal(ctx, s, nil, give) },
		func(ctx context.Context, b *source.Block) error { return t.Work(ctx, b) },
		func(b *source.Block) error {
			err := out.block(ctx, b)
			t.In.Done(b)
			s.Put(b)
			return err
		})
	return out.close(ctx, err)
}

// Prepare allocates the infos of the shards, and determines the feature by which labels are
// counted.
func (t *Transfer) Prepare() {
	for i := range t.Targets {
		target := &t.Targets[i]
		target.Infos = make([]manifest.Shard, target.Shards)
	}
	t.Label = t.In.BareLabel
	if labels := manifest.LabelKeys(t.In.Described.Features); len(labels) > 0 {
		t.Label = labels[0]
	}
}

// maxOpenShards is the maximum number of targets with an open shard at the same time. Records for
// more targets are put in order first.
const maxOpenShards = 64

// maxUploads is maxOpenShards for object stores, where each open shard holds an 8 MiB part that is
// being filled.
const maxUploads = 16

func (t *Transfer) mostOpen() int {
	most := cmp.Or(t.MaxOpen, maxOpenShards)
	if t.Dir.Remote() {
		return min(maxUploads, most)
	}
	return most
}

// Work prepares a block for writing: its payloads are verified, scanned and rewritten.
func (t *Transfer) Work(ctx context.Context, b *source.Block) error {
	if err := b.Check(ctx, t.In.MaxRecord); err != nil {
		return err
	}
	rewrites := b.File.Remap != nil || t.Rewrite != nil
	if t.In.Known && t.Label == "" && !rewrites {
		return nil
	}
	var scan *features.Scan
	if !t.In.Known {
		scan = t.Scans.Get()
		defer t.Scans.Put(scan)
	}
	if t.Label != "" {
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
		if t.Label != "" {
			b.Labels[i] = rec.Label(t.Label)
		}
		if !rewrites {
			return nil
		}
		return changed.add(i, rec, t.Rewrite)
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

func (w *rewriting) add(i int, r *source.Record, rewrite Rewriter) error {
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
