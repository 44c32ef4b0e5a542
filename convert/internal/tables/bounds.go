package tables

import (
	"cmp"
	"slices"
)

// bound is a position in the order of rows by hash, and by number among equal hashes.
type bound struct {
	hash uint64
	row  int64
}

// above reports whether a row precedes the bound.
func (b bound) above(hash uint64, row int64) bool {
	return hash < b.hash || hash == b.hash && row < b.row
}

// bounds returns the rows with the given ranks, from 0 and ascending, among count rows in hash
// order. It calls each twice, which must call its argument for every row. It uses memory for about
// count over a million rows per rank, not for all rows. An error of each ends it.
func bounds(each func(yield func(hash uint64, row int64)) error, count int64, ranks []int64) ([]bound, error) {
	bits := 12
	if count > 1<<16 {
		bits = 20
	}
	shift := 64 - bits
	sizes := make([]int64, 1<<bits)
	if err := each(func(hash uint64, _ int64) { sizes[hash>>shift]++ }); err != nil {
		return nil, err
	}

	// The hash ranges that contain the ranks, and the number of rows before them.
	type bucket struct {
		preceding int64
		rows      []bound
	}
	buckets := map[uint64]*bucket{}
	where := make([]uint64, len(ranks))
	var preceding int64
	next := 0
	for b, size := range sizes {
		for ; next < len(ranks) && ranks[next] < preceding+size; next++ {
			where[next] = uint64(b)
			buckets[uint64(b)] = &bucket{preceding: preceding}
		}
		preceding += size
	}
	err := each(func(hash uint64, row int64) {
		if b := buckets[hash>>shift]; b != nil {
			b.rows = append(b.rows, bound{hash, row})
		}
	})
	if err != nil {
		return nil, err
	}
	for _, b := range buckets {
		slices.SortFunc(b.rows, func(x, y bound) int {
			return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.row, y.row))
		})
	}
	found := make([]bound, len(ranks))
	for i, rank := range ranks {
		b := buckets[where[i]]
		found[i] = b.rows[rank-b.preceding]
	}
	return found, nil
}
