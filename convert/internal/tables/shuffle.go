package tables

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/set/spill"
)

// shuffle puts the rows of each split into a random order across all of its shards. Two hashes of a
// row determine its shard and its position there. The rows are encoded in input order and
// distributed to buckets, each a range of the order in one shard and small enough to be sorted in
// memory; what exceeds Options.Memory is in a temporary file.
type shuffle struct {
	*tableSource
	splits  []shuffledSplit // by split
	buckets []int           // first bucket of each shard; one more at the end
	spill   *spill.Spill
}

// shuffledSplit maps the rows of a split to shards.
type shuffledSplit struct {
	first, count int
	cuts         []bound // where the second and later shards begin; nil: equal ranges of the hash
}

// newShuffle reassigns the rows of the planned splits to their shards.
func newShuffle(ctx context.Context, s *tableSource) (*shuffle, error) {
	sh := &shuffle{tableSource: s, splits: make([]shuffledSplit, len(s.splits))}
	for i, r := range s.ranges {
		split := &sh.splits[r.split]
		if split.count == 0 {
			split.first = i
		}
		split.count++
	}
	for i := range sh.splits {
		if err := sh.planSplit(ctx, i); err != nil {
			return nil, err
		}
	}
	// A quarter of the memory is for filling the buckets and a quarter for the pieces in flight,
	// which hold a bucket twice: unsorted and sorted. The garbage collector may let the heap grow
	// to twice that.
	size := max(s.o.Memory/8/int64(2*s.o.Goroutines()+2), 1<<20)
	var total int64
	for _, j := range s.planned {
		total += j.Samples * s.estimate()
	}
	if total < s.o.heldRows() {
		size = min(size, 2<<20) // nothing will be read back from disk: small ones sort faster
	}
	n := 0
	for _, j := range s.planned {
		sh.buckets = append(sh.buckets, n)
		n += int((j.Samples*s.estimate() + size - 1) / size)
	}
	sh.buckets = append(sh.buckets, n)
	return sh, nil
}

// heldRows is the number of bytes of rows that Shuffle keeps in memory before it spills to disk.
func (o *TableOptions) heldRows() int64 { return o.Memory / 4 }

// planSplit counts the rows of each shard of a split. As with images, each has an equal range of
// the hash, unless that leaves one below half or above twice the mean.
func (sh *shuffle) planSplit(ctx context.Context, n int) error {
	split := &sh.splits[n]
	if split.count == 0 {
		return nil
	}
	each := func(yield func(uint64, int64)) error {
		return sh.eachRow(ctx, func(f *inputFile, row int64) {
			if sh.pick.split(f, row) == n {
				yield(f.hashers.shard.Number(row), f.FirstRow+row)
			}
		})
	}
	counts := make([]int, split.count)
	if err := each(func(hash uint64, _ int64) { counts[shares.RangeOf(hash, split.count)]++ }); err != nil {
		return err
	}
	rows := sh.preceding[n][len(sh.chunks)]
	if sh.o.Even || !plan.Balanced(counts, int(rows)) {
		var ranks []int64
		for i := 1; i < split.count; i++ {
			ranks = append(ranks, rowCut(int64(i), int64(split.count), rows))
		}
		var err error
		if split.cuts, err = bounds(each, rows, ranks); err != nil {
			return err
		}
		for i := range counts {
			counts[i] = int(rowCut(int64(i)+1, int64(split.count), rows) - rowCut(int64(i), int64(split.count), rows))
		}
	}
	for i, count := range counts {
		sh.planned[split.first+i].Samples = int64(count)
	}
	return nil
}

// shard returns the shard of a row of a split.
func (s *shuffledSplit) shard(hash uint64, row int64) int {
	if s.cuts == nil {
		return s.first + shares.RangeOf(hash, s.count)
	}
	return s.first + sort.Search(len(s.cuts), func(i int) bool { return s.cuts[i].above(hash, row) })
}

// identity is the identity of each shard: all of the input, as any row may be in any shard.
func (sh *shuffle) identity() []byte {
	h := xxh3.New()
	for c := range sh.chunks {
		h.Write(sh.identityOf(nil, part{chunk: c, to: sh.chunks[c].Rows}))
	}
	sum := h.Sum128().Bytes()
	return sum[:]
}

// prepare encodes the rows of the given shards and distributes them to their buckets.
func (sh *shuffle) prepare(ctx context.Context, shards []int) error {
	wanted := make([]bool, len(sh.planned))
	left := 0
	progress := sh.o.Progress
	if progress == nil {
		progress = new(plan.Progress)
	}
	progress.Scanned.Store(0) // reset after a failed attempt
	progress.ToScan.Store(0)
	for _, j := range shards {
		progress.ToScan.Add(sh.planned[j].Samples)
		wanted[j] = true
		left += sh.buckets[j+1] - sh.buckets[j]
	}
	if sh.spill != nil { // of a failed attempt
		_ = sh.spill.Close()
	}
	sh.spill = spill.New(sh.buckets[len(sh.planned)], left, sh.o.heldRows(), func() (spill.File, error) { return sh.dir.TempFile("shuffle") })
	workers := min(sh.o.Goroutines(), runtime.GOMAXPROCS(0))
	chunks := make(chan *openChunk, workers)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(chunks)
		for i := range sh.chunks {
			c := sh.nextChunk(i)
			if err := c.ReadAhead(ctx); err != nil {
				return err
			}
			select {
			case chunks <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			for c := range chunks {
				if err := sh.deal(ctx, c, wanted, progress); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// deal encodes the rows of a chunk and puts them into their buckets.
func (sh *shuffle) deal(ctx context.Context, c *openChunk, wanted []bool, progress *plan.Progress) error {
	if err := c.Read(ctx); err != nil {
		return err
	}
	defer c.Done()
	e := sh.encoders.Get().(*rowEncoder)
	defer sh.encoders.Put(e)
	if err := e.begin(c.Chunk); err != nil {
		return err
	}
	batch := spill.GetBatch()
	defer batch.Free()
	row, dealt := c.FirstRow-1, int64(0)
	for e.rows.next() {
		row++
		split := sh.pick.split(c.f, row)
		if split < 0 {
			continue
		}
		number := c.f.FirstRow + row
		shard := sh.splits[split].shard(c.f.hashers.shard.Number(row), number)
		if !wanted[shard] {
			continue
		}
		order := c.f.hashers.order.Number(row)
		bucket := sh.buckets[shard] + shares.RangeOf(order, sh.buckets[shard+1]-sh.buckets[shard])
		reason := e.row()
		entry := spill.Row{Key: order, Number: number, Tag: int64(e.label)}
		batch.Begin()
		if reason == "" {
			batch.Data = e.appendFrame(batch.Data)
		} else {
			entry.Flag = true // a ledger entry
			line, err := json.Marshal(e.bad(c.f.File, row, reason))
			if err != nil {
				return fmt.Errorf("ledger: %w", err)
			}
			batch.Data = append(batch.Data, line...)
		}
		batch.End(bucket, entry, nil)
		dealt++
	}
	progress.BytesIn.Add(c.Bytes)
	progress.Scanned.Add(dealt)
	if err := sh.spill.Add(batch); err != nil {
		return fmt.Errorf("shuffle: %w", err)
	}
	return nil
}

// tasks yields one task for each bucket of a shard.
func (sh *shuffle) tasks(shard int) iter.Seq2[plan.Fill, error] {
	return func(yield func(plan.Fill, error) bool) {
		for b := sh.buckets[shard]; b < sh.buckets[shard+1]; b++ {
			t := func(p *plan.Piece) error {
				if b == sh.buckets[shard] {
					p.Identity = append(p.Identity, sh.identity()...)
				}
				return sh.emit(b, p)
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// emit sorts a bucket and writes it to a piece.
func (sh *shuffle) emit(bucket int, p *plan.Piece) error {
	buffer := tablefile.GetBuffer()
	defer tablefile.PutBuffer(buffer)
	data, err := sh.spill.Take(bucket, (*buffer)[:0])
	if err != nil {
		return fmt.Errorf("shuffle: %w", err)
	}
	*buffer = data
	var entries []spill.Row
	for at := 0; at < len(data); {
		var entry spill.Row
		entry, at = spill.Parse(data, at)
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b spill.Row) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Number, b.Number))
	})
	p.Samples = int64(len(entries))
	p.Frames = slices.Grow(p.Frames, len(data))
	for _, entry := range entries {
		payload := data[entry.From:entry.To]
		if entry.Flag {
			var bad setdir.BadSample
			if err := json.Unmarshal(payload, &bad); err != nil {
				return fmt.Errorf("shuffle: %w", err)
			}
			p.Bad = append(p.Bad, bad)
			continue
		}
		p.Frames = append(p.Frames, payload...)
		p.Sizes = append(p.Sizes, len(payload))
		if sh.columns.labels != nil {
			p.Labels = append(p.Labels, int32(entry.Tag))
		}
	}
	return nil
}
