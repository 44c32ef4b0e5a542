//go:build !noasm

package resample

import (
	"encoding/binary"

	"golang.org/x/sys/cpu"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

//go:generate sh -c "cd _generate && go run weigh.go -out ../weigh_amd64.s -stubs ../weigh_stubs_amd64.go -pkg resample"

// UseAssembly reports whether the assembly runs here. Tests turn it off.
var UseAssembly = cpu.X86.HasAVX2

// readBeyond is the number of bytes after a row that weighRGBAVX2 may read: it reads 16 where it
// needs 12.
const readBeyond = 4

// lowBits is the number of bits in the lower of the two parts of a weight.
const lowBits = 12

// packed holds the weights of an axis in the layout of the assembly: in two parts of 16 bits. The
// assembly multiplies two weights of the same part at a time.
type packed struct {
	weights []int32
	length  int // of the weights of a pixel
	// Along rows every pixel has the same number of weights. Where its neighbours are at the end of
	// the row, the first of them are zero, so that none belongs to a pixel after it.
	first  []int32
	blocks int  // of the weights of a pixel, for four source pixels each or, for gray, eight
	five   bool // the weights are for five source pixels of RGB
	nearby nearby
}

// fill packs the weights of a for images with that number of channels, or, for 0, for whole rows.
// It leaves them unpacked if rows are too short.
func (p *packed) fill(a *Axis, channels int) {
	switch {
	case channels == 0:
		p.length = (a.Most + 1) / 2 * 2
		p.weights = make([]int32, p.length*len(a.First))
		for i := range a.First {
			_, weights := a.of(i)
			pack(p.weights[i*p.length:], weights, 0, 1)
		}
	case channels == 1:
		if p.nearby.fill(a) {
			return
		}
		p.blocks = (a.Most + 7) / 8
		p.pad(a, 8*p.blocks, 8*p.blocks, 4)
	case a.Most == 5:
		p.five = true
		p.pad(a, 5, 6, 1)
	default:
		p.blocks = (a.Most + 3) / 4
		p.pad(a, 4*p.blocks, 4*p.blocks, 1)
	}
}

// pad packs the weights of a along rows, n source pixels each, into length words: pairs of the
// lower parts, then of the higher ones.
func (p *packed) pad(a *Axis, n, length, pairs int) {
	if n > a.in {
		return
	}
	p.length = length
	p.first = make([]int32, len(a.First))
	p.weights = make([]int32, length*len(a.First))
	for i := range a.First {
		first, weights := a.of(i)
		p.first[i] = int32(min(first, a.in-n))
		pack(p.weights[i*length:], weights, first-int(p.first[i]), pairs)
	}
}

// pack packs weights after a number of zeros: of each 2*pairs weights first the lower parts and
// then the higher ones.
func pack(dst, weights []int32, zeros, pairs int) {
	for j, w := range weights {
		j += zeros
		at := j/(2*pairs)*(2*pairs) + j/2%pairs
		shift := j % 2 * 16
		dst[at] |= w & (1<<lowBits - 1) << shift
		dst[at+pairs] |= w >> lowBits & 0xffff << shift
	}
}

// nearTable is the number of table bytes for eight pixels and two weights.
const nearTable = 96

// fillTables builds the tables. For each eight pixels and every two of their weights, they hold the
// shuffles of the source pixels, the lower parts of the weights and the higher ones.
func (p *nearby) fillTables(a *Axis) {
	n := len(a.First)
	groups := len(p.starts) / 2
	p.steps = (a.Most + 1) / 2
	p.tables = make([]uint8, groups*p.steps*nearTable)
	for g := range groups {
		for i := range 8 {
			first, weights := a.of(min(8*g, n-8) + i)
			for j := range 2 * p.steps {
				// Words, four times two of them in a lane: source pixel, weight and weight.
				table := p.tables[(g*p.steps+j/2)*nearTable:][:nearTable]
				word := 16*(i/4) + 4*(i%4) + 2*(j%2)
				if j >= len(weights) {
					table[word], table[word+1] = 0x80, 0x80
					continue
				}
				w := weights[j]
				table[word], table[word+1] = uint8(first+j-int(p.starts[2*g+i/4])), 0x80
				binary.LittleEndian.PutUint16(table[32+word:], uint16(w&(1<<lowBits-1)))
				binary.LittleEndian.PutUint16(table[64+word:], uint16(w>>lowBits))
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
	if UseAssembly && p.nearby.steps > 0 {
		for i := range n {
			to, from := dst[i*stride:][:length], src.Row(y + i)[:a.in]
			weighGrayNearAVX2(&to[0], &from[0], &p.nearby.starts[0], &p.nearby.tables[0], p.nearby.steps, width)
		}
		return
	}
	fast := 0 // rows after which there is enough to read
	if UseAssembly && width >= 4 && p.first != nil {
		if room := len(src.Pix) - readBeyond - src.Width*src.Channels; room >= 0 {
			fast = min(max(room/src.Stride+1-y, 0), n)
		}
	}
	for i := 0; i < fast; i += 2 {
		j := min(i+1, fast-1) // the last one alone is done twice
		dstA, dstB := dst[i*stride:][:length], dst[j*stride:][:length]
		srcA, srcB := src.Row(y+i), src.Row(y+j)
		switch {
		case src.Channels == 1:
			weighGrayAVX2(&dstA[0], &dstB[0], &srcA[0], &srcB[0], &p.first[0], &p.weights[0], p.blocks, width)
		case p.five:
			weighRGBFiveAVX2(&dstA[0], &dstB[0], &srcA[0], &srcB[0], &p.first[0], &p.weights[0], width)
		default:
			weighRGBAVX2(&dstA[0], &dstB[0], &srcA[0], &srcB[0], &p.first[0], &p.weights[0], p.blocks, width)
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
	count := int(a.Count[i])
	_ = src[(count-1)*stride+len(dst)-1]
	weighRowsAVX2(&dst[0], &src[0], stride, &a.packed.weights[i*a.packed.length], count, len(dst))
}
