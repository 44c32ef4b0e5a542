package jpeg

import (
	"bytes"
	"encoding/binary"
	"image"
	"sync"
)

// maxScans is the maximum number of scans of an image. Ordinary progressive images have ten; a
// hostile one could make the decoder walk over the whole image thousands of times.
const maxScans = 500

// Check scans all data of a Huffman-coded image ([Header.Huffman]), baseline or progressive,
// without computing a pixel. It returns an error that wraps [ErrDamaged] when anything does not add
// up: entropy-coded data missing or left over (a whole byte or more), an undefined code,
// coefficients past the end of a block, a restart marker missing or out of order, scans that are
// missing or contradict one another, no end of image. Bytes after the end of the image are not
// damage. Damage that leaves all of this consistent, such as one wrong bit in an amplitude, cannot
// be seen by any decoder.
//
// Of an image in arithmetic coding ([Header.Arithmetic]) it checks what can be checked without
// decoding: segments, tables, scans and restart markers, and that the file is not far too small
// for the blocks that its scans have. Missing or changed entropy-coded data go unnoticed.
//
// It takes an eighth of a byte a sample for progressive images and the size of a scan for all.
// It is safe for concurrent use. A defect of the check itself is an error that wraps
// [ErrUnsupported], not a panic.
func Check(data []byte, h *Header) error { return checkPart(data, h, Request{}) }

// checkPart is Check of the part of an image that decoding by this package would look at.
func checkPart(data []byte, h *Header, r Request) (err error) {
	if !h.Huffman() && !h.Arithmetic() {
		return unsupportedf("SOF%d with %d bits is beyond the check", h.SOF-markerSOF0, h.Precision)
	}
	c := takeChecker()
	defer c.release()
	defer c.recovered(&err)
	c.reset(data, h)
	c.part = r.part(data, h)
	return c.run()
}

var checkers = sync.Pool{New: func() any { return new(checker) }}

// takeChecker takes one from the pool; release gives it back.
func takeChecker() *checker { return checkers.Get().(*checker) }

// recovered makes a panic an error. It is deferred.
func (c *checker) recovered(err *error) {
	if p := recover(); p != nil {
		c.broken = true
		*err = unsupportedf("the decoder crashed: %v", p)
	}
}

// maxKept is the most bytes of buffers that anything here keeps for the next image.
const maxKept = 64 << 20

// release gives the checker back, without what belongs to others and without large buffers. One
// that broke down is not used again.
func (c *checker) release() {
	if c.broken {
		return
	}
	c.data, c.h, c.bits.buf, c.spare = nil, nil, nil, nil
	c.rows.forget()
	size := cap(c.segment) + cap(c.rows.line)
	for i := range c.planes {
		p := &c.planes[i]
		p.pix = nil
		size += 128*cap(p.coefs) + 8*cap(p.nonzero) + cap(c.pix[i])
	}
	if size <= maxKept {
		checkers.Put(c)
	}
}

// checker holds the tables and buffers of one walk, reused by the next.
type checker struct {
	data    []byte
	h       *Header
	restart int
	dc, ac  [4]huffTable
	quant   [4]quantTable
	scans   int
	segment []byte // one segment of entropy-coded data without its stuffed bytes, then padding
	planes  [4]plane
	scan    scan
	bits    bitReader
	broken  bool // by a panic
	work    work

	decoding bool            // the planes have targets
	part     image.Rectangle // required part, in pixels at full size: the rest is skipped; empty for all
	spare    Spare           // processors that may help, nil for none
	coefs    []block         // room for a run of MCUs
	pix      [4][]byte       // planes that are converted to pixels
	rows     pixelRows
}

// quantTable is a quantisation table as a DQT segment gives it.
type quantTable struct {
	present bool
	steps   [64]uint16 // in natural order
}

// plane describes one component.
type plane struct {
	Component
	wide, high       int // blocks in a scan of this component alone
	stride, rows     int // blocks when interleaved, padded to whole MCUs
	seen             bool
	nonzero          []uint64 // progressive: for each block, which coefficients are known to be not zero, the first in the highest bit
	precision        [64]int8 // progressive: the point transform that each coefficient has reached, -1 before its first scan
	dcTable, acTable *huffTable
	target
}

// padding is the number of readable bytes after a segment, more than one block can use.
const padding = 64*4 + 16

var zeros [padding]byte

// reset prepares for an image.
func (c *checker) reset(data []byte, h *Header) {
	c.data, c.h, c.restart, c.scans, c.work = data, h, 0, 0, work{}
	c.decoding, c.part, c.spare = false, image.Rectangle{}, nil
	for i := range c.dc {
		c.dc[i].present, c.ac[i].present, c.quant[i].present = false, false, false
	}
	hmax, vmax := h.maxSampling()
	for i := range c.planes[:h.N] {
		p := &c.planes[i]
		*p = plane{Component: h.Components[i], nonzero: p.nonzero[:0], target: target{coefs: p.coefs[:0]}}
		p.wide = ceilDiv(ceilDiv(h.Width*p.H, hmax), 8)
		p.high = ceilDiv(ceilDiv(h.Height*p.V, vmax), 8)
		p.stride = ceilDiv(h.Width, 8*hmax) * p.H
		p.rows = ceilDiv(h.Height, 8*vmax) * p.V
		for k := range p.precision {
			p.precision[k] = -1
		}
	}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// run reads all segments to the end of the image.
func (c *checker) run() error {
	pos := 2
	for {
		m, seg, next, err := segment(c.data, pos)
		if err != nil {
			return err
		}
		switch {
		case m == markerEOI:
			return c.complete()
		case m == markerSOI:
			return damagef("a second start of image at byte %d", pos)
		case isSOF(m) && c.scans > 0:
			return damagef("a frame header at byte %d after the first scan", pos)
		case m == markerDHT:
			err = c.huffman(seg, pos)
		case m == markerDAC && c.h.Arithmetic():
			err = conditioning(seg, pos)
		case m == markerDQT:
			err = c.quantisation(seg, pos)
		case m == markerDRI:
			if len(seg) != 2 {
				return damagef("a restart interval of %d bytes at byte %d", len(seg), pos)
			}
			c.restart = int(binary.BigEndian.Uint16(seg))
		case m == markerSOS:
			if c.scans++; c.scans > maxScans {
				return damagef("more than %d scans", maxScans)
			}
			next, err = c.walk(seg, pos, next)
			if err == errEnough {
				return nil
			}
		}
		if err != nil {
			return err
		}
		pos = next
	}
}

// complete returns an error at the end of the image unless all components came.
func (c *checker) complete() error {
	if err := c.work.check(c.h); err != nil {
		return err
	}
	for i := range c.planes[:c.h.N] {
		if p := &c.planes[i]; !p.seen {
			return damagef("the image ends without any data of component %d", p.ID)
		}
	}
	if c.decoding && c.h.Progressive() {
		c.finish()
	}
	return nil
}

// huffman reads a DHT segment.
func (c *checker) huffman(seg []byte, pos int) error {
	for len(seg) > 0 {
		if len(seg) < 17 {
			return damagef("the Huffman tables at byte %d are cut short", pos)
		}
		class, id := seg[0]>>4, seg[0]&15
		n := 0
		for _, count := range seg[1:17] {
			n += int(count)
		}
		if class > 1 || id > 3 || n > 256 || len(seg) < 17+n {
			return damagef("the Huffman table at byte %d has class %d, number %d and %d codes", pos, class, id, n)
		}
		t := &c.dc[id]
		if class == 1 {
			t = &c.ac[id]
		}
		t.set(seg[1:17], seg[17:17+n])
		seg = seg[17+n:]
	}
	return nil
}

// quantisation reads a DQT segment.
func (c *checker) quantisation(seg []byte, pos int) error {
	for len(seg) > 0 {
		size := 65
		if seg[0]>>4 != 0 {
			size = 129
		}
		if seg[0]>>4 > 1 || seg[0]&15 > 3 || len(seg) < size {
			return damagef("the quantisation table at byte %d is cut short or misnumbered", pos)
		}
		t := &c.quant[seg[0]&15]
		t.present = true
		for k := range t.steps {
			if size == 65 {
				t.steps[naturalOrder[k]] = uint16(seg[1+k])
			} else {
				t.steps[naturalOrder[k]] = binary.BigEndian.Uint16(seg[1+2*k:])
			}
		}
		seg = seg[size:]
	}
	return nil
}

// table is a Huffman table made ready for a scan; class is 0 for DC and 1 for AC.
func (c *checker) table(class, id int) (*huffTable, error) {
	t := &c.dc[id]
	if class == 1 {
		t = &c.ac[id]
	}
	if !t.present {
		if !c.h.NoTables || id > 1 {
			return nil, damagef("a scan uses Huffman table %d, which is not defined", id)
		}
		standard := standardTables[id][class]
		t.set(standard[:16], standard[16:])
	}
	return t, t.derive(class == 1)
}

// nextMarker finds the end of the entropy-coded data that begin at pos: the first FF that
// is not stuffed. It appends the data, without the stuffing, to buf.
func nextMarker(buf, data []byte, pos int) ([]byte, int, error) {
	for {
		i := bytes.IndexByte(data[pos:], 0xFF)
		if i < 0 || pos+i+1 >= len(data) {
			return nil, 0, damagef("the file ends at byte %d inside the data", len(data))
		}
		buf = append(buf, data[pos:pos+i]...)
		pos += i
		if data[pos+1] != 0 {
			return buf, pos, nil
		}
		buf = append(buf, 0xFF)
		pos += 2
	}
}
