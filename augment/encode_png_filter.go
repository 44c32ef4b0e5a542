package augment

import "bytes"

// The filters of PNG: each stores how a sample differs from what its
// neighbours let expect, byte by byte, modulo 256.
const (
	pngNone = iota
	pngSub
	pngUp
	pngAverage
	pngPaeth
	pngFilters
)

// filter returns the row after the number of the filter that suits it: by the rule of thumb of the
// PNG specification, the one whose differences, taken as signed bytes, sum to the least.
func (e *pngEncoder) filter(row, above []uint8, channels int) []uint8 {
	n := len(row)
	above = above[:n]
	none, sub, up, average, paeth := e.lines[pngNone][1:][:n], e.lines[pngSub][1:][:n], e.lines[pngUp][1:][:n], e.lines[pngAverage][1:][:n], e.lines[pngPaeth][1:][:n]
	copy(none, row)
	if bytes.Equal(row, above) { // most rows of a mask: no sum is less than 0
		if bytes.Equal(row, e.none) {
			return e.lines[pngNone]
		}
		clear(up)
		return e.lines[pngUp]
	}
	var sums [pngFilters]int
	for i := range channels {
		sub[i] = row[i]
		up[i] = row[i] - above[i]
		average[i] = row[i] - above[i]/2
		paeth[i] = up[i]
		sums[pngSub] += size(sub[i])
		sums[pngUp] += size(up[i])
		sums[pngAverage] += size(average[i])
		sums[pngPaeth] += size(paeth[i])
	}
	left, corner := row[:n-channels], above[:n-channels]
	for j, a := range left {
		i := j + channels
		x, b, c := row[i], above[i], corner[j]
		sub[i] = x - a
		up[i] = x - b
		average[i] = x - uint8((uint(a)+uint(b))/2)
		paeth[i] = x - predict(a, b, c)
		sums[pngSub] += size(sub[i])
		sums[pngUp] += size(up[i])
		sums[pngAverage] += size(average[i])
		sums[pngPaeth] += size(paeth[i])
	}
	for _, x := range row {
		sums[pngNone] += size(x)
	}
	best := pngNone
	for i, sum := range sums {
		if sum < sums[best] {
			best = i
		}
	}
	return e.lines[best]
}

// size is how far a difference is from 0.
func size(x uint8) int {
	d := int(int8(x))
	return max(d, -d)
}

// predict is Paeth's choice of the neighbour closest to left + above - corner.
func predict(left, above, corner uint8) uint8 {
	a, b, c := int(left), int(above), int(corner)
	pa, pb := b-c, a-c
	pc := pa + pb
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	if pa <= pb && pa <= pc {
		return left
	}
	if pb <= pc {
		return above
	}
	return corner
}
