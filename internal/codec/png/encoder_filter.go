package png

// filterPlain applies all filters to a row with pixels of n bytes, and returns the sum of the
// absolute differences of each.
func (e *Encoder) filterPlain(row, above []byte, n int) (sums [filters]uint64) {
	size := len(row)
	above = above[:size]
	subs, ups, averages, paeths := e.lines[sub][:size], e.lines[up][:size], e.lines[average][:size], e.lines[paeth][:size]
	var ofNone, ofSub, ofUp, ofAverage, ofPaeth int
	for i, x := range row {
		b := above[i]
		var a, c byte
		if i >= n {
			a, c = row[i-n], above[i-n]
		}
		subs[i] = x - a
		ups[i] = x - b
		averages[i] = x - byte((int(a)+int(b))/2)
		paeths[i] = x - predict(int(a), int(b), int(c))
		ofNone += distance(x)
		ofSub += distance(subs[i])
		ofUp += distance(ups[i])
		ofAverage += distance(averages[i])
		ofPaeth += distance(paeths[i])
	}
	for filter, sum := range [...]int{none: ofNone, sub: ofSub, up: ofUp, average: ofAverage, paeth: ofPaeth} {
		sums[filter] = uint64(sum)
	}
	return sums
}

// distance returns the absolute value of a difference.
func distance(x byte) int {
	d := int(int8(x))
	return max(d, -d)
}
