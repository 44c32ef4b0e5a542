//go:build !noasm

package resample

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// UseAssembly reports whether the assembly runs here. Tests turn it off.
var UseAssembly = true

// readBeyond is the number of bytes after a row that weighRGBNEON may read: it reads 16 where it
// needs 12.
const readBeyond = 4

// packed holds the weights of an axis along rows in the layout of the assembly. The weights of
// whole rows need no packing.
type packed struct {
	// Every pixel has the same number of weights. Where its neighbours are at the end of the row,
	// the first of them are zero, so that none belongs to a pixel after it.
	weights []int32
	first   []int32
	blocks  int // of the weights of a pixel, for four source pixels each or, for gray, eight
	nearby  nearby
}

// fill packs the weights of a for images with that number of channels, or, for 0, for whole rows.
// It leaves them unpacked if rows are too short.
func (p *packed) fill(a *Axis, channels int) {
	size := 4
	switch channels {
	case 0:
		return
	case 1:
		if p.nearby.fill(a) {
			return
		}
		size = 8
	}
	blocks := (a.Most + size - 1) / size
	n := blocks * size
	if n > a.in {
		return
	}
	p.blocks = blocks
	p.first = make([]int32, len(a.First))
	p.weights = make([]int32, n*len(a.First))
	for i := range a.First {
		first, weights := a.of(i)
		p.first[i] = int32(min(first, a.in-n))
		copy(p.weights[i*n+first-int(p.first[i]):], weights)
	}
}

// nearTable is the number of table bytes for eight pixels and one weight.
const nearTable = 64

// fillTables builds the tables. For each eight pixels and each of their weights, they hold the
// shuffles of the source pixels to 32 bits each, and the weights.
func (p *nearby) fillTables(a *Axis) {
	n := len(a.First)
	groups := len(p.starts) / 2
	p.steps = a.Most
	p.tables = make([]uint8, groups*p.steps*nearTable)
	for g := range groups {
		for i := range 8 {
			first, weights := a.of(min(8*g, n-8) + i)
			for j := range p.steps {
				table := p.tables[(g*p.steps+j)*nearTable:][:nearTable]
				source, w := uint32(0xffffffff), int32(0) // of no pixel
				if j < len(weights) {
					source, w = 0xffffff00|uint32(first+j-int(p.starts[2*g+i/4])), weights[j]
				}
				binary.LittleEndian.PutUint32(table[4*i:], source)
				binary.LittleEndian.PutUint32(table[32+4*i:], uint32(w))
			}
		}
	}
}

// bytes is the memory it takes.
func (p *packed) bytes() int {
	return 4*(len(p.weights)+len(p.first)+len(p.nearby.starts)) + len(p.nearby.tables)
}

// weighColumns resizes n rows of src from row y on horizontally, into rows that
// begin stride apart in dst.
func (a *Axis) weighColumns(dst []uint8, stride int, src *bitmap.Image, y, n int) {
	p := &a.packed
	width := len(a.First)
	length := width * src.Channels
	fast := 0 // rows after which there is enough to read
	switch {
	case !UseAssembly:
	case p.nearby.steps > 0:
		fast = n
	case width >= 4 && p.first != nil:
		if room := len(src.Pix) - readBeyond - src.Width*src.Channels; room >= 0 {
			fast = min(max(room/src.Stride+1-y, 0), n)
		}
	}
	for i := 0; i < fast; i += 2 {
		j := min(i+1, fast-1) // the last one alone is done twice
		dstA, dstB := dst[i*stride:][:length], dst[j*stride:][:length]
		srcA, srcB := src.Row(y+i), src.Row(y+j)
		switch {
		case p.nearby.steps > 0:
			_, _ = srcA[a.in-1], srcB[a.in-1]
			weighGrayNearNEON(&dstA[0], &dstB[0], &srcA[0], &srcB[0], &p.nearby.starts[0], &p.nearby.tables[0], p.nearby.steps, width)
		case src.Channels == 1:
			weighGrayNEON(&dstA[0], &dstB[0], &srcA[0], &srcB[0], &p.first[0], &p.weights[0], p.blocks, width)
		default:
			weighRGBNEON(&dstA[0], &dstB[0], &srcA[0], &srcB[0], &p.first[0], &p.weights[0], p.blocks, width)
		}
	}
	if fast < n {
		a.weighColumnsPlain(dst[fast*stride:], stride, src, y+fast, n-fast)
	}
}

// weighRows makes row i of the result from the rows that it needs, which begin
// stride apart in src.
func (a *Axis) weighRows(dst, src []uint8, stride, i int) {
	if !UseAssembly || len(dst) < 32 {
		a.weighRowsPlain(dst, src, stride, i)
		return
	}
	_, weights := a.of(i)
	_ = src[(len(weights)-1)*stride+len(dst)-1]
	weighRowsNEON(&dst[0], &src[0], stride, &weights[0], len(weights), len(dst))
}
