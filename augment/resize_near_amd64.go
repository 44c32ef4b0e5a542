//go:build !noasm

package augment

import "encoding/binary"

// nearby holds the weights of an axis along gray rows where neighbours of the result need
// neighbours of the source: each four pixels no more than nearSpan. Its zero value holds none.
type nearby struct {
	// starts are where the source pixels of each four begin. The last eight pixels may
	// overlap those before.
	starts []int32
	// tables has for each eight pixels, for every two weights of them, which source pixels
	// they weigh, the lower parts of the weights and the higher ones.
	tables []uint8
	pairs  int
}

const (
	nearSpan  = 16 // a shuffle takes its bytes from as many
	nearTable = 96 // bytes
)

// fill packs the weights of a, or reports that they are too far apart.
func (p *nearby) fill(a *axis) bool {
	n := len(a.first)
	if n < 8 || a.in < nearSpan {
		return false
	}
	groups, pairs := (n+7)/8, (a.most+1)/2
	starts := make([]int32, 0, 2*groups)
	for g := range groups {
		for lane := range 2 {
			at := min(8*g, n-8) + 4*lane
			from, end := a.span(at, at+4)
			start := min(from, a.in-nearSpan)
			if end-start > nearSpan {
				return false
			}
			starts = append(starts, int32(start))
		}
	}
	tables := make([]uint8, groups*pairs*nearTable)
	for g := range groups {
		for i := range 8 {
			first, weights := a.of(min(8*g, n-8) + i)
			for j := range 2 * pairs {
				// Words, four times two of them in a lane: source pixel, weight and weight.
				table := tables[(g*pairs+j/2)*nearTable:][:nearTable]
				word := 16*(i/4) + 4*(i%4) + 2*(j%2)
				if j >= len(weights) {
					table[word], table[word+1] = 0x80, 0x80
					continue
				}
				w := weights[j]
				table[word], table[word+1] = uint8(first+j-int(starts[2*g+i/4])), 0x80
				binary.LittleEndian.PutUint16(table[32+word:], uint16(w&(1<<lowBits-1)))
				binary.LittleEndian.PutUint16(table[64+word:], uint16(w>>lowBits))
			}
		}
	}
	p.starts, p.tables, p.pairs = starts, tables, pairs
	return true
}
