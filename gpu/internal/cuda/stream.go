package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// maxParams is the most parameters that a kernel is launched with.
const maxParams = 16

// Stream is a queue of copies and kernels, which the GPU works off in order, side by
// side with other streams. It and all that it makes belong to the goroutine that
// called [Device.NewStream], which keeps its thread until Close.
//
// Methods queue work that is done later. Its errors are returned by the next call that waits.
type Stream struct {
	device  *Device
	stream  stream // nil once closed
	reached event  // what waiting is for
	buffers map[*Buffer]struct{}
	hosts   map[*HostBuffer]struct{}
	events  map[*Event]struct{}

	// The parameters of a launch.
	values   [maxParams]uint64
	pointers [maxParams]unsafe.Pointer
}

// NewStream makes a stream and locks the calling goroutine to its thread. A goroutine
// may have several, of the same device.
func (d *Device) NewStream() (*Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fault(nil, 0, "GPU %d is closed", d.info.Index)
	}
	runtime.LockOSThread()
	s, err := d.newStream()
	if err != nil {
		runtime.UnlockOSThread()
		return nil, d.explain(err, "make a stream")
	}
	d.streams++
	return s, nil
}

func (d *Device) newStream() (*Stream, error) {
	if err := d.context.enter(); err != nil {
		return nil, err
	}
	queue, err := d.context.newStream()
	if err != nil {
		return nil, err
	}
	reached, err := d.context.newEvent(false)
	if err != nil {
		return nil, errors.Join(err, queue.destroy())
	}
	s := &Stream{
		device: d, stream: queue, reached: reached,
		buffers: map[*Buffer]struct{}{}, hosts: map[*HostBuffer]struct{}{}, events: map[*Event]struct{}{},
	}
	for i := range s.pointers {
		s.pointers[i] = unsafe.Pointer(&s.values[i])
	}
	return s, nil
}

// Device returns the device that the stream is of.
func (s *Stream) Device() *Device { return s.device }

// Handle is the driver's own handle, a CUstream, for libraries that take one; 0 once
// the stream is closed.
func (s *Stream) Handle() uintptr {
	if s.stream == nil {
		return 0
	}
	return s.stream.handle()
}

// Upload queues a copy of n bytes from a place in pinned memory to a place in a buffer. The source
// must not change until the copy was waited for.
func (s *Stream) Upload(to *Buffer, at int, from *HostBuffer, start, n int) error {
	if err := s.fits("upload", to, at, from, start, n); err != nil || n == 0 {
		return err
	}
	return s.device.explain(s.stream.upload(to.address+uintptr(at), unsafe.Pointer(&from.data[start]), n), "upload")
}

// Download queues a copy of n bytes from a place in a buffer to a place in pinned memory, which
// must not be read before a wait for the copy.
func (s *Stream) Download(to *HostBuffer, at int, from *Buffer, start, n int) error {
	if err := s.fits("download", from, start, to, at, n); err != nil || n == 0 {
		return err
	}
	return s.device.explain(s.stream.download(unsafe.Pointer(&to.data[at]), from.address+uintptr(start), n), "download")
}

// Fill queues that n bytes from a place in a buffer on become a value.
func (s *Stream) Fill(to *Buffer, at, n int, value byte) error {
	switch {
	case s.stream == nil:
		return errClosed
	case n < 0 || at < 0 || at > to.size || n > to.size-at:
		return fault(nil, 0, "fill: %d bytes from %d on in a buffer of %d", n, at, to.size)
	case n == 0:
		return nil
	}
	return s.device.explain(s.stream.fill(to.address+uintptr(at), value, n), "fill")
}

// fits returns an error unless the n bytes from each place on are in the buffer and in pinned
// memory.
func (s *Stream) fits(what string, b *Buffer, offset int, h *HostBuffer, start, n int) error {
	switch {
	case s.stream == nil:
		return errClosed
	case n < 0 || offset < 0 || offset > b.size || n > b.size-offset:
		return fault(nil, 0, "%s: %d bytes from %d on in a buffer of %d", what, n, offset, b.size)
	case start < 0 || start > len(h.data) || n > len(h.data)-start:
		return fault(nil, 0, "%s: %d bytes from %d on in pinned memory of %d", what, n, start, len(h.data))
	}
	return nil
}

var errClosed = errors.New("the stream is closed")

// usable returns an error if the stream can't allocate n bytes.
func (s *Stream) usable(n int) error {
	if s.stream == nil {
		return errClosed
	}
	if n < 1 {
		return fault(nil, 0, "allocate %d bytes: at least 1 is needed", n)
	}
	return nil
}

// Launch queues a kernel: a grid of blocks, each of threads. Parameters, at most 16, must match the
// kernel's in number and kinds; nothing checks this. Errors wrap ErrLaunch, unless memory is
// exhausted.
func (s *Stream) Launch(f *Function, grid, block Dim, params ...Param) error {
	if s.stream == nil {
		return errClosed
	}
	if len(params) > maxParams {
		return fault(nil, 0, "launch %s: %d parameters; %d are the most", f.name, len(params), maxParams)
	}
	for i, p := range params {
		s.values[i] = uint64(p)
	}
	err := s.stream.launch(f.function, grid.whole(), block.whole(), s.pointers[:len(params)])
	var call *callError
	if errors.As(err, &call) && !losesContext(call.code) && call.code != codeOutOfMemory {
		return fault(ErrLaunch, call.code, "GPU %d (%s) can't run kernel %s: %s", s.device.info.Index, s.device.info.Name, f.name, call)
	}
	return s.device.explain(err, "launch "+f.name)
}

// Synchronize waits, asleep, until all that was queued is done.
func (s *Stream) Synchronize() error {
	if s.stream == nil {
		return errClosed
	}
	return s.device.explain(s.wait(), "wait")
}

// wait waits by an event: whether a wait for the stream itself sleeps or keeps a processor busy is
// a matter of the context, which may be another library's.
func (s *Stream) wait() error {
	if err := s.stream.record(s.reached); err != nil {
		return err
	}
	return s.reached.synchronize()
}

// Close waits for all queued work, frees everything that the stream allocated and unlocks the
// goroutine's thread. It returns errors of that work, except the loss of the device if that was
// returned before; everything is freed in any case. Closing again does nothing.
func (s *Stream) Close() error {
	if s.stream == nil {
		return nil
	}
	d := s.device
	errs := []error{d.cleanup(s.wait()), d.cleanup(s.reached.destroy())}
	for e := range s.events {
		errs = append(errs, d.cleanup(e.event.destroy()))
		e.event = nil
	}
	for b := range s.buffers {
		errs = append(errs, b.Free())
	}
	for b := range s.hosts {
		errs = append(errs, b.Free())
	}
	errs = append(errs, d.cleanup(s.stream.destroy()))
	s.stream, s.reached, s.events = nil, nil, nil
	runtime.UnlockOSThread()
	d.mu.Lock()
	d.streams--
	d.mu.Unlock()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close a stream: %w", err)
	}
	return nil
}
