package stages

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// refill restores the buffer as it was after given elements had been returned, reading again from
// element first.
func (x *shuffleStage) refill(first, given, total int64) error {
	if first < 0 || given < 0 || max(first, given, total) > pipeline.MaxSkip || total >= 0 && given > total {
		return pipeline.ErrPosition(x.name)
	}
	held, order := HeldBy(x.draws, x.size, given, total)
	x.came, x.given = first, given
	for range held {
		x.grow()
	}
	defer x.account()
	until := given + int64(x.size)
	if total >= 0 {
		until = total
	}
	watch := x.stats.Watch()
	for x.came < until {
		if !x.arrive(&watch) {
			if x.err != nil {
				return x.err
			}
			return fmt.Errorf("resume: %w: it has more records than there are", pipeline.ErrState)
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
		return pipeline.ErrPosition(x.name)
	}
	return x.err
}

// HeldBy returns the number of the element in each slot of a buffer of most elements, after given draws,
// and the slots in the order in which their elements came. The epoch has total elements; below 0: more
// than were drawn and are in the buffer.
func HeldBy(draws pipeline.Draws, most int, given, total int64) (held []int64, order []int) {
	size := int64(most)
	if total >= 0 {
		size = min(size, total)
	}
	full := given // draws from a full buffer
	if total >= 0 {
		full = min(given, total-size)
	}
	held = make([]int64, size)
	for i := range held {
		held[i] = -1
	}
	// The last draw of a slot determines which element replaced it.
	for i, left := full-1, size; i >= 0 && left > 0; i-- {
		if s := draws.Below(i, int(size)); held[s] < 0 {
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
		s, last := draws.Below(i, len(held)), len(held)-1
		held[s] = held[last]
		held = held[:last]
	}
	order = make([]int, len(held))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(held[a], held[b]) })
	return held, order
}
