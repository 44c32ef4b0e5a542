package spill

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tfrec/tfrec/internal/par"
)

// sortChunk is rows in memory.
type sortChunk struct {
	data    []byte // as AppendRow encodes them
	entries []sortEntry
	order   []sortEntry // memory for sorting
	lo, hi  uint64      // the least and the greatest prefix
}

// sortEntry is a row in memory: its first bytes, as a number in the same order, and where it is.
type sortEntry struct {
	prefix uint64
	at     uint32
	chunk  uint32 // after sorting
}

const entrySize = 16

// add adds a row, given alone and as AppendRow encodes it, to a chunk that shall hold most bytes.
func (c *sortChunk) add(row, encoded []byte, most int) {
	p := Prefix(row)
	if len(c.entries) == 0 {
		c.lo, c.hi = p, p
	}
	c.lo, c.hi = min(c.lo, p), max(c.hi, p)
	c.entries = append(doubled(c.entries, 1, most/entrySize), sortEntry{prefix: p, at: uint32(len(c.data))})
	c.data = append(doubled(c.data, len(encoded), most), encoded...)
}

// doubled returns s with room for n more elements. It grows to twice the size, but not beyond most: each
// element is then copied once on average, while append, which grows large slices by a quarter, copies
// each four times.
func doubled[T any](s []T, n, most int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, min(len(s), most-len(s))))
}

func (c *sortChunk) row(at uint32) []byte {
	row, _ := cutRow(c.data[at:])
	return row
}

// Prefix returns the first eight bytes of a row, or of a key, as a number: numbers that differ have
// the order of the rows. Shorter rows are padded with zero bytes.
func Prefix(row []byte) uint64 {
	if len(row) >= 8 {
		return binary.BigEndian.Uint64(row)
	}
	var n uint64
	for i, b := range row {
		n |= uint64(b) << (56 - 8*i)
	}
	return n
}

// Rows are distributed to parts, which are sorted one by one: of sortedPart rows if the prefixes
// are evenly distributed, as hashes are.
const (
	sortedPart = 256
	mostParts  = 1 << 12
)

// sortChunks appends the rows of all chunks in order to order[:0]. When ctx is done it stops.
func sortChunks(ctx context.Context, chunks []*sortChunk, workers int, order []sortEntry) []sortEntry {
	total := 0
	var lo, hi uint64
	for _, c := range chunks {
		if len(c.entries) > 0 {
			if total == 0 {
				lo, hi = c.lo, c.hi
			}
			lo, hi = min(lo, c.lo), max(hi, c.hi)
			total += len(c.entries)
		}
	}
	order = slices.Grow(order[:0], total)[:total]
	width := min(bits.Len(uint(total/sortedPart)), bits.Len(mostParts-1)) // of a part's number, in bits
	shift := max(bits.Len64(hi-lo)-width, 0)
	eachChunk := func(work func(i int, c *sortChunk)) {
		par.ForEach(ctx, len(chunks), workers, func(next func() (int, bool)) {
			for i, ok := next(); ok; i, ok = next() {
				work(i, chunks[i])
			}
		})
	}
	// Where each chunk puts the next of its rows of each part.
	places := make([][]int, len(chunks))
	eachChunk(func(i int, c *sortChunk) {
		places[i] = make([]int, 1<<width)
		for _, e := range c.entries {
			places[i][(e.prefix-lo)>>shift]++
		}
	})
	if ctx.Err() != nil {
		return nil
	}
	ends := make([]int, 1<<width)
	at := 0
	for part := range ends {
		for i := range places {
			n := places[i][part]
			places[i][part] = at
			at += n
		}
		ends[part] = at
	}
	eachChunk(func(i int, c *sortChunk) {
		for _, e := range c.entries {
			place := &places[i][(e.prefix-lo)>>shift]
			order[*place] = sortEntry{e.prefix, e.at, uint32(i)}
			*place++
		}
	})
	par.ForEach(ctx, len(ends), workers, func(next func() (int, bool)) {
		for part, ok := next(); ok; part, ok = next() {
			from := 0
			if part > 0 {
				from = ends[part-1]
			}
			slices.SortFunc(order[from:ends[part]], func(a, b sortEntry) int {
				if a.prefix != b.prefix {
					return cmp.Compare(a.prefix, b.prefix)
				}
				return bytes.Compare(chunks[a.chunk].row(a.at), chunks[b.chunk].row(b.at))
			})
		}
	})
	return order
}
