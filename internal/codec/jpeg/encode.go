package jpeg

import (
	"slices"
	"sync"
)

// ownEncoder is the encoder of this package: baseline JPEG with the standard
// Huffman tables, byte by byte the file that libjpeg-turbo 2.1.5 writes.
type ownEncoder struct{}

func (ownEncoder) name() string { return "tfrec 1" }

func (ownEncoder) append(dst []byte, p Pixels, quality int, sub Subsampling) ([]byte, error) {
	e := encodings.Get().(*encoding)
	defer encodings.Put(e)
	if p.Format == Gray {
		sub = SubGray
	}
	e.begin(p.Width, p.Height, quality, sub)
	if p.Format == Gray {
		return e.encode(dst, planeSource{pix: [3][]byte{p.Pix}, stride: [3]int{p.Stride}}.row), nil
	}
	e.strips.reset(e)
	return e.encode(dst, func(e *encoding, y int) { e.strips.row(e, &p, y) }), nil
}

func (ownEncoder) appendPlanes(dst []byte, p *Planar, quality int) ([]byte, error) {
	e := encodings.Get().(*encoding)
	defer encodings.Put(e)
	e.begin(p.Width, p.Height, quality, p.Sampling)
	return e.encode(dst, planeSource{pix: p.Pix, stride: p.Stride}.row), nil
}

// encoding is the work on one image. Its memory is used again for the next.
type encoding struct {
	width, height int
	sub           Subsampling
	quality       int // that the tables are for
	quant         [2][64]uint16
	divisors      [2]divisors

	components []component
	wide, high int          // MCUs across and down
	mcu        []codedBlock // the blocks of an MCU
	coefs      []block      // of a row of MCUs, in the order in which they are coded
	nonzero    []uint64
	raw        []byte // a row of MCUs, coded, before stuffing
	state      entropyState
	strips     strips
	corner     [8 * 16]byte
}

// component is the samples of one kind in an MCU.
type component struct {
	across, down  int // blocks in an MCU
	first         int // block in an MCU
	width, height int // samples
	wide, high    int // blocks that have samples: an MCU at the edge may have others
	table         int // 0 for luminance, 1 for chrominance
}

var encodings = sync.Pool{New: func() any { return new(encoding) }}

// begin gets ready for an image.
func (e *encoding) begin(w, h, quality int, sub Subsampling) {
	if e.quality != quality {
		e.quality = quality
		for i := range e.quant {
			e.quant[i] = scaled(&standardQuant[i], quality)
			e.divisors[i].set(&e.quant[i])
		}
	}
	e.width, e.height, e.sub = w, h, sub
	e.state = entropyState{}
	across, down := sub.Factors()
	e.wide, e.high = ceilDiv(w, 8*across), ceilDiv(h, 8*down)
	e.components, e.mcu = e.components[:0], e.mcu[:0]
	codes := standardCodes()
	for i := range 3 {
		c := component{across: 1, down: 1, first: len(e.mcu), table: min(i, 1)}
		c.width, c.height = sub.ChromaSize(w, h)
		if i == 0 {
			c.across, c.down = across, down
			c.width, c.height = w, h
		}
		c.wide, c.high = ceilDiv(c.width, 8), ceilDiv(c.height, 8)
		for range c.across * c.down {
			e.mcu = append(e.mcu, codedBlock{&codes[c.table], uint64(i)})
		}
		e.components = append(e.components, c)
		if sub == SubGray {
			break
		}
	}
	n := e.wide * len(e.mcu)
	e.coefs = slices.Grow(e.coefs[:0], n)[:n]
	e.nonzero = slices.Grow(e.nonzero[:0], n)[:n]
	n = n*maxBlockBytes + storeSlack
	e.raw = slices.Grow(e.raw[:0], n)[:n]
}

// encode appends the file. row is called for each row of MCUs, to call blocks
// for each row of blocks that has samples.
func (e *encoding) encode(dst []byte, row func(e *encoding, y int)) []byte {
	dst = appendHeader(dst, e.width, e.height, &e.quant, e.sub)
	for y := range e.high {
		row(e, y)
		e.fill(y)
		n := e.state.blocks(e.raw, e.coefs, e.nonzero, e.mcu)
		dst = appendStuffed(dst, e.raw[:n])
	}
	return append(e.state.end(dst), 0xFF, markerEOI)
}

// blocks transforms n blocks from block x on in row y of an MCU's blocks.
func (e *encoding) blocks(c *component, x, y int, src []byte, stride, n int) {
	if n == 0 {
		return
	}
	size := len(e.mcu)
	at := blockLayout{between: 1, step: size}
	if c.across == 1 {
		at = blockLayout{between: size, step: 2 * size}
	}
	first := x/c.across*size + c.first + y*c.across
	fdct(e.coefs[first:], e.nonzero[first:], at, src, stride, &e.divisors[c.table], n)
}

// fill sets the blocks without samples in row y of MCUs. Their only coefficient is copied from the
// block before.
func (e *encoding) fill(y int) {
	for i := range e.components {
		c := &e.components[i]
		for v := range c.down {
			x := c.wide
			if y*c.down+v >= c.high {
				x = 0
			}
			for ; x < e.wide*c.across; x++ {
				at := x/c.across*len(e.mcu) + c.first + v*c.across + x%c.across
				e.coefs[at][0] = e.coefs[at-1][0]
				e.nonzero[at] = 0
			}
		}
	}
}
