//go:build !noasm

package png

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _generate && go run ./filter -out ../filter_amd64.s -stubs ../filter_stubs_amd64.go -pkg png"

// hasAVX2 reports whether the assembly runs here. Tests turn it off.
var hasAVX2 = cpu.X86.HasAVX2

// The assembly by the bytes of a pixel, for a number of pixels, at least one, from the first of a
// row. With 3 and 6 bytes a pixel it reads and writes a pixel more.
var (
	unfilterSub = [9]func(dst, src *uint8, pixels int){
		3: unfilterSub3, 4: unfilterSub4, 6: unfilterSub6, 8: unfilterSub8,
	}
	unfilterAverage = [9]func(dst, src, above *uint8, pixels int){
		1: unfilterAverage1, 2: unfilterAverage2, 3: unfilterAverage3, 4: unfilterAverage4, 6: unfilterAverage6, 8: unfilterAverage8,
	}
	unfilterPaeth = [9]func(dst, src, above *uint8, pixels int){
		1: unfilterPaeth1, 2: unfilterPaeth2, 3: unfilterPaeth3, 4: unfilterPaeth4, 6: unfilterPaeth6, 8: unfilterPaeth8,
	}
)

// unfilter is unfilterPlain, by assembly where it runs.
func unfilter(filter byte, dst, src, above []byte, n int) {
	src, above = src[:len(dst)], above[:len(dst)]
	pixels := len(dst) / n
	if n == 3 || n == 6 {
		pixels--
	}
	if !hasAVX2 || pixels < 1 {
		unfilterPlain(filter, dst, src, above, n)
		return
	}
	switch filter {
	case sub:
		if n < 3 {
			break
		}
		unfilterSub[n](&dst[0], &src[0], pixels)
		for i := pixels * n; i < len(dst); i++ {
			dst[i] = src[i] + dst[i-n]
		}
		return
	case up:
		whole := len(dst) &^ 31
		if whole > 0 {
			unfilterUp(&dst[0], &src[0], &above[0], whole)
		}
		unfilterPlain(up, dst[whole:], src[whole:], above[whole:], n)
		return
	case average:
		unfilterAverage[n](&dst[0], &src[0], &above[0], pixels)
		for i := pixels * n; i < len(dst); i++ {
			dst[i] = src[i] + byte((int(dst[i-n])+int(above[i]))/2)
		}
		return
	case paeth:
		unfilterPaeth[n](&dst[0], &src[0], &above[0], pixels)
		for i := pixels * n; i < len(dst); i++ {
			dst[i] = src[i] + predict(int(dst[i-n]), int(above[i]), int(above[i-n]))
		}
		return
	}
	unfilterPlain(filter, dst, src, above, n)
}

// filter applies all filters to a row, and returns the sum of the absolute differences of each. It
// is filterPlain with assembly where that runs.
func (e *Encoder) filter(row, above []byte, n int) [filters]uint64 {
	if !hasAVX2 || len(row) < n+32 {
		return e.filterPlain(row, above, n)
	}
	above = above[:len(row)]
	sums := e.filterPlain(row[:n], above[:n], n)
	var more [filters]uint64
	filterRow(&e.lines[sub][n], &e.lines[up][n], &e.lines[average][n], &e.lines[paeth][n], &row[n], &above[n], n, len(row)-n, &more)
	for i := range sums {
		sums[i] += more[i]
	}
	return sums
}
