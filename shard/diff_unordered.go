package shard

import (
	"cmp"
	"context"
	"slices"

	"github.com/tfrec/tfrec/internal/spill"
	"github.com/tfrec/tfrec/tfrecord"
)

// unordered compares what records there are, by their hashes: they are dealt to
// buckets by their value, each of which fits in memory.
func (d *difference) unordered(ctx context.Context) error {
	var total int64
	for i, side := range d.sides {
		if err := side.count(ctx); err != nil {
			return err
		}
		n := side.records()
		total += n
		if i == 0 {
			d.report.RecordsA = n
		} else {
			d.report.RecordsB = n
		}
	}
	o := d.sides[0].o
	buckets := int(total*rowBytes/max(o.memory()/4, 1)) + 1
	hashes := spill.New(buckets, buckets, o.memory()/4, newUnlinked)
	defer hashes.Close()
	for i := range d.sides {
		if err := d.deal(ctx, i, buckets, hashes); err != nil {
			return err
		}
	}
	var lone [2][]spill.Row // the first of each side, by number
	for bucket := range buckets {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := takeRows(hashes, bucket)
		if err != nil {
			return err
		}
		d.match(rows, &lone)
	}
	for i, rows := range lone {
		side := d.sides[i]
		for _, row := range rows {
			at := side.place(row.Number)
			place := &RecordPlace{at.File, at.Record}
			one := Difference{A: place, Reason: "b has no such record, or fewer of them"}
			if i == 1 {
				one = Difference{B: place, Reason: "a has no such record, or fewer of them"}
			}
			if d.sameSplits() {
				one.Split = side.splits[side.files[fileOfPath(side, at.File)].split]
			}
			d.report.Differences = append(d.report.Differences, one)
		}
	}
	return nil
}

func fileOfPath(in *inputs, path string) int {
	return slices.IndexFunc(in.files, func(f *input) bool { return f.Path == path })
}

// deal puts the hashes of all records of a side into buckets. Where both have
// the same splits, the split is part of what is hashed.
func (d *difference) deal(ctx context.Context, i, buckets int, hashes *spill.Spill) error {
	side := d.sides[i]
	salts := make([]uint64, len(side.splits))
	if d.sameSplits() {
		for j, split := range side.splits {
			salts[j] = hashOf([]byte(split)).lo
		}
	}
	batch := spill.GetBatch()
	defer batch.Free()
	rows := 0
	look := func(r *record) (mark, error) {
		d.o.Progress.add(len(r.data) + tfrecord.Overhead)
		return hashOf(r.data), nil
	}
	err := side.eachRecord(ctx, side.o.workers(), look,
		func(n int64, split int, m mark) error {
			batch.Begin()
			batch.End(int(m.hi%uint64(buckets)), spill.Row{Key: m.hi, Number: n, Tag: int64(m.lo ^ salts[split]), Flag: i == 1})
			if rows++; rows%dealAt != 0 {
				return nil
			}
			defer batch.Reset()
			return hashes.Add(batch)
		})
	if err != nil {
		return err
	}
	return hashes.Add(batch)
}

// match counts the rows of a bucket that the other side has no like of, and
// keeps the first of them.
func (d *difference) match(rows []spill.Row, lone *[2][]spill.Row) {
	slices.SortFunc(rows, func(a, b spill.Row) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Number, b.Number))
	})
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Key == rows[0].Key && rows[n].Tag == rows[0].Tag {
			n++
		}
		var counts [2]int
		for _, row := range rows[:n] {
			counts[sideOf(row)]++
		}
		both := min(counts[0], counts[1])
		d.report.OnlyA += int64(counts[0] - both)
		d.report.OnlyB += int64(counts[1] - both)
		var seen [2]int
		for _, row := range rows[:n] {
			side := sideOf(row)
			if seen[side]++; seen[side] > both {
				lone[side] = d.keep(lone[side], row)
			}
		}
		rows = rows[n:]
	}
}

func sideOf(row spill.Row) int {
	if row.Flag {
		return 1
	}
	return 0
}

// keep adds a row to the first by number, as many as are listed.
func (d *difference) keep(first []spill.Row, row spill.Row) []spill.Row {
	i, _ := slices.BinarySearchFunc(first, row, func(a, b spill.Row) int { return cmp.Compare(a.Number, b.Number) })
	if i == d.o.MaxListed {
		return first
	}
	first = slices.Insert(first, i, row)
	return first[:min(len(first), d.o.MaxListed)]
}
