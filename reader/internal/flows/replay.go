package flows

import (
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// replayed is shared by stages that hold elements until a result is full. Their position is the one
// of the stages before, taken before the oldest held element, with the number of elements in each
// result there and the number of results given since. To resume, those results are made again and
// dropped. Their elements from before that position are not read again, only counted.
type replayed[T any] struct {
	in     Source[T]
	stage  flowStage
	stats  *pipeline.Counters
	fill   func(dst []int64) []int64 // appends how full every result is
	before pipeline.State            // of the epoch
	within bool                      // no result holds elements of two passes

	pass  int32       // of the last element; -1 if it is not known
	ahead *Element[T] // first one of the next pass
	ended error       // what in returned at the end of the epoch

	came  int64 // elements received in the epoch,
	given int64 // and results given
	last  Mark  // after the last element; before the first: the start of the epoch
	words []int64
}

// anchor is a position to read again from.
type anchor struct {
	came, given int64
	state       pipeline.State // of the stages before
	fill        []int64        // of the results
}

// begin starts an epoch at a section; nil is its beginning.
func (r *replayed[T]) begin(at []int64) {
	r.pass, r.came, r.given = -1, 0, 0
	r.last.release()
	start := r.in.State()
	r.last = Mark{saved: &start}
	if at == nil {
		at = append([]int64{0}, r.fill(nil)...)
	}
	r.before = r.stage.start(start, at...)
}

// receive returns the next element; nil at the end of a pass, where held elements must be given or
// dropped before the next call.
func (r *replayed[T]) receive() (*Element[T], error) {
	if e := r.ahead; e != nil {
		r.ahead = nil
		return e, nil
	}
	if r.ended != nil {
		return nil, r.ended
	}
	watch := r.stats.Watch()
	e, err := r.in.Next()
	watch.Waited()
	if err == io.EOF {
		r.ended = err
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if pass := e.Epoch(); r.within && pass >= 0 && pass != r.pass {
		first := r.pass < 0
		if r.pass = pass; !first {
			r.ahead = e
			return nil, nil
		}
	}
	return e, nil
}

// anchor returns the position before the next element.
func (r *replayed[T]) anchor() *anchor {
	return &anchor{came: r.came, given: r.given, state: r.last.State(), fill: r.fill(nil)}
}

// arrived moves the position to after an element. A result that begins with the element needs the
// anchor from before, and fill must not count the element yet.
func (r *replayed[T]) arrived(e *Element[T]) {
	r.last.release()
	r.last = e.Last().retain()
	r.came++
}

// mark returns the position after a result that is given now. oldest is the oldest anchor of the
// elements still held, or nil without any.
func (r *replayed[T]) mark(oldest *anchor) Mark {
	r.given++
	m := r.last.retain()
	r.words = append(r.words[:0], 0)
	if oldest == nil {
		r.words = r.fill(r.words)
	} else {
		m.saved, m.flow = &oldest.state, nil
		r.words[0] = r.given - oldest.given
		r.words = append(r.words, oldest.fill...)
	}
	return r.stage.after(m, r.words...)
}

// forget drops the state of the epoch.
func (r *replayed[T]) forget() {
	if r.ahead != nil {
		r.ahead.Drop()
	}
	r.ahead, r.ended = nil, nil
}

// end closes the flow before.
func (r *replayed[T]) end() {
	r.last.release()
	r.last = Mark{}
	r.in.Close()
}

// replay makes the first results again and drops them.
func replay[T, U any](r *replayed[T], results Source[U], n int64) error {
	for range n {
		e, err := results.Next()
		if err == io.EOF {
			return fmt.Errorf("resume: %w: it has more results of %s than there are", pipeline.ErrState, r.stage.name)
		}
		if err != nil {
			return err
		}
		e.Drop()
	}
	return nil
}

func (r *replayed[T]) Interrupt()             { r.in.Interrupt() }
func (r *replayed[T]) State() pipeline.State  { return r.before }
func (r *replayed[T]) Running() *pipeline.Run { return r.in.Running() }
