package jpeg

import (
	"sync"
	"sync/atomic"
)

// pieceBlocks is the average number of blocks in a piece of a scan. Tests make it smaller.
var pieceBlocks = 4096

const (
	// leastPieces is the minimum number of pieces in a scan that several goroutines decode.
	leastPieces = 16
	// maxHelpers is the maximum number of helping goroutines: each has room for four pieces'
	// blocks.
	maxHelpers = 15
	// maxStarts is the number of MCUs whose starts a guess remembers.
	maxStarts = 64
	// maxMisses is the number of useless guesses in a row after which no more are made.
	maxMisses = 4
)

// speculation is the work on a segment without restart markers, in pieces of the same number of
// bytes. The start of an MCU in a piece is unknown, but Huffman codes synchronise themselves: a
// decoder that starts anywhere soon reads the same codes as one that started at the beginning. So
// goroutines decode pieces as if an MCU began at the start of each piece. Then, in the order of the
// pieces, each continues from the true position until an MCU begins at the same bit as an MCU of
// its own: from there on its coefficients are correct, except that the DC coefficients of a
// component are all off by the same number. Samples are computed from them outside this order.
type speculation struct {
	s      *scan
	end    int // the MCU after the last one
	buf    []byte
	bits   int // of data in buf
	size   int // bytes of a piece
	pieces int
	room   int // MCUs of a guess
	next   atomic.Int64

	// The true position, for the goroutine whose piece has its turn.
	lock   sync.Mutex
	turned sync.Cond
	turn   int
	over   bool // all is decoded, or it failed
	failed bool
	at     position
	misses int // guesses in a row that were of no use
}

// position is a place between two MCUs of a sequential scan.
type position struct {
	bits  bitReader
	means [4]int32
	unit  int // the next MCU
}

// guess is a piece decoded as if an MCU began where the piece does.
type guess struct {
	coefs  []block // grouped by component, as in a single run of MCUs
	codes  []blockCode
	starts []start
	units  int      // MCUs decoded
	after  position // without the unit
}

// start is the position of an MCU of a guess. Only the first MCUs have one.
type start struct {
	bit   int
	means [4]int32
}

// match relates a guess to the image: n MCUs, from number from of the guess on, are the MCUs of the
// image from unit on.
type match struct {
	from, unit, n int
	missing       [4]int32 // from the means of each component
}

// speculate decodes n MCUs of a sequential scan, from the given one on, whose data are c.bits, with
// the help of spare processors. It returns false if no processor is spare, and for any
// inconsistency: the caller must then walk from the same MCU, and finds the fault.
func (c *checker) speculate(s *scan, first, n int) bool {
	if c.spare == nil || !c.decoding || c.h.Progressive() || s.until < s.units ||
		n*s.blocks < leastPieces*pieceBlocks || !c.spare.TryAcquire() {
		return false
	}
	w := c.speculation(s, first, n)
	helped(c.spare, 1, func(helpers int) bool { return helpers < min(maxHelpers, w.pieces/4) }, w.run)
	if w.failed || w.at.unit != w.end {
		return false
	}
	c.bits = w.at.bits
	return true
}

// speculation divides n MCUs, from the given one on, into pieces.
func (c *checker) speculation(s *scan, first, n int) *speculation {
	w := &speculation{s: s, end: first + n, buf: c.bits.buf, bits: c.bits.end, pieces: n * s.blocks / pieceBlocks,
		room: max(1, 4*pieceBlocks/s.blocks), at: position{bits: c.bits, unit: first}}
	w.size = max(1, ceilDiv(w.bits/8, w.pieces))
	w.turned.L = &w.lock
	return w
}

// run decodes pieces until there are none left.
func (w *speculation) run() {
	h := helpers.Get().(*helper)
	defer func() {
		if recover() != nil {
			w.pass(true) // the caller's walk crashes as well, and reports it
			return
		}
		h.scan, h.guess.after = scan{}, position{}
		clear(h.guess.codes)
		helpers.Put(h)
	}()
	h.scan = *w.s
	h.scan.coefs = h.coefs
	for {
		piece := int(w.next.Add(1)) - 1
		if piece >= w.pieces {
			return
		}
		h.guess.decode(w, piece)
		if !w.wait(piece) {
			return
		}
		m, ok := w.settle(h, piece)
		w.pass(!ok)
		h.guess.place(w, m)
	}
}

// wait waits until the piece has its turn, and reports false if there is nothing more to do.
func (w *speculation) wait(piece int) bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	for w.turn != piece && !w.over {
		w.turned.Wait()
	}
	return !w.over
}

// pass gives the turn to the next piece.
func (w *speculation) pass(failed bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.turn++
	w.failed = w.failed || failed
	w.over = w.failed || w.at.unit == w.end
	w.turned.Broadcast()
}

// settle brings the true position beyond the piece, with what was guessed as far as it is true, of
// which samples are still to be made. Where the guess is of no use, it decodes.
func (w *speculation) settle(h *helper, piece int) (m match, ok bool) {
	g, at := &h.guess, &w.at
	starts := g.starts
	for at.unit < w.end {
		bit := at.bits.consumed()
		if piece+1 < w.pieces && w.misses < maxMisses && bit >= (piece+1)*w.size*8 {
			break
		}
		for len(starts) > 0 && starts[0].bit < bit {
			starts = starts[1:]
		}
		if len(starts) > 0 && starts[0].bit == bit {
			m = match{from: len(g.starts) - len(starts), unit: at.unit}
			if m.n = g.units - m.from; m.n > w.end-at.unit {
				return match{}, false
			}
			for i := range m.missing {
				m.missing[i] = at.means[i] - starts[0].means[i]
				at.means[i] = g.after.means[i] + m.missing[i]
			}
			at.bits = g.after.bits
			at.unit += m.n
			starts = nil
			continue
		}
		n := w.end - at.unit
		if len(starts) > 0 {
			n = 1
		}
		n, f := h.scan.decodeRun(&at.bits, &at.means, at.unit, n)
		if f != 0 {
			return match{}, false
		}
		at.unit += n
	}
	if w.misses++; m.n > 0 {
		w.misses = 0
	}
	return m, true
}

// decode decodes a piece. Where it meets a fault, which shows that it had the wrong codes, it begins
// again after that.
func (g *guess) decode(w *speculation, piece int) {
	s := w.s
	if n := w.room * s.blocks; len(g.coefs) < n {
		g.coefs = make([]block, n)
	}
	at := &g.after
	at.bits = bitReader{buf: w.buf, pos: piece * w.size, end: w.bits}
	limit := min((piece+1)*w.size*8, w.bits-7) // after which there is but padding
	for again := true; again; {
		again = false
		g.codes, g.starts, g.units, at.means = s.codes(g.codes[:0], w.room), g.starts[:0], 0, [4]int32{}
		for g.units < w.room && at.bits.consumed() < limit {
			bit, run := at.bits.consumed(), 1
			if len(g.starts) < maxStarts {
				g.starts = append(g.starts, start{bit, at.means})
			} else if w.bits-bit > runBlocks*16*8 { // the end is not near
				// Not far beyond the limit, if the MCUs to come are like those before.
				likely := (limit - bit) * g.units / (bit - g.starts[0].bit)
				run = min(w.room-g.units, max(1, min(likely, runBlocks/s.blocks)))
			}
			g.each(w, g.units, run, func(_ int, _ *plane, _, _ int, coefs []block) { clear(coefs) })
			if f := at.bits.decodeBlocks(g.coefs, g.codes, &at.means, run); f != 0 {
				at.bits = bitReader{buf: w.buf, pos: at.bits.consumed()/8 + 1, end: w.bits}
				again = true
				break
			}
			g.units += run
		}
	}
}

// each calls do for each row of blocks of the given MCUs of the guess, with the component's number
// in the scan, the row in the MCU, and how many blocks across an MCU has.
func (g *guess) each(w *speculation, from, n int, do func(i int, p *plane, y, h int, coefs []block)) {
	at := 0
	for i, p := range w.s.planes {
		h, v := w.s.factors(p)
		for y := range v {
			do(i, p, y, h, g.coefs[at+from*h:][:n*h])
			at += h * w.room
		}
	}
}

// place computes samples from the matching part of a guess.
func (g *guess) place(w *speculation, m match) {
	for m.n > 0 {
		row, column := m.unit/w.s.across, m.unit%w.s.across
		run := min(m.n, w.s.across-column)
		g.each(w, m.from, run, func(i int, p *plane, y, h int, coefs []block) {
			for j := range coefs {
				coefs[j][0] += int16(m.missing[i])
			}
			_, v := w.s.factors(p)
			p.inverse(row*v+y, column*h, coefs)
		})
		m.from, m.unit, m.n = m.from+run, m.unit+run, m.n-run
	}
}
