package cuda

import (
	"time"
	"unsafe"
)

// driver is the difference between the two builds: with the tag cuda it is cu, without it none. It
// adds only the call's name to errors of the driver's calls, which are *callError, except for
// errors of opening it.
type driver interface {
	// version is 1000 times CUDA's major version and 10 times its minor.
	version() (int, error)
	// noVideo returns the reason why the driver's library for video does not load, "" if it does.
	noVideo() string
	count() (int, error)
	info(index int) (Info, error)
	// retain makes a context whose waits sleep, or returns the existing one unchanged.
	retain(index int) (context, error)
}

// context is the primary context of a GPU. All but enter and release want that it
// is the calling thread's current one.
type context interface {
	enter() error
	release() error
	memory() (free, total int64, err error)
	load(ptx []byte) (module, error)
	newStream() (stream, error)
	// newEvent makes an event, with the time that it was reached or without.
	newEvent(timed bool) (event, error)
	alloc(bytes int) (uintptr, error)
	free(address uintptr) error
	allocHost(bytes int) (unsafe.Pointer, error)
	freeHost(p unsafe.Pointer) error
}

type module interface {
	function(name string) (function, error)
	unload() error
}

// function is a driver's own; only its stream looks into it.
type function any

type stream interface {
	upload(to uintptr, from unsafe.Pointer, bytes int) error
	download(to unsafe.Pointer, from uintptr, bytes int) error
	fill(to uintptr, value byte, bytes int) error
	// launch gets pointers to eight bytes for each parameter.
	launch(f function, grid, block Dim, params []unsafe.Pointer) error
	record(e event) error
	destroy() error
	// handle is the driver's own, for other libraries.
	handle() uintptr
}

type event interface {
	query() error
	synchronize() error
	// since is the time from another event to this one; both are timed and reached.
	since(earlier event) (time.Duration, error)
	destroy() error
}

// callError is a call that the driver answered with an error.
type callError struct {
	call string
	code int
	name string
}

func (e *callError) Error() string { return e.call + " answers " + e.name }
