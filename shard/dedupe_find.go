package shard

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/tfrec/tfrec/internal/spill"
)

// duplicates are the numbers of the records that are like one before them, to
// be asked for in order. They are found by dealing the hashes of all records to
// buckets by their value, sorting each, and dealing what repeats to buckets by
// number; a bucket fits in memory.
type duplicates struct {
	total   int64
	found   *spill.Spill
	buckets int
	at      int         // the bucket that current is of; -1 before the first
	current []duplicate // sorted
}

// duplicate is the number of a record and that of the first one like it.
type duplicate struct{ number, first int64 }

// rowBytes is about what a record takes while a bucket is sorted: its row as it
// was dealt, and as it is parsed.
const rowBytes = 80

// findDuplicates reads all records.
func findDuplicates(ctx context.Context, in *inputs, dir *Dir, o *DedupeOptions) (*duplicates, error) {
	total := in.records()
	// The garbage collector lets the heap grow to twice of what is held: a half
	// of the memory that is for buckets, and for one of them that is sorted.
	held := o.memory() / 2
	buckets := int(total*rowBytes/(held/8)) + 1
	create := func() (spill.File, error) { return dir.TempFile("dedupe") }
	hashes := spill.New(buckets, buckets, held/2, create)
	defer hashes.Close()
	d := &duplicates{total: total, buckets: buckets, at: -1, found: spill.New(buckets, buckets, held/4, create)}
	err := d.deal(ctx, in, hashes, o)
	for b := 0; b < buckets && err == nil; b++ {
		if err = ctx.Err(); err == nil {
			err = d.sort(hashes, b)
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// dealAt is how many rows are dealt at a time.
const dealAt = 1024

// deal puts the hashes of all records into buckets.
func (d *duplicates) deal(ctx context.Context, in *inputs, hashes *spill.Spill, o *DedupeOptions) error {
	by := &byFeature{key: o.By, flag: "by"}
	look := func(r *record) (mark, error) { return hashOf(r.data), nil }
	if o.By != "" {
		look = by.look
	}
	missing := hashOf([]byte{'n'})
	batch := spill.GetBatch()
	defer batch.Free()
	rows := 0
	err := in.eachRecord(ctx, o.workers(), look, func(n int64, _ int, m mark) error {
		if o.By != "" && m == missing {
			return nil
		}
		batch.Begin()
		batch.End(int(m.hi%uint64(d.buckets)), spill.Row{Key: m.hi, Number: n, Tag: int64(m.lo)})
		if rows++; rows%dealAt != 0 {
			return nil
		}
		defer batch.Reset()
		return hashes.Add(batch)
	})
	if err == nil {
		err = hashes.Add(batch)
	}
	if err == nil && o.By != "" {
		err = by.check()
	}
	return err
}

// sort finds what repeats in a bucket of hashes.
func (d *duplicates) sort(hashes *spill.Spill, bucket int) error {
	rows, err := takeRows(hashes, bucket)
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b spill.Row) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Number, b.Number))
	})
	batch := spill.GetBatch()
	defer batch.Free()
	first := 0
	for i := 1; i < len(rows); i++ {
		if rows[i].Key != rows[first].Key || rows[i].Tag != rows[first].Tag {
			first = i
			continue
		}
		batch.Begin()
		batch.End(d.bucketOf(rows[i].Number), spill.Row{Number: rows[i].Number, Tag: rows[first].Number})
	}
	return d.found.Add(batch)
}

// takeRows takes the rows of a bucket that have no payload.
func takeRows(s *spill.Spill, bucket int) ([]spill.Row, error) {
	data, err := s.Take(bucket, nil)
	if err != nil {
		return nil, err
	}
	var rows []spill.Row
	for at := 0; at < len(data); {
		row, next := spill.Parse(data, at)
		if at == 0 {
			rows = make([]spill.Row, 0, len(data)/next) // they are of one size
		}
		rows = append(rows, row)
		at = next
	}
	return rows, nil
}

// bucketOf is the bucket of a record's number among the duplicates found.
func (d *duplicates) bucketOf(number int64) int {
	share := (d.total + int64(d.buckets) - 1) / int64(d.buckets)
	return int(number / max(share, 1))
}

// repeats returns the first record that is the same as record n, if n is not
// that one itself. It is called with all numbers in order.
func (d *duplicates) repeats(n int64) (first int64, repeated bool, err error) {
	for b := d.bucketOf(n); d.at < b; {
		d.at++
		rows, err := takeRows(d.found, d.at)
		if err != nil {
			return 0, false, err
		}
		d.current = d.current[:0]
		for _, r := range rows {
			d.current = append(d.current, duplicate{r.Number, r.Tag})
		}
		slices.SortFunc(d.current, func(a, b duplicate) int { return cmp.Compare(a.number, b.number) })
	}
	if len(d.current) == 0 || d.current[0].number != n {
		return 0, false, nil
	}
	first = d.current[0].first
	d.current = d.current[1:]
	return first, true, nil
}

// close gives the memory and the file back.
func (d *duplicates) close() error { return d.found.Close() }
