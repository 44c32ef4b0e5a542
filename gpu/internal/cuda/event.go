package cuda

import (
	"errors"
	"time"
)

// Event is a place in a stream's queue.
type Event struct {
	stream *Stream
	event  event // nil once freed
}

// NewEvent makes an event.
func (s *Stream) NewEvent() (*Event, error) { return s.newEvent(false) }

// NewTimedEvent makes an event that keeps the time when it is reached, for [Event.Since]. Waiting
// for it takes a little longer.
func (s *Stream) NewTimedEvent() (*Event, error) { return s.newEvent(true) }

func (s *Stream) newEvent(timed bool) (*Event, error) {
	if s.stream == nil {
		return nil, errClosed
	}
	native, err := s.device.context.newEvent(timed)
	if err != nil {
		return nil, s.device.explain(err, "make an event")
	}
	e := &Event{stream: s, event: native}
	s.events[e] = struct{}{}
	return e, nil
}

// Record makes the event one that is reached when all is done that is queued now. An
// event may be recorded again and again, and counts as reached before.
func (s *Stream) Record(e *Event) error {
	if s.stream == nil {
		return errClosed
	}
	return s.device.explain(s.stream.record(e.event), "record an event")
}

// Wait waits, asleep, until the event is reached.
func (e *Event) Wait() error {
	if e.event == nil {
		return errClosed
	}
	return e.stream.device.explain(e.event.synchronize(), "wait")
}

// Since returns how long after another event the GPU reached this one. Both must be of
// [Stream.NewTimedEvent], recorded, and reached.
func (e *Event) Since(earlier *Event) (time.Duration, error) {
	if e.event == nil || earlier.event == nil {
		return 0, errClosed
	}
	d, err := e.event.since(earlier.event)
	return d, e.stream.device.explain(err, "read the times of events")
}

// Done reports whether the event is reached.
func (e *Event) Done() (bool, error) {
	if e.event == nil {
		return false, errClosed
	}
	err := e.event.query()
	var call *callError
	if errors.As(err, &call) && call.code == codeNotReady {
		return false, nil
	}
	return err == nil, e.stream.device.explain(err, "ask for an event")
}
