package jpeg

import (
	"bytes"
	"sync"
	"sync/atomic"
)

// Spare are the processors that have nothing to do. It is safe for concurrent use.
type Spare interface {
	// TryAcquire takes one, if there is one.
	TryAcquire() bool
	// Release gives one back.
	Release()
}

const (
	// sharedBlocks is the minimum number of blocks in a scan that several goroutines decode: the
	// blocks of a megapixel, or less with chroma.
	sharedBlocks = 1 << 14
	// sharedGroups is the maximum number of groups that the restart intervals of a scan are divided
	// into.
	sharedGroups = 64
)

// helper is the state of a goroutine that decodes a part of a scan.
type helper struct {
	segment []byte
	coefs   []block
	scan    scan
	bits    bitReader
	guess   guess
}

var helpers = sync.Pool{New: func() any { return &helper{coefs: make([]block, runBlocks)} }}

// intervals is the work on the restart intervals of a scan, in groups.
type intervals struct {
	c        *checker
	s        *scan
	interval int   // MCUs in each
	each     int   // intervals in a group
	starts   []int // where the data of the groups begin
	count    int   // intervals in all
	next     atomic.Int64
	failed   atomic.Bool
}

// together decodes all restart intervals but the last of a sequential scan, whose data begin at
// pos, with the help of spare processors. It returns the number of intervals it has decoded and the
// position of the next one's data. It returns 0 intervals if no processor is spare, and for any
// inconsistency: the caller must then walk from the scan's beginning, and finds the fault.
func (c *checker) together(s *scan, pos int) (count, next int) {
	if c.spare == nil || !c.decoding || c.restart == 0 || c.h.Progressive() || s.until < s.units || s.units*s.blocks < sharedBlocks {
		return 0, pos
	}
	work := &intervals{c: c, s: s, interval: c.restart, count: ceilDiv(s.units, c.restart) - 1}
	if work.count < 2 || !c.spare.TryAcquire() {
		return 0, pos
	}
	work.each = ceilDiv(work.count, sharedGroups)
	next, ok := work.split(pos)
	if !ok {
		c.spare.Release()
		return 0, pos
	}
	helped(c.spare, 1, func(int) bool { return len(work.starts) > int(work.next.Load()) }, work.run)
	if work.failed.Load() {
		return 0, pos
	}
	return work.count, next
}

// split finds where the groups begin, and where the last interval does.
func (w *intervals) split(pos int) (next int, ok bool) {
	for number := range w.count {
		if number%w.each == 0 {
			w.starts = append(w.starts, pos)
		}
		for {
			i := bytes.IndexByte(w.c.data[pos:], 0xFF)
			if i < 0 || pos+i+1 >= len(w.c.data) {
				return 0, false
			}
			if pos += i; w.c.data[pos+1] != 0 {
				break
			}
			pos += 2
		}
		if pos, ok = restartMarker(w.c.data, pos, number); !ok {
			return 0, false
		}
	}
	return pos, true
}

// run decodes groups until there are none left.
func (w *intervals) run() {
	h := helpers.Get().(*helper)
	defer func() {
		if recover() != nil {
			w.failed.Store(true) // the caller's walk crashes as well, and reports it
			return
		}
		h.scan, h.bits = scan{}, bitReader{}
		if cap(h.segment) <= maxKept {
			helpers.Put(h)
		}
	}()
	h.scan = *w.s
	h.scan.coefs = h.coefs
	for !w.failed.Load() {
		group := int(w.next.Add(1)) - 1
		if group >= len(w.starts) {
			return
		}
		pos := w.starts[group]
		for number := group * w.each; number < min((group+1)*w.each, w.count); number++ {
			var ok bool
			if pos, ok = h.decode(w, pos, number); !ok {
				w.failed.Store(true)
				return
			}
		}
	}
}

// decode decodes one interval.
func (h *helper) decode(w *intervals, pos, number int) (next int, ok bool) {
	buf, next, err := nextMarker(h.segment[:0], w.c.data, pos)
	if err != nil {
		return 0, false
	}
	size := len(buf)
	h.segment = append(buf, zeros[:]...)
	h.bits = bitReader{buf: h.segment, end: size * 8}
	f := decodeSequential(&h.bits, &h.scan, number*w.interval, w.interval)
	if left := h.bits.end - h.bits.consumed(); f != 0 || left < 0 || left >= 8 {
		return 0, false
	}
	return restartMarker(w.c.data, next, number)
}
