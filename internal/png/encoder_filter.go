package png

// filterPlain applies all filters to the bytes of a row from one on, with pixels of n bytes, and
// returns what the size of their differences adds up to, by filter.
func (e *Encoder) filterPlain(row, above []byte, n, from int) (sums [filters]uint64) {
	above = above[:len(row)]
	lines := [...][]byte{sub: e.lines[sub][:len(row)], up: e.lines[up][:len(row)], average: e.lines[average][:len(row)], paeth: e.lines[paeth][:len(row)]}
	for i := from; i < len(row); i++ {
		x, b := row[i], above[i]
		var a, c byte
		if i >= n {
			a, c = row[i-n], above[i-n]
		}
		differences := [...]byte{none: x, sub: x - a, up: x - b, average: x - byte((int(a)+int(b))/2), paeth: x - predict(int(a), int(b), int(c))}
		for f, d := range differences {
			if sums[f] += uint64(size(d)); f != none {
				lines[f][i] = d
			}
		}
	}
	return sums
}

// size is how far a difference is from 0.
func size(x byte) int {
	d := int(int8(x))
	return max(d, -d)
}
