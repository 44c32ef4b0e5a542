//go:build !noasm

package augment

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _generate && go run resize.go -out ../resize_amd64.s -stubs ../resize_stubs_amd64.go -pkg augment"

// useAVX2 says that the assembly runs here. Tests turn it off.
var useAVX2 = cpu.X86.HasAVX2

// readBeyond is how many bytes behind a row weighColumnsAVX2 may read: it reads
// 16 where it needs 12.
const readBeyond = 4

// lowBits is how many bits of a weight go into the lower of its two parts.
const lowBits = 12

// packed holds the weights of an axis as the assembly takes them: in two parts
// of 16 bits, of which it multiplies two of the same part at a time. After a
// pair's lower parts come its higher ones.
type packed struct {
	rows   []int32 // for each pixel, ceil(most/2) pairs
	length int     // of those in rows

	// For weighColumns every pixel has the same number of weights, the
	// first ones zero where its neighbours lie at the end of the row.
	first   []int32
	columns []int32
	blocks  int // of four source pixels; 0 where there are five, or where the row is too short
	five    bool
}

// fill packs the weights of a.
func (p *packed) fill(a *axis) {
	p.length = (a.most + 1) / 2 * 2
	p.rows = make([]int32, p.length*len(a.first))
	for i := range a.first {
		_, weights := a.of(i)
		pack(p.rows[i*p.length:], weights, 0)
	}

	n := (a.most + 3) / 4 * 4
	pairs := n / 2
	if a.most == 5 {
		n, pairs = 5, 3
	}
	if n > a.in {
		return
	}
	p.five = n == 5
	if !p.five {
		p.blocks = n / 4
	}
	p.first = make([]int32, len(a.first))
	p.columns = make([]int32, 2*pairs*len(a.first))
	for i := range a.first {
		first, weights := a.of(i)
		p.first[i] = int32(min(first, a.in-n))
		pack(p.columns[i*2*pairs:], weights, first-int(p.first[i]))
	}
}

// pack packs weights behind so many zeros.
func pack(dst []int32, weights []int32, zeros int) {
	for j, w := range weights {
		j += zeros
		shift := j % 2 * 16
		dst[j/2*2] |= w & (1<<lowBits - 1) << shift
		dst[j/2*2+1] |= w >> lowBits & 0xffff << shift
	}
}

// bytes is the memory it takes.
func (p *packed) bytes() int { return 4 * (len(p.rows) + len(p.first) + len(p.columns)) }

// weighColumns resizes n rows of src from row y on horizontally, into rows that
// begin stride apart in dst.
func (a *axis) weighColumns(dst []uint8, stride int, src *Image, y, n int) {
	p := &a.packed
	width := len(a.first)
	fast := 0 // rows behind which there is enough to read
	if useAVX2 && src.Channels == 3 && width >= 4 && p.first != nil {
		if room := len(src.Pix) - readBeyond - src.Width*3; room >= 0 {
			fast = min(max(room/src.Stride+1-y, 0), n)
		}
	}
	for i := 0; i < fast; i += 2 {
		j := min(i+1, fast-1) // the last one alone is done twice
		dstA, dstB := dst[i*stride:][:3*width], dst[j*stride:][:3*width]
		srcA, srcB := src.Row(y+i), src.Row(y+j)
		if p.five {
			weighColumnsFiveAVX2(&dstA[0], &dstB[0], &srcA[0], &srcB[0], &p.first[0], &p.columns[0], width)
		} else {
			weighColumnsAVX2(&dstA[0], &dstB[0], &srcA[0], &srcB[0], &p.first[0], &p.columns[0], p.blocks, width)
		}
	}
	if fast < n {
		a.weighColumnsPlain(dst[fast*stride:], stride, src, y+fast, n-fast)
	}
}

// weighRows makes row i of the result from the rows that it needs, which begin
// stride apart in src.
func (a *axis) weighRows(dst, src []uint8, stride, i int) {
	if !useAVX2 || len(dst) < 32 {
		a.weighRowsPlain(dst, src, stride, i)
		return
	}
	count := int(a.count[i])
	_ = src[(count-1)*stride+len(dst)-1]
	weighRowsAVX2(&dst[0], &src[0], stride, &a.packed.rows[i*a.packed.length], count, len(dst))
}
