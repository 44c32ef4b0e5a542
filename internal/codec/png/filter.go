package png

// The filters, by the value that is added to each byte of a row.
const (
	none    = iota
	sub     // the byte of the pixel before it
	up      // the byte above it
	average // the mean of both
	paeth   // of these and the byte before the one above, the nearest to left + above - that
	filters
)

// unfilterPlain undoes a filter of a row with pixels of n bytes, or a byte if they have fewer bits.
// dst, src and above, which is zero for the first row of a pass, have the same length.
func unfilterPlain(filter byte, dst, src, above []byte, n int) {
	src, above = src[:len(dst)], above[:len(dst)]
	switch filter {
	case none:
		copy(dst, src)
	case sub:
		copy(dst, src[:min(n, len(src))])
		for i := n; i < len(dst); i++ {
			dst[i] = src[i] + dst[i-n]
		}
	case up:
		for i := range dst {
			dst[i] = src[i] + above[i]
		}
	case average:
		for i := range min(n, len(dst)) {
			dst[i] = src[i] + above[i]/2
		}
		for i := n; i < len(dst); i++ {
			dst[i] = src[i] + byte((int(dst[i-n])+int(above[i]))/2)
		}
	case paeth:
		for i := range min(n, len(dst)) {
			dst[i] = src[i] + above[i]
		}
		for i := n; i < len(dst); i++ {
			dst[i] = src[i] + predict(int(dst[i-n]), int(above[i]), int(above[i-n]))
		}
	}
}

// predict is Paeth's choice of the byte on the left, the one above and the one on the left of that.
func predict(a, b, c int) byte {
	pa, pb := b-c, a-c
	pc := pa + pb
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	switch {
	case pa <= pb && pa <= pc:
		return byte(a)
	case pb <= pc:
		return byte(b)
	}
	return byte(c)
}
