package reshape

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// duplicates holds the numbers of the records that repeat an earlier one, read in order. The hashes
// of all records are sorted together with their numbers to find duplicates, which are then sorted
// by number.
type duplicates struct {
	found *spill.Sorter // rows of a record number and the number of its first occurrence
	next  duplicate
	done  bool // found is exhausted
}

// duplicate is the number of a record and of its first occurrence.
type duplicate struct{ number, first int64 }

// findDuplicates reads all records and finds the duplicates.
func findDuplicates(ctx context.Context, in *source.Inputs, dir *setdir.Dir, o *DedupeOptions) (*duplicates, error) {
	create := func() (spill.File, error) { return dir.ScratchFile(ctx, "dedupe") }
	hashes := spill.NewSorter(in.Memory/2, create)
	defer hashes.Close()
	d := &duplicates{found: spill.NewSorter(in.Memory/4, create)}
	err := dealHashes(ctx, in, hashes, o)
	if err == nil {
		err = hashes.Sort(ctx)
	}
	if err == nil {
		err = d.find(ctx, hashes)
	}
	if err == nil {
		err = d.advance()
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// dealHashes adds the hashes of all records to the sorter.
func dealHashes(ctx context.Context, in *source.Inputs, hashes *spill.Sorter, o *DedupeOptions) error {
	by := &byFeature{key: o.By, field: optname.DedupeOptionsBy}
	look := func(r *source.Record) (digest.Hash, error) { return digest.Of(r.Data), nil }
	if o.By != "" {
		look = by.Look
	}
	missing := digest.Of([]byte{'n'})
	err := in.EachBlock(ctx, in.Workers, look, func(b *source.Block) error {
		buffer := rowBuffers.Get().(*[]byte)
		defer rowBuffers.Put(buffer)
		rows := (*buffer)[:0]
		var row []byte
		for i, m := range b.Marks {
			if o.By == "" || m != missing {
				row = binary.BigEndian.AppendUint64(m.Append(row[:0]), uint64(b.File.First+b.First+int64(i)))
				rows = spill.AppendRow(rows, row)
			}
		}
		*buffer = rows
		return hashes.Add(rows)
	}, nil)
	if err == nil && o.By != "" {
		err = by.check()
	}
	return err
}

// rowBuffers holds memory for rows, as *[]byte.
var rowBuffers = sync.Pool{New: func() any { return new([]byte) }}

// find adds the duplicates in the sorted hashes to found.
func (d *duplicates) find(ctx context.Context, hashes *spill.Sorter) error {
	var last digest.Hash
	var first int64
	var pair [16]byte
	var rows []byte
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := d.found.Add(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
		row, err := hashes.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		m, number := digest.Parse(row), int64(binary.BigEndian.Uint64(row[digest.Size:]))
		if n == 0 || m != last {
			last, first = m, number
			continue
		}
		binary.BigEndian.PutUint64(pair[:], uint64(number))
		binary.BigEndian.PutUint64(pair[8:], uint64(first))
		rows = spill.AppendRow(rows, pair[:])
	}
	if err := d.found.Add(rows); err != nil {
		return err
	}
	return d.found.Sort(ctx)
}

// advance advances to the next duplicate.
func (d *duplicates) advance() error {
	row, err := d.found.Next()
	if err == io.EOF {
		d.done = true
		return nil
	}
	if err == nil {
		d.next = duplicate{int64(binary.BigEndian.Uint64(row)), int64(binary.BigEndian.Uint64(row[8:]))}
	}
	return err
}

// repeats reports whether record n repeats an earlier one, and returns the first one that it
// equals. It must be called with all numbers in order.
func (d *duplicates) repeats(n int64) (first int64, repeated bool, err error) {
	if d.done || d.next.number != n {
		return 0, false, nil
	}
	first = d.next.first
	return first, true, d.advance()
}

// close releases the memory and the file.
func (d *duplicates) close() error { return d.found.Close() }
