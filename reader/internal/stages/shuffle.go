package stages

import (
	"context"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// ShuffleOptions are the options of Flow.ShuffleWith.
type ShuffleOptions struct {
	// Buffer is the number of elements to draw from, 1 or more.
	Buffer int
	// Seed of the order. Default: Seed of the Options.
	Seed *uint64
	// SameEachEpoch keeps the order from epoch to epoch, if the order of the input stays the same.
	SameEachEpoch bool
}

// Shuffle adds a stage that returns elements in a random order. seed is used if the options have
// none.
func Shuffle(before *pipeline.Link, o ShuffleOptions, seed uint64) *pipeline.Link {
	if o.Seed != nil {
		seed = *o.Seed
	}
	name := o.Name(seed)
	next := before.Then(name, func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		if err := o.Check(); err != nil {
			return nil, err
		}
		// Two consecutive shuffles must not draw the same numbers.
		k := pipeline.Key(seed, pipeline.ForShuffle, uint64(len(r.Names)))
		return &shuffleStage{run: r, up: up, stats: r.Stats(name), name: name, size: o.Buffer, key: k, same: o.SameEachEpoch, lent: &pipeline.Lent{}}, nil
	})
	next.Shuffles, next.Rereads = true, true
	return next
}

// Name identifies the order of a seed in a State.
func (o *ShuffleOptions) Name(seed uint64) string {
	name := fmt.Sprintf("shuffle(buffer=%d,seed=%d", o.Buffer, seed)
	if o.SameEachEpoch {
		name += ",same"
	}
	return name + ")"
}

// Check returns an error for a buffer that is out of range.
func (o *ShuffleOptions) Check() error {
	if o.Buffer < 1 || o.Buffer > MaxShuffle {
		return fmt.Errorf("reader: Shuffle(%d): want a buffer of 1 to %d", o.Buffer, MaxShuffle)
	}
	return nil
}

// MaxShuffle bounds a buffer: resuming takes 8 bytes of memory per slot.
const MaxShuffle = 1 << 31

// Each record in the buffer is a copy with memory of its own, which is passed on with the record and
// comes back when its block is released. Keeping the memory in which records arrive would take
// several times as much. Memory of LargeMemory and more is not reused.
const LargeRecord = 16 << 10

// LargeMemory is more than append allocates for a record below LargeRecord.
const LargeMemory = 2 * LargeRecord

// shuffleBlock is the maximum number of bytes of small records in a block.
const shuffleBlock = 128 << 10

// shuffleStage draws element i of the epoch from slot draws.below(i, elements in the buffer). So
// the number of elements returned determines the buffer's content, without a history.
type shuffleStage struct {
	run   *pipeline.Run
	up    pipeline.Stage
	stats *pipeline.Counters
	name  string
	size  int
	key   uint64
	same  bool

	draws pipeline.Draws
	slots []shuffleSlot // those in use
	in    *pipeline.Block
	i     int   // elements of in that were taken
	came  int64 // elements of the epoch that were taken
	given int64
	total int64 // elements of the epoch; -1 before its end was seen
	marks []*shuffleMark
	err   error

	spare   [][]byte       // memory for small records
	lent    *pipeline.Lent // memory that blocks return
	owned   int64          // bytes of slots and their memory
	charged int64          // and the part of them charged to the budget
}

// shuffleSlot holds an element of the buffer.
type shuffleSlot struct {
	record pipeline.Record // its data have memory of their own
	mark   *shuffleMark
}

// shuffleMark is a position to read again from.
type shuffleMark struct {
	first int64             // number in the epoch of the next element
	at    pipeline.Position // of the stage before
	live  int               // elements in the buffer from between this mark and the next
}

func (x *shuffleStage) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	x.clear()
	if x.same {
		epoch = 0
	}
	x.draws = pipeline.Draws(pipeline.Key(x.key, uint64(epoch)))
	own, before := at.Pop()
	if err := x.up.Start(ctx, epoch, before); err != nil || at == nil {
		return err
	}
	if len(own) != 3 {
		return pipeline.ErrPosition(x.name)
	}
	return x.refill(own[0], own[1], own[2])
}

func (x *shuffleStage) clear() {
	for i := range x.slots {
		s := &x.slots[i]
		x.keep(s.record.Data)
		*s = shuffleSlot{}
	}
	if x.in != nil {
		x.in.Release()
	}
	x.slots, x.in, x.i = x.slots[:0], nil, 0
	x.came, x.given, x.total = 0, 0, -1
	x.marks, x.err = nil, nil
}

func (x *shuffleStage) Stop() {
	x.clear()
	x.slots, x.spare, x.lent, x.owned = nil, nil, &pipeline.Lent{}, 0
	x.account()
	x.up.Stop()
}

// unaccounted is the number of bytes that may be missing from the budget: enough that small records
// do not cost a lock each, and little enough that readers ahead notice a buffer filling with large
// ones.
const unaccounted = 64 << 10

// account updates the budget to the size of the slots.
func (x *shuffleStage) account() {
	if x.owned != x.charged {
		x.run.Budget.AddHeld(x.owned - x.charged)
		x.charged = x.owned
	}
}

// take puts the next element into s; false at the end or on an error.
func (x *shuffleStage) take(s *shuffleSlot, watch *pipeline.Stopwatch) bool {
	if !x.arrive(watch) {
		return false
	}
	s.record = x.in.Records[x.i]
	s.record.Data = x.copied(s.record.Data)
	if x.owned-x.charged > unaccounted {
		x.account()
	}
	s.mark = x.marks[len(x.marks)-1]
	s.mark.live++
	x.i++
	x.came++
	return true
}

// copied returns a copy of data in memory of its own.
func (x *shuffleStage) copied(data []byte) []byte {
	var memory []byte
	if last := len(x.spare) - 1; last >= 0 && len(data) < LargeMemory {
		memory, x.spare = x.spare[last], x.spare[:last]
	}
	had := cap(memory)
	memory = append(memory[:0], data...)
	x.owned += int64(cap(memory) - had)
	return memory
}

// keep makes memory that is owned spare, unless it is large.
func (x *shuffleStage) keep(memory []byte) {
	if cap(memory) < LargeMemory {
		x.spare = append(x.spare, memory)
	} else {
		x.owned -= int64(cap(memory))
	}
}

// TakeBack makes the memory spare that blocks have returned.
func (x *shuffleStage) takeBack() {
	x.lent.TakeBack(func(memory []byte) {
		x.owned += int64(cap(memory))
		x.keep(memory)
	})
}

// arrive ensures that in has an element.
func (x *shuffleStage) arrive(watch *pipeline.Stopwatch) bool {
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
	watch.Busy()
	b, err := x.up.Next()
	watch.Waited()
	if err == io.EOF {
		x.total = x.came
		return false
	}
	if err != nil {
		x.err = err
		return false
	}
	x.in, x.i = b, 0
	// Fewer marks take less memory; more marks mean less to read again.
	if n := len(x.marks); n == 0 || x.came-x.marks[n-1].first >= int64(x.size/8) {
		x.marks = append(x.marks, &shuffleMark{first: x.came, at: slices.Clone(b.At)})
	}
	return true
}

// grow adds an empty slot to the buffer.
func (x *shuffleStage) grow() *shuffleSlot {
	n := len(x.slots)
	if n < cap(x.slots) {
		x.slots = x.slots[:n+1]
	} else {
		x.slots = append(x.slots, shuffleSlot{})
		x.owned += int64(cap(x.slots)-n) * int64(unsafe.Sizeof(shuffleSlot{}))
	}
	return &x.slots[n]
}

func (x *shuffleStage) Next() (*pipeline.Block, error) {
	watch := x.stats.Watch()
	x.takeBack()
	defer func() {
		x.account()
		watch.Busy()
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
	out := x.run.NewBlock()
	m := x.oldest()
	out.At = append(out.At, m.at...).Push(m.first, x.given, x.total)
	size, passed := 0, int64(0)
	for len(out.Records) < pipeline.BlockRecords && len(x.slots) > 0 && size < pipeline.BlockBytes {
		i := x.draws.Below(x.given, len(x.slots))
		s := &x.slots[i]
		n := len(s.record.Data)
		if n < LargeRecord && size+n > shuffleBlock && size > 0 {
			break
		}
		size += n
		passed += x.give(s, out)
		x.given++
		if !x.take(s, &watch) {
			if x.err != nil {
				break
			}
			last := len(x.slots) - 1
			*s, x.slots[last] = x.slots[last], shuffleSlot{}
			x.slots = x.slots[:last]
		}
	}
	x.owned -= passed
	out.Charge(passed)
	x.stats.Gave(out)
	return out, nil
}

// give moves the element of a slot to out, and returns the size of its memory.
func (x *shuffleStage) give(s *shuffleSlot, out *pipeline.Block) int64 {
	r := s.record
	size := cap(r.Data)
	if size < LargeMemory || x.run.Opts.PoisonRecycled {
		out.Lend(r.Data, x.lent)
	}
	r.Data = r.Data[:len(r.Data):len(r.Data)]
	out.Records = append(out.Records, r)
	s.mark.live--
	*s = shuffleSlot{}
	return int64(size)
}

// oldest returns the last mark before everything in the buffer.
func (x *shuffleStage) oldest() *shuffleMark {
	i := 0
	for i+1 < len(x.marks) && x.marks[i].live == 0 {
		i++
	}
	x.marks = x.marks[i:]
	return x.marks[0]
}
