package reshape

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/tfrec/tfrec/internal/osfile"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/random"
	"github.com/tfrec/tfrec/internal/spill"
)

// ordering is an order of the records in each target.
type ordering interface {
	// begin is called once the number of records of each target is known, before the other methods,
	// which may be called concurrently.
	begin(ctx context.Context, r *reshaping, buckets int) error
	// place returns the new position of record number n of a target, for an order by record number.
	place(target int, n int64) int64
	// appendKey appends the sort key of a record to dst, for an order by key: records are sorted by
	// the bytes of their keys, then by number.
	appendKey(dst []byte, r *record) ([]byte, error)
	// filled is called after all records have gone through appendKey or place.
	filled() error
	// cuts returns the exclusive upper bounds of all buckets but the last; nil for an order by
	// record number.
	cuts() []cutPoint
}

// cutPoint is a point in the order of sorted records.
type cutPoint struct {
	key    []byte // prefixed with the target
	number int64
}

// shuffled is a random order.
type shuffled struct {
	seed  uint64
	perms []random.Permutation
}

func (s *shuffled) begin(_ context.Context, r *reshaping, _ int) error {
	for i, t := range r.targets {
		s.perms = append(s.perms, random.NewPermutation(t.records, random.Key(s.seed, uint64(i))))
	}
	return nil
}

func (s *shuffled) place(target int, n int64) int64                 { return s.perms[target].At(n) }
func (s *shuffled) appendKey(dst []byte, _ *record) ([]byte, error) { return dst, nil }
func (s *shuffled) filled() error                                   { return nil }
func (s *shuffled) cuts() []cutPoint                                { return nil }

// unchanged keeps records in their existing order; it is for more targets than can be written at
// the same time.
type unchanged struct{}

func (unchanged) begin(context.Context, *reshaping, int) error    { return nil }
func (unchanged) place(_ int, n int64) int64                      { return n }
func (unchanged) appendKey(dst []byte, _ *record) ([]byte, error) { return dst, nil }
func (unchanged) filled() error                                   { return nil }
func (unchanged) cuts() []cutPoint                                { return nil }

// arrangement distributes the records to buckets, each a range of the new order that is small
// enough to sort in memory, and then writes the buckets in order. What does not fit in memory is
// spilled to a file.
type arrangement struct {
	*reshaping
	order  ordering
	cuts   []cutPoint // nil for an order by record number
	places *placing   // for an order by record number
	spill  *spill.Spill
	number int     // of buckets
	base   []int64 // position of the first record of each target, and the total at the end
}

// leastBucket is the minimum target size of a bucket in bytes.
const leastBucket = 64 << 10

// arrange writes the shards with their records in a new order.
func (r *reshaping) arrange(ctx context.Context) error {
	a := &arrangement{reshaping: r, order: r.verb.order, base: make([]int64, len(r.targets)+1)}
	if a.order == nil {
		a.order = unchanged{}
	}
	for i, t := range r.targets {
		a.base[i+1] = a.base[i] + t.records
	}
	// At least a quarter of the memory is for filling the buckets, and a thirty-second is the
	// target size of one bucket, several of which are written at the same time. The remainder is
	// for everything else and for garbage collector slack.
	memory := r.o.memory()
	size := r.in.unpacked()
	bucket := max(memory/32, leastBucket)
	a.number = int(min((size+bucket-1)/bucket+1, memory/4/spill.LeastBlock, a.base[len(r.targets)]))
	if err := a.order.begin(ctx, r, a.number); err != nil {
		return err
	}
	held := memory / 4
	if a.cuts = a.order.cuts(); a.cuts != nil {
		a.number = len(a.cuts) + 1
	} else {
		if s, ok := a.order.(*shuffled); ok && a.fetchable(size) {
			return a.fetch(ctx, s)
		}
		a.places = a.newPlacing()
		a.number = a.places.buckets()
		held = memory * 3 / 8
	}
	a.spill = spill.New(a.number, a.number, held, func() (spill.File, error) {
		f, err := r.dir.TempFile("order")
		return osfile.NewFile(ctx, f), err
	})
	defer a.spill.Close()
	if err := a.fill(ctx); err != nil {
		return err
	}
	if err := a.order.filled(); err != nil {
		return err
	}
	if a.places != nil {
		return a.writePlaced(ctx)
	}
	return a.empty(ctx, bucket)
}

// fill distributes all records to the buckets.
func (a *arrangement) fill(ctx context.Context) error {
	workers := a.o.workers()
	s := a.in.stream()
	defer s.close()
	a.in.plan()
	seen := make([]int64, len(a.targets)) // records of each target so far
	number := func(b *block) {
		for i := range b.sizes {
			t := b.target(i)
			if t == drop {
				b.places = append(b.places, 0)
				continue
			}
			b.places = append(b.places, seen[t])
			seen[t]++
		}
	}
	return par.Map(ctx, workers, 2*workers+2,
		func(ctx context.Context, give func(*block) error) error { return a.deal(ctx, s, number, give) },
		func(_ context.Context, b *block) error {
			if err := a.work(ctx, b); err != nil {
				return err
			}
			return a.spread(b)
		},
		func(b *block) error {
			a.in.done(b)
			s.put(b)
			return nil
		})
}

// leastAlone is the minimum size of a frame that is spilled directly instead of in a batch.
const leastAlone = 1 << 20

// spread adds the records of a block to their buckets.
func (a *arrangement) spread(b *block) error {
	batch := spill.GetBatch()
	defer batch.Free()
	var err error
	if a.cuts == nil {
		err = a.spreadPlaced(b, batch)
	} else {
		err = a.spreadSorted(b, batch)
	}
	if err != nil {
		return err
	}
	return a.spill.Add(batch)
}

// spreadPlaced adds records to a batch with their new positions.
func (a *arrangement) spreadPlaced(b *block, batch *spill.Batch) error {
	at := 0
	for i, size := range b.sizes {
		frame := b.data[at : at+size]
		at += size
		t := b.target(i)
		if t == drop {
			continue
		}
		place := a.base[t] + a.order.place(t, b.places[i])
		row := spill.Row{Key: uint64(place)}
		row.Tag, row.Flag = b.label(i)
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
func (a *arrangement) spreadSorted(b *block, batch *spill.Batch) error {
	rec := recordPool.Get().(*record)
	defer recordPool.Put(rec)
	var key, head []byte // head precedes the frame
	return b.eachRecord(rec, func(i int, rec *record) error {
		t := b.target(i)
		row := spill.Row{Number: rec.number}
		row.Tag, row.Flag = b.label(i)
		var err error
		if key, err = a.order.appendKey(appendTarget(key[:0], t), rec); err != nil {
			return err
		}
		bucket := bucketOf(a.cuts, key, rec.number)
		head = append(binary.AppendUvarint(head[:0], uint64(len(key))), key...)
		frame := b.frame(rec)
		if len(frame) >= leastAlone {
			return a.spill.AddRow(bucket, row, head, frame)
		}
		batch.Begin()
		batch.Data = append(batch.Data, head...)
		batch.End(bucket, row, frame)
		return nil
	})
}

// label returns the label of the i-th record of the block, if it has one and labels are counted.
func (b *block) label(i int) (id int64, ok bool) {
	if len(b.labels) == 0 || b.labels[i] == noLabel {
		return 0, false
	}
	return b.labels[i], true
}

// labelOf returns the label of a row.
func labelOf(row *spill.Row) int64 {
	if row.Flag {
		return row.Tag
	}
	return noLabel
}

// target returns the target of the i-th record of the block.
func (b *block) target(i int) int {
	if len(b.targets) == 0 {
		return b.file.split
	}
	return b.targets[i]
}

// appendTarget appends the target, the prefix of all sort keys.
func appendTarget(dst []byte, target int) []byte {
	return binary.BigEndian.AppendUint16(dst, uint16(target))
}

// prefix returns the first bytes of a key as a number that sorts in the same order.
func prefix(key []byte) uint64 {
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// bucketOf returns the bucket that a record belongs to, given the cuts.
func bucketOf(cuts []cutPoint, key []byte, number int64) int {
	return sort.Search(len(cuts), func(i int) bool {
		return cmp.Or(bytes.Compare(key, cuts[i].key), cmp.Compare(number, cuts[i].number)) < 0
	})
}

// loaded is a bucket being written.
type loaded struct {
	bucket int
	data   []byte
	rows   []sortedRow
}

// sortedRow is the position of a row in a bucket, and the first bytes of its sort key as numbers.
type sortedRow struct {
	group uint32
	key   uint64
	at    int
}

// groupSize is the length in bytes of a key's group: the target, and whether there is a value.
const groupSize = 3

// empty writes the buckets of sorted records.
func (a *arrangement) empty(ctx context.Context, size int64) error {
	out := newShardWriters(a.reshaping)
	free := make(chan *loaded, 4)
	var largest int
	for bucket := range a.number {
		largest = max(largest, a.spill.Size(bucket))
	}
	room := min(size+size/2, int64(largest))
	held := par.NewBudget(a.o.memory() / 2)
	var next block
	err := par.Map(ctx, min(a.o.workers(), 2), 2,
		func(ctx context.Context, give func(*loaded) error) error {
			for bucket := range a.number {
				if err := held.Acquire(ctx, int64(a.spill.Size(bucket))); err != nil {
					return err
				}
				l := new(loaded)
				select {
				case l = <-free:
				default:
				}
				if l.data == nil {
					l.data = make([]byte, 0, room)
				}
				l.bucket = bucket
				if err := give(l); err != nil {
					return err
				}
			}
			return nil
		},
		func(_ context.Context, l *loaded) error { return a.load(l) },
		func(l *loaded) error {
			err := l.write(ctx, out, &next)
			size := int64(len(l.data))
			if int64(cap(l.data)) <= 2*int64(room) {
				select {
				case free <- l:
				default:
				}
			}
			held.Release(size)
			return err
		})
	return out.close(ctx, err)
}

// load reads a bucket and sorts it.
func (a *arrangement) load(l *loaded) error {
	data, err := a.spill.Take(l.bucket, l.data[:0])
	if err != nil {
		return err
	}
	l.data, l.rows = data, l.rows[:0]
	for at := 0; at < len(data); {
		row, next := spill.Parse(data, at)
		key, _ := cutKey(data[row.From:row.To])
		s := sortedRow{key: prefix(key[groupSize:]), at: at}
		s.group = uint32(key[0])<<16 | uint32(key[1])<<8 | uint32(key[2])
		l.rows = append(l.rows, s)
		at = next
	}
	slices.SortFunc(l.rows, func(x, y sortedRow) int {
		if x.group != y.group {
			return cmp.Compare(x.group, y.group)
		}
		if x.key != y.key {
			return cmp.Compare(x.key, y.key)
		}
		r, _ := spill.Parse(data, x.at)
		s, _ := spill.Parse(data, y.at)
		k, _ := cutKey(data[r.From:r.To])
		m, _ := cutKey(data[s.From:s.To])
		return cmp.Or(bytes.Compare(k, m), cmp.Compare(r.Number, s.Number))
	})
	return nil
}

// cutKey splits a row of sorted records into its key and its frame.
func cutKey(row []byte) (key, frame []byte) {
	n, skip := binary.Uvarint(row)
	return row[skip : skip+int(n)], row[skip+int(n):]
}

// write writes the records of a sorted bucket, collecting them in b to write many at once.
func (l *loaded) write(ctx context.Context, to *shardWriters, b *block) error {
	flush := func() error {
		if len(b.sizes) == 0 {
			return nil
		}
		err := to.block(ctx, b)
		b.data, b.sizes, b.targets, b.labels = b.data[:0], b.sizes[:0], b.targets[:0], b.labels[:0]
		return err
	}
	for i, s := range l.rows {
		if i%touched == 0 {
			for _, s := range l.rows[i:min(i+touched, len(l.rows))] {
				touch(l.data, s.at)
			}
		}
		row, _ := spill.Parse(l.data, s.at)
		_, frame := cutKey(l.data[row.From:row.To])
		target := int(s.group >> 8)
		large := len(frame) >= leastDirect
		if large || len(b.data)+len(frame) > gathered {
			if err := flush(); err != nil {
				return err
			}
		}
		if large {
			alone := block{data: frame, sizes: []int{len(frame)}, targets: []int{target}, labels: []int64{labelOf(&row)}}
			if err := to.block(ctx, &alone); err != nil {
				return err
			}
			continue
		}
		b.data = append(b.data, frame...)
		b.sizes, b.targets, b.labels = append(b.sizes, len(frame)), append(b.targets, target), append(b.labels, labelOf(&row))
	}
	return flush()
}
