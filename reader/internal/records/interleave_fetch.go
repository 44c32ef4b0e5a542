package records

import "github.com/tfrec/tfrec/reader/internal/pipeline"

// fetch gets the next block for a slot, or frees the slot if there is none; it only waits if wait
// is set. False means that next has to return.
func (x *interleave) fetch(s *slot, wait bool, watch *pipeline.Stopwatch) bool {
	if x.feeder.ready != nil {
		return x.fetchAny(wait, watch)
	}
	select {
	case b, more := <-s.feed.blocks:
		return x.fetched(s, b, more)
	default:
	}
	if !wait {
		return false
	}
	watch.Busy()
	x.feeder.waitFor(s.feed)
	b, more := <-s.feed.blocks // closed when the context ends
	x.feeder.stats.Awaited(watch.Waited())
	return x.fetched(s, b, more)
}

func (x *interleave) fetched(s *slot, b *pipeline.Block, more bool) bool {
	if more {
		s.feed.taking++
		x.feeder.stats.Queue.Add(-1)
		b.HandOver()
		s.blk, s.i, s.faults, s.held = b, 0, 0, 0
		return true
	}
	if err := s.feed.err; err != nil {
		x.err = err
		return false
	}
	x.feeder.ended(s.feed)
	*s = slot{}
	x.open--
	x.startAhead()
	x.advance()
	return true
}

// fetchAny moves to the next slot that has a block ready or can be assigned a file.
func (x *interleave) fetchAny(wait bool, watch *pipeline.Stopwatch) bool {
	for {
		for range x.slots {
			s := &x.slots[x.turn]
			if s.blk != nil || s.feed == nil && x.coming < len(x.order) {
				return true
			}
			if s.feed != nil {
				select {
				case b, more := <-s.feed.blocks:
					return x.fetched(s, b, more)
				default:
				}
			}
			x.advance()
		}
		if !wait {
			return false
		}
		watch.Busy()
		x.feeder.waitFor(nil)
		select {
		case <-x.feeder.ready:
		case <-x.feeder.ctx.Done():
			x.err = x.feeder.ctx.Err()
		}
		x.feeder.anyOne.Store(false)
		x.feeder.stats.Awaited(watch.Waited())
		if x.err != nil {
			return false
		}
	}
}
