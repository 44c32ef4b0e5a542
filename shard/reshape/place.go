package reshape

import (
	"context"
	"slices"
	"sort"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/spill"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// placing divides the positions of an order by record number into buckets, and the shards into lots
// that are written in parallel: either one shard with several buckets, or several shards with one
// bucket.
type placing struct {
	lots   []shardLot
	starts []int64 // position of the first record of each bucket, and the end of the last
	shift  uint
	guess  []int32 // by (place-starts[0])>>shift: the bucket of the first position in that range
}

// shardLot is a range of shards, and of the buckets that hold their records.
type shardLot struct {
	shards          []shardAt
	bucket, buckets int
}

// shardAt is a shard and the range of its records' positions.
type shardAt struct {
	target int
	shard  int64
	start  int64
	behind int64 // position after the last record
}

// newPlacing makes about a.number buckets.
func (a *arrangement) newPlacing() *placing {
	var shards []shardAt
	for t := range a.targets {
		for k := range a.targets[t].shards {
			shards = append(shards, a.shardAt(t, k))
		}
	}
	return placeShards(shards, max(a.base[len(a.targets)]/int64(a.number), 1))
}

func (a *arrangement) shardAt(target int, shard int64) shardAt {
	layout, base := a.targets[target].layout, a.base[target]
	return shardAt{target, shard, base + layout.start(shard), base + layout.start(shard+1)}
}

// placeShards makes buckets of about each records for shards with consecutive positions.
func placeShards(shards []shardAt, each int64) *placing {
	p := &placing{}
	var small shardLot
	var held int64
	flush := func() {
		if len(small.shards) > 0 {
			small.bucket, small.buckets = len(p.starts), 1
			p.starts = append(p.starts, small.shards[0].start)
			p.lots = append(p.lots, small)
		}
		small, held = shardLot{}, 0
	}
	for _, s := range shards {
		n := s.behind - s.start
		if n <= each {
			if held+n > each {
				flush()
			}
			small.shards = append(small.shards, s)
			held += n
			continue
		}
		flush()
		l := shardLot{shards: []shardAt{s}, bucket: len(p.starts), buckets: int((n + each - 1) / each)}
		for i := range int64(l.buckets) {
			p.starts = append(p.starts, s.start+i*(n/int64(l.buckets))+min(i, n%int64(l.buckets)))
		}
		p.lots = append(p.lots, l)
	}
	flush()
	behind := shards[len(shards)-1].behind
	p.starts = append(p.starts, behind)
	for (behind-p.starts[0])>>p.shift > int64(4*len(p.starts)) {
		p.shift++
	}
	for at, b := p.starts[0], 0; at < behind; at += 1 << p.shift {
		for p.starts[b+1] <= at {
			b++
		}
		p.guess = append(p.guess, int32(b))
	}
	return p
}

func (p *placing) buckets() int { return len(p.starts) - 1 }

// bucket returns the bucket that contains a position.
func (p *placing) bucket(place int64) int {
	b := int(p.guess[(place-p.starts[0])>>p.shift])
	for p.starts[b+1] <= place {
		b++
	}
	return b
}

// writePlaced writes the lots, several in parallel as memory allows.
func (a *arrangement) writePlaced(ctx context.Context) error {
	w := &placedWriter{
		arrangement: a, budget: par.NewBudget(a.o.memory() / 2),
		free: make(chan *placed, a.o.workers()), commits: newCommits(),
	}
	workers := a.o.workers()
	err := par.Map(ctx, workers, workers,
		func(_ context.Context, give func(*shardLot) error) error {
			for i := range a.places.lots {
				if err := give(&a.places.lots[i]); err != nil {
					return err
				}
			}
			return nil
		},
		w.lot,
		func(*shardLot) error { return nil })
	return w.commits.wait(err)
}

// placedWriter writes shards whose records are in buckets.
type placedWriter struct {
	*arrangement
	budget  *par.Budget
	free    chan *placed
	commits *commits
}

// placed is a bucket being written.
type placed struct {
	data []byte
	rows []int // offset in data of the row for each position
	out  block // the next records of a shard
}

// lot writes the shards of a lot.
func (w *placedWriter) lot(ctx context.Context, l *shardLot) (err error) {
	var open *openShard
	defer func() {
		if open != nil {
			open.Abort()
		}
	}()
	shards := l.shards
	for bucket := l.bucket; bucket < l.bucket+l.buckets; bucket++ {
		at, behind := w.places.starts[bucket], w.places.starts[bucket+1]
		size := int64(w.spill.Size(bucket))
		charge := size + 8*(behind-at)
		if err := w.budget.Acquire(ctx, charge); err != nil {
			return err
		}
		p := w.get()
		if err := p.load(w.spill, bucket, at, behind); err != nil {
			return err
		}
		for at < behind || bucket == l.bucket+l.buckets-1 && len(shards) > 0 {
			if open == nil {
				if open, err = w.openShard(shards[0].target, shards[0].shard); err != nil {
					return err
				}
			}
			next := min(behind, shards[0].behind)
			if err := p.write(open, p.rows[at-w.places.starts[bucket]:next-w.places.starts[bucket]]); err != nil {
				return err
			}
			if at = next; at == shards[0].behind {
				full := open
				open, shards = nil, shards[1:]
				if err := w.commits.add(ctx, full); err != nil {
					return err
				}
			}
		}
		w.put(p)
		w.budget.Release(charge)
	}
	return nil
}

func (w *placedWriter) get() *placed {
	select {
	case p := <-w.free:
		return p
	default:
		return new(placed)
	}
}

// put keeps a bucket's memory for the next one, unless it is much larger than needed.
func (w *placedWriter) put(p *placed) {
	if int64(cap(p.data)) > w.o.memory()/8 {
		p.data = nil
	}
	select {
	case w.free <- p:
	default:
	}
}

// load reads a bucket with the positions from at to behind.
func (p *placed) load(s *spill.Spill, bucket int, at, behind int64) error {
	if size := s.Size(bucket); cap(p.data) < size {
		p.data = make([]byte, 0, size+min(size/8, leastAlone)) // the next one may be a little larger
	}
	data, err := s.Take(bucket, p.data[:0])
	if err != nil {
		return err
	}
	p.data = data
	if n := int(behind - at); cap(p.rows) < n {
		p.rows = make([]int, n)
	}
	p.rows = p.rows[:behind-at]
	for from := 0; from < len(data); {
		row, next := spill.Parse(data, from)
		p.rows[int64(row.Key)-at] = from
		from = next
	}
	return nil
}

// gathered is how many bytes of records are collected before they are written: more than the buffer
// of a shard, so that it does not copy them again. A record of at least leastDirect bytes is
// written by itself.
const (
	gathered    = 384 << 10
	leastDirect = 64 << 10
)

// write writes rows to a shard.
func (p *placed) write(to *openShard, rows []int) error {
	b := &p.out
	flush := func() error {
		if len(b.sizes) == 0 {
			return nil
		}
		err := to.add(b, 0, len(b.sizes), b.data)
		b.data, b.sizes, b.labels = b.data[:0], b.sizes[:0], b.labels[:0]
		return err
	}
	for i, at := range rows {
		if i%touched == 0 {
			for _, at := range rows[i:min(i+touched, len(rows))] {
				touch(p.data, at)
			}
		}
		row, _ := spill.Parse(p.data, at)
		frame := p.data[row.From:row.To]
		alone := len(frame) >= leastDirect
		if alone || len(b.data)+len(frame) > gathered {
			if err := flush(); err != nil {
				return err
			}
		}
		b.sizes, b.labels = append(b.sizes, len(frame)), append(b.labels, labelOf(&row))
		if !alone {
			b.data = append(b.data, frame...)
			continue
		}
		if err := to.add(b, 0, 1, frame); err != nil {
			return err
		}
		b.sizes, b.labels = b.sizes[:0], b.labels[:0]
	}
	return flush()
}

// touched is the number of rows that are touched before they are written.
const touched = 16

// touch brings the beginning of a row into the processor's cache. Rows are in no order in memory:
// touching several waits for all of them at once, and reading one after another for each. Inlined,
// it would have no effect to keep.
//
//go:noinline
func touch(data []byte, at int) (sum byte) {
	row := data[at:min(at+256, len(data))]
	for i := 0; i < len(row); i += 64 {
		sum += row[i]
	}
	return sum
}

// leastFetched is the average record size from which reading records individually is no slower than
// reading everything twice and writing it once.
const leastFetched = 64 << 10

// leastRequested is leastFetched for object stores: each record takes one request to find it and
// one to read it, and each request takes as long as streaming megabytes.
const leastRequested = 8 << 20

// mostFetched is the maximum number of input files open for reading individual records.
const mostFetched = 128

// fetchable reports whether the records, size bytes in total, are large enough to be read from the
// inputs in the new order.
func (a *arrangement) fetchable(size int64) bool {
	n := a.base[len(a.targets)]
	least := int64(leastFetched)
	if slices.ContainsFunc(a.in.files, func(f *input) bool { return storage.Remote(f.Path) }) {
		least = leastRequested
	}
	if a.log != nil || size/n < least || 8*n > a.o.memory()/4 || len(a.in.files) > mostFetched {
		return false
	}
	for _, f := range a.in.files {
		if f.Compression != tfrecord.None {
			return false
		}
	}
	return true
}

// fileAt returns the file that contains the record with the given number in its split.
func fileAt(files []*fetched, number int64) *fetched {
	return files[sort.Search(len(files), func(i int) bool { return files[i].first > number })-1]
}
