package transfer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/internal/swar"
)

// sortedRow is a row of a bucket, and what it is sorted by.
type sortedRow struct {
	prefix uint64 // of the key, without what all keys of the bucket begin with
	number int64
	at     int
}

// groupSize is the length in bytes of what nearly all keys of a bucket begin with: the target, and
// whether there is a value.
const groupSize = 3

// cutKey splits a row of sorted records into its key and its frame.
func cutKey(row []byte) (key, frame []byte) {
	n, skip := binary.Uvarint(row)
	return row[skip : skip+int(n)], row[skip+int(n):]
}

// keyAt returns the key of the row at an offset.
func (p *placed) keyAt(at int) []byte {
	row, _ := spill.Parse(p.data, at)
	key, _ := cutKey(p.data[row.From:row.To])
	return key
}

// sort puts the rows in the order of their keys and then of their numbers.
func (p *placed) sort() {
	n := len(p.rows)
	p.sorting = slices.Grow(p.sorting[:0], 2*n)[:2*n]
	rows := p.sorting[:0:n]
	var common []byte // what all keys begin with
	least, most := 0, 0
	for at := 0; at < len(p.data); {
		row, next := spill.Parse(p.data, at)
		key, _ := cutKey(p.data[row.From:row.To])
		if at == 0 {
			common, least, most = key, len(key), len(key)
		} else if !bytes.HasPrefix(key, common) {
			common = common[:swar.Common(common, key)]
		}
		least, most = min(least, len(key)), max(most, len(key))
		rows = append(rows, sortedRow{spill.Prefix(key[groupSize:]), row.Number, at})
		at = next
	}
	skipped := groupSize
	if len(common) < skipped || most > skipped+8 {
		skipped = len(common)
		for i := range rows {
			rows[i].prefix = spill.Prefix(p.keyAt(rows[i].at)[skipped:])
		}
	}
	whole := least == most && most <= skipped+8 // equal prefixes are of equal keys
	sortRows(rows, p.sorting[n:], func(x, y sortedRow) int {
		if x.prefix != y.prefix {
			return cmp.Compare(x.prefix, y.prefix)
		}
		if !whole {
			if c := bytes.Compare(p.keyAt(x.at), p.keyAt(y.at)); c != 0 {
				return c
			}
		}
		return cmp.Compare(x.number, y.number)
	})
	for i := range rows {
		p.rows[i] = rows[i].at
	}
}

// maxSortBits is the binary logarithm of the maximum number of parts in sortRows: where each part
// ends then fits in a processor's first cache.
const maxSortBits = 11

// sortRows sorts rows, whose prefixes must agree with compare. They are first distributed to parts,
// by their prefixes, and then sorted in each. scratch has the same length as rows.
func sortRows(rows, scratch []sortedRow, compare func(x, y sortedRow) int) {
	least, most := uint64(0), uint64(0)
	if len(rows) > 0 {
		least, most = rows[0].prefix, rows[0].prefix
	}
	for i := range rows {
		least, most = min(least, rows[i].prefix), max(most, rows[i].prefix)
	}
	digit := min(bits.Len(uint(len(rows)/8)), maxSortBits)
	shift := max(bits.Len64(most-least)-digit, 0)
	var ends [1<<maxSortBits + 1]int
	for i := range rows {
		ends[(rows[i].prefix-least)>>shift+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	for i := range rows {
		at := &ends[(rows[i].prefix-least)>>shift]
		scratch[*at] = rows[i]
		*at++
	}
	copy(rows, scratch)
	from := 0
	for _, end := range ends[:len(ends)-1] {
		if end > from+1 {
			slices.SortFunc(rows[from:end], compare)
		}
		from = end
	}
}
