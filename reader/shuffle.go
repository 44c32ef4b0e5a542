package reader

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"unsafe"
)

// ShuffleOptions are those of [Pipe.ShuffleWith].
type ShuffleOptions struct {
	// Buffer is how many elements to choose from, 1 or more.
	Buffer int
	// Seed of the order. Default: that of the [Options].
	Seed *uint64
	// SameEachEpoch keeps the order from epoch to epoch, where that of what
	// comes in is the same.
	SameEachEpoch bool
}

// Shuffle gives elements in a random order, as tf.data's Dataset.shuffle does:
// each is drawn from a buffer of that many, and the next one takes its place.
// So none comes more than buffer - 1 places early, and any may come late. Each
// epoch of a Repeat behind it has another order.
//
// The buffer holds copies of the records; Report shows how much that is, as Held. To
// resume in the middle, about buffer·(ln buffer + 1) elements are read
// again.
func (p Pipe) Shuffle(buffer int) Pipe { return p.ShuffleWith(ShuffleOptions{Buffer: buffer}) }

// ShuffleWith is Shuffle with more to choose.
func (p Pipe) ShuffleWith(o ShuffleOptions) Pipe {
	var seed uint64
	if o.Seed != nil {
		seed = *o.Seed
	} else if p.set != nil {
		seed = p.set.opts.Seed
	}
	name := fmt.Sprintf("shuffle(buffer=%d,seed=%d", o.Buffer, seed)
	if o.SameEachEpoch {
		name += ",same"
	}
	name += ")"
	next := p.then(name, func(r *run, up stage) (stage, error) {
		if o.Buffer < 1 || o.Buffer > maxShuffle {
			return nil, fmt.Errorf("reader: Shuffle(%d): want a buffer of 1 to %d", o.Buffer, maxShuffle)
		}
		// Two shuffles in a row are not to draw the same numbers.
		k := key(seed, forShuffle, uint64(len(r.names)))
		return &shuffleStage{run: r, up: up, stats: r.stats(name), name: name, size: o.Buffer, key: k, same: o.SameEachEpoch}, nil
	})
	next.last.shuffles = true
	return next
}

// maxShuffle bounds a buffer: to resume takes 8 bytes of memory for each place.
const maxShuffle = 1 << 31

// largeRecord is from which size on a record has memory of its own, which goes on
// with it. Smaller ones are copied once more, and their memory is used again. To
// hold on to the memory that they came in would keep several times as much.
const largeRecord = 16 << 10

// shuffleBuffer is how many bytes of small records a block may have.
const shuffleBuffer = 128 << 10

// shuffleStage draws number i of the epoch from slot draws.below(i, elements in
// the buffer). So the buffer's content at any time follows from the number of
// elements given, without a history.
type shuffleStage struct {
	run   *run
	up    stage
	stats *stageStats
	name  string
	size  int
	key   uint64
	same  bool

	draws draws
	slots []shuffleSlot // those in use
	in    *Block
	i     int   // elements of in that were taken
	came  int64 // elements of the epoch that were taken
	given int64
	total int64 // elements of the epoch; -1 before its end was seen
	marks []*shuffleMark
	err   error

	owned   int64 // bytes of slots and their memory,
	charged int64 // and what the budget knows of
}

// shuffleSlot holds an element of the buffer.
type shuffleSlot struct {
	record Record
	memory []byte // for the record's data
	mark   *shuffleMark
}

// shuffleMark is a place to read again from.
type shuffleMark struct {
	first int64    // element of the epoch that follows
	at    position // of the stage before
	live  int      // elements in the buffer that came between this mark and the next
}

func (x *shuffleStage) start(ctx context.Context, epoch int64, at position) error {
	x.clear()
	if x.same {
		epoch = 0
	}
	x.draws = draws(key(x.key, uint64(epoch)))
	own, before := at.pop()
	if err := x.up.start(ctx, epoch, before); err != nil || at == nil {
		return err
	}
	if len(own) != 3 {
		return errPosition(x.name)
	}
	return x.refill(own[0], own[1], own[2])
}

func (x *shuffleStage) clear() {
	for i := range x.slots {
		x.slots[i].free()
	}
	if x.in != nil {
		x.in.Release()
	}
	x.slots, x.in, x.i = x.slots[:0], nil, 0
	x.came, x.given, x.total = 0, 0, -1
	x.marks, x.err = nil, nil
}

func (x *shuffleStage) stop() {
	x.clear()
	x.slots, x.owned = nil, 0
	x.account()
	x.up.stop()
}

// unaccounted is how many bytes the budget need not know of: so that small records
// cost no lock each, and a buffer that is being filled with large ones is seen as it
// grows, by those who read ahead.
const unaccounted = 64 << 10

// account brings what the budget knows of the slots up to date.
func (x *shuffleStage) account() {
	if x.owned != x.charged {
		x.run.budget.addHeld(x.owned - x.charged)
		x.charged = x.owned
	}
}

// free lets go of what the slot holds, its own memory aside.
func (s *shuffleSlot) free() {
	s.record, s.mark = Record{}, nil
}

// take puts the next element into s; false at the end, or at an error.
func (x *shuffleStage) take(s *shuffleSlot, watch *stopwatch) bool {
	if !x.arrive(watch) {
		return false
	}
	s.record = x.in.Records[x.i]
	had := cap(s.memory)
	s.memory = append(s.memory[:0], s.record.Data...)
	s.record.Data = s.memory
	x.owned += int64(cap(s.memory) - had)
	if x.owned-x.charged > unaccounted {
		x.account()
	}
	s.mark = x.marks[len(x.marks)-1]
	s.mark.live++
	x.i++
	x.came++
	return true
}

// arrive makes sure that in has an element.
func (x *shuffleStage) arrive(watch *stopwatch) bool {
	if x.in != nil && x.i < len(x.in.Records) {
		return true
	}
	if x.in != nil {
		x.in.Release()
		x.in = nil
	}
	if x.err != nil || x.total >= 0 {
		return false
	}
	watch.busy()
	b, err := x.up.next()
	watch.waited()
	if err == io.EOF {
		x.total = x.came
		return false
	}
	if err != nil {
		x.err = err
		return false
	}
	x.in, x.i = b, 0
	// The fewer marks, the less to keep; the more, the less to read again.
	if n := len(x.marks); n == 0 || x.came-x.marks[n-1].first >= int64(x.size/8) {
		x.marks = append(x.marks, &shuffleMark{first: x.came, at: slices.Clone(b.at)})
	}
	return true
}

// grow adds an empty slot to the buffer.
func (x *shuffleStage) grow() *shuffleSlot {
	n := len(x.slots)
	if n < cap(x.slots) {
		x.slots = x.slots[:n+1] // with the memory that it had
	} else {
		x.slots = append(x.slots, shuffleSlot{})
		x.owned += int64(cap(x.slots)-n) * int64(unsafe.Sizeof(shuffleSlot{}))
	}
	return &x.slots[n]
}

func (x *shuffleStage) next() (*Block, error) {
	watch := x.stats.watch()
	defer func() {
		x.account()
		watch.busy()
	}()
	for len(x.slots) < x.size && x.total < 0 {
		if !x.take(x.grow(), &watch) {
			x.slots = x.slots[:len(x.slots)-1]
			if x.err != nil {
				return nil, x.err
			}
		}
	}
	if x.err != nil {
		return nil, x.err
	}
	if len(x.slots) == 0 {
		return nil, io.EOF
	}
	out := x.run.newBuffer(false)
	m := x.oldest()
	out.at = append(out.at, m.at...).push(m.first, x.given, x.total)
	if cap(out.buf) < shuffleBuffer {
		out.setBuf(make([]byte, shuffleBuffer))
	}
	out.buf = out.buf[:0]
	size := 0 // of the records in out; a recycled block may have more memory than that
	for len(out.Records) < blockRecords && len(x.slots) > 0 && size < blockBytes {
		i := x.draws.below(x.given, len(x.slots))
		s := &x.slots[i]
		n := len(s.memory)
		if n < largeRecord && n > cap(out.buf)-len(out.buf) {
			break // never the first record: shuffleBuffer is larger than it
		}
		size += n
		x.give(s, out)
		x.given++
		if !x.take(s, &watch) {
			if x.err != nil {
				break
			}
			last := len(x.slots) - 1
			x.slots[i], x.slots[last] = x.slots[last], x.slots[i]
			x.slots = x.slots[:last]
		}
	}
	x.stats.gave(out)
	return out, nil
}

// give moves the element of a slot to out.
func (x *shuffleStage) give(s *shuffleSlot, out *Block) {
	r := s.record
	if n := int64(cap(s.memory)); len(s.memory) >= largeRecord {
		x.owned -= n
		out.charge(n)
		s.memory = nil
	} else {
		begin := len(out.buf)
		out.buf = append(out.buf, s.memory...)
		r.Data = out.buf[begin:len(out.buf):len(out.buf)]
	}
	out.Records = append(out.Records, r)
	s.mark.live--
	s.free()
}

// oldest returns the last mark ahead of everything in the buffer.
func (x *shuffleStage) oldest() *shuffleMark {
	i := 0
	for i+1 < len(x.marks) && x.marks[i].live == 0 {
		i++
	}
	x.marks = x.marks[i:]
	return x.marks[0]
}

// refill reads again what was in the buffer when given elements had been
// given, from element first on.
func (x *shuffleStage) refill(first, given, total int64) error {
	if first < 0 || given < 0 || max(first, given, total) > maxSkip || total >= 0 && given > total {
		return errPosition(x.name)
	}
	held := x.held(given, total)
	order := make([]int, len(held))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(held[a], held[b]) })
	x.came, x.given = first, given
	for range held {
		x.grow()
	}
	defer x.account()
	until := given + int64(x.size)
	if total >= 0 {
		until = total
	}
	watch := x.stats.watch()
	for x.came < until {
		if !x.arrive(&watch) {
			if x.err != nil {
				return x.err
			}
			return fmt.Errorf("resume: %w: it has more records than there are", ErrState)
		}
		if len(order) > 0 && held[order[0]] == x.came {
			x.take(&x.slots[order[0]], &watch)
			order = order[1:]
			continue
		}
		x.i++
		x.came++
	}
	if len(order) > 0 || total >= 0 && x.arrive(&watch) {
		return errPosition(x.name)
	}
	return x.err
}

// held returns which element of the epoch each slot holds.
func (x *shuffleStage) held(given, total int64) []int64 {
	size := int64(x.size)
	if total >= 0 {
		size = min(size, total)
	}
	full := given // draws from a full buffer
	if total >= 0 {
		full = min(given, total-size)
	}
	held := make([]int64, size)
	for i := range held {
		held[i] = -1
	}
	// The last draw of a slot says what came in for it.
	for i, left := full-1, size; i >= 0 && left > 0; i-- {
		if s := x.draws.below(i, int(size)); held[s] < 0 {
			held[s] = size + i
			left--
		}
	}
	for i := range held {
		if held[i] < 0 {
			held[i] = int64(i)
		}
	}
	for i := full; i < given; i++ {
		s, last := x.draws.below(i, len(held)), len(held)-1
		held[s] = held[last]
		held = held[:last]
	}
	return held
}
