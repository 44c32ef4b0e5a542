package cuda

import "errors"

// Event is a place in a stream's queue.
type Event struct {
	stream *Stream
	event  event // nil once freed
}

// NewEvent makes an event.
func (s *Stream) NewEvent() (*Event, error) {
	if s.stream == nil {
		return nil, errClosed
	}
	native, err := s.device.context.newEvent()
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

// Done says whether the event is reached.
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
