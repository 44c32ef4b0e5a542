package diff

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// unordered compares the records by their hashes, regardless of position. The hashes are sorted so
// that equal records are adjacent: first a counting row for each of b's, then the rows of a and
// then the rows of b. A single pass over them finds the records that are missing from the other
// side.
func (d *difference) unordered(ctx context.Context) error {
	for i, side := range d.sides {
		if err := side.Count(ctx); err != nil {
			return err
		}
		if n := side.Records(); i == 0 {
			d.report.RecordsA = n
		} else {
			d.report.RecordsB = n
		}
	}
	hashes := spill.NewSorter(d.sides[0].Memory/2, func() (spill.File, error) { return osfile.ScratchIn(ctx, "") })
	defer hashes.Close()
	for i := range d.sides {
		if err := d.addHashes(ctx, i, hashes); err != nil {
			return err
		}
	}
	if err := hashes.Sort(ctx); err != nil {
		return err
	}
	lone, err := d.match(ctx, hashes)
	if err != nil {
		return err
	}
	for i, numbers := range lone {
		side := d.sides[i]
		for _, number := range numbers {
			at := side.Position(number)
			one := Difference{A: &at, Reason: "b does not have this record, or fewer of them"}
			if i == 1 {
				one = Difference{B: &at, Reason: "a does not have this record, or fewer of them"}
			}
			if d.sameSplits() {
				one.Split = side.Splits[side.Files[fileOfPath(side, at.Path)].SplitIndex]
			}
			d.report.Differences = append(d.report.Differences, one)
		}
	}
	return nil
}

func fileOfPath(in *source.Inputs, path string) int {
	return slices.IndexFunc(in.Files, func(f *source.Input) bool { return f.Path == path })
}

// The kind of a row, stored between its hash and its record number.
const (
	rowCounts byte = iota // counts the records of b
	rowOfA
	rowOfB
)

// addHashes adds the hashes of all records of a side. If both sides have the same splits, the hash
// includes the split.
func (d *difference) addHashes(ctx context.Context, i int, hashes *spill.Sorter) error {
	side := d.sides[i]
	salts := make([]uint64, len(side.Splits))
	if d.sameSplits() {
		for j, split := range side.Splits {
			salts[j] = digest.Of([]byte(split)).Lo
		}
	}
	look := func(r *source.Record) (digest.Hash, error) {
		d.o.Progress.Add(len(r.Data) + tfrecord.Overhead)
		return digest.Of(r.Data), nil
	}
	kinds := [][]byte{{rowOfA}, {rowCounts, rowOfB}}[i]
	return side.EachBlock(ctx, side.Workers, look, func(b *source.Block) error {
		buffer := rowsOfBlocks.Get().(*[]byte)
		defer rowsOfBlocks.Put(buffer)
		rows := (*buffer)[:0]
		var row []byte
		for k, m := range b.Marks {
			m.Lo ^= salts[b.File.SplitIndex]
			for _, kind := range kinds {
				row = append(m.Append(row[:0]), kind)
				row = binary.BigEndian.AppendUint64(row, uint64(b.File.First+b.First+int64(k)))
				rows = spill.AppendRow(rows, row)
			}
		}
		*buffer = rows
		return hashes.Add(rows)
	}, nil)
}

// rowsOfBlocks holds memory for the rows of a block, as *[]byte.
var rowsOfBlocks = sync.Pool{New: func() any { return new([]byte) }}

// match counts the records that occur less often on the other side, and returns the numbers of the
// first such records of each side.
func (d *difference) match(ctx context.Context, hashes *spill.Sorter) (lone [2][]int64, err error) {
	var last digest.Hash
	var counts [3]int64 // of the rows with this hash, by kind
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return lone, context.Cause(ctx)
		}
		row, err := hashes.Next()
		if err == io.EOF {
			return lone, nil
		}
		if err != nil {
			return lone, err
		}
		m, kind, number := digest.Parse(row), row[digest.Size], int64(binary.BigEndian.Uint64(row[digest.Size+1:]))
		if m != last {
			last, counts = m, [3]int64{}
		}
		counts[kind]++
		switch {
		case kind == rowOfA && counts[rowOfA] > counts[rowCounts]:
			d.report.OnlyA++
			lone[0] = d.keep(lone[0], number)
		case kind == rowOfB && counts[rowOfB] > counts[rowOfA]:
			d.report.OnlyB++
			lone[1] = d.keep(lone[1], number)
		}
	}
}

// keep inserts a number into the sorted list first, which holds the MaxListed smallest numbers.
func (d *difference) keep(first []int64, number int64) []int64 {
	i, _ := slices.BinarySearch(first, number)
	if i == d.o.MaxListed {
		return first
	}
	first = slices.Insert(first, i, number)
	return first[:min(len(first), d.o.MaxListed)]
}
