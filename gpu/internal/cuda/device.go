package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// The oldest GPUs that kernels are compiled for: Volta.
const (
	leastMajor = 7
	leastMinor = 0
)

// Info describes a GPU.
type Info struct {
	// Index is the argument of [Open], from 0.
	Index int
	// Name is such as "NVIDIA H200".
	Name string
	// UUID is formatted as by nvidia-smi. For a slice of a GPU (MIG) it is the slice's.
	UUID string
	// Memory is all that it has, in bytes.
	Memory int64
	// Major and Minor are its compute capability.
	Major, Minor int
	// Multiprocessors run kernels, CopyEngines copies: with 2 of the latter it
	// copies both ways while kernels run.
	Multiprocessors, CopyEngines int
}

// Refusal returns nil if the GPU can be used, and otherwise an error with the reason that wraps
// ErrNoDevice.
func (i Info) Refusal() error {
	if i.Major > leastMajor || i.Major == leastMajor && i.Minor >= leastMinor {
		return nil
	}
	return fault(ErrNoDevice, 0, "GPU %d (%s) has compute capability %d.%d; %d.%d (Volta) or later is needed", i.Index, i.Name, i.Major, i.Minor, leastMajor, leastMinor)
}

// Driver is the result of [Survey].
type Driver struct {
	// Version is the CUDA version that the driver is for, such as "12.2".
	Version string
	// NoVideo is the reason why libnvcuvid.so.1, the driver's library for video, does not load; ""
	// if it does. Without it nvJPEG does not reach a GPU's JPEG decoder.
	NoVideo string
	// Devices are all its GPUs.
	Devices []Info
}

// Survey loads the driver and describes it and its GPUs, without taking any of
// their memory. Its errors wrap ErrNotBuilt, ErrNoDriver, ErrOldDriver or
// ErrNoDevice.
func Survey() (Driver, error) {
	d, err := openDriver()
	if err != nil {
		return Driver{}, err
	}
	v, err := d.version()
	if err != nil {
		return Driver{}, err
	}
	found := Driver{Version: VersionText(v), NoVideo: d.noVideo()}
	n, err := d.count()
	if err != nil {
		return Driver{}, err
	}
	if n == 0 {
		return Driver{}, noDevice()
	}
	for i := range n {
		info, err := d.info(i)
		if err != nil {
			return Driver{}, err
		}
		found.Devices = append(found.Devices, info)
	}
	return found, nil
}

// noDevice is the error without a GPU: cuInit returns it, or the count is 0.
func noDevice() error { return fault(ErrNoDevice, codeNoDevice, "the NVIDIA driver finds no GPU") }

// VersionText writes a version of CUDA, such as 12020, as "12.2".
func VersionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Device is a GPU that was opened: its primary context. It is safe for concurrent
// use.
type Device struct {
	info    Info
	version int
	context context
	lost    atomic.Bool

	mu      sync.Mutex
	streams int // that are open
	modules []module
	closed  bool
}

// Open opens a GPU by its number, from 0. It may be opened more than once. Errors
// wrap ErrNotBuilt, ErrNoDriver, ErrOldDriver, ErrNoDevice or ErrOutOfMemory.
func Open(index int) (*Device, error) {
	d, err := openDriver()
	if err != nil {
		return nil, err
	}
	version, err := d.version()
	if err != nil {
		return nil, err
	}
	n, err := d.count()
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, noDevice()
	}
	if index < 0 || index >= n {
		return nil, fault(ErrNoDevice, 0, "there is no GPU %d: the NVIDIA driver finds %d", index, n)
	}
	info, err := d.info(index)
	if err != nil {
		return nil, err
	}
	if err := info.Refusal(); err != nil {
		return nil, err
	}
	c, err := d.retain(index)
	if err != nil {
		var call *callError
		if errors.As(err, &call) && call.code == codeOutOfMemory {
			return nil, fault(ErrOutOfMemory, call.code, "GPU %d (%s) has no memory left to be opened: %s", index, info.Name, call)
		}
		return nil, fmt.Errorf("open GPU %d (%s): %w", index, info.Name, err)
	}
	return &Device{info: info, version: version, context: c}, nil
}

// Info describes the GPU.
func (d *Device) Info() Info { return d.info }

// Driver returns the CUDA version that the driver is for: 1000 times the major version and 10 times
// the minor.
func (d *Device) Driver() int { return d.version }

// Lost reports whether a kernel, or the GPU itself, failed in a way after which every call on this
// device fails. Then close everything, and continue without it.
func (d *Device) Lost() bool { return d.lost.Load() }

// Memory returns the free and the total memory of the GPU, in bytes.
func (d *Device) Memory() (free, total int64, err error) {
	err = d.do(func() error {
		free, total, err = d.context.memory()
		return err
	})
	return free, total, d.explain(err, "look at memory")
}

// kept are the contexts that stay for the life of the process, by the GPU's number.
var kept = struct {
	sync.Mutex
	contexts map[int]context
}{contexts: map[int]context{}}

// Keep has the GPU's primary context stay for the life of the process, also when all devices are
// closed: for libraries that are never unloaded and may refer to it. A context that is lost ends
// with the devices.
func (d *Device) Keep() error {
	kept.Lock()
	defer kept.Unlock()
	if kept.contexts[d.info.Index] != nil {
		return nil
	}
	driver, err := openDriver()
	if err != nil {
		return err
	}
	c, err := driver.retain(d.info.Index)
	if err != nil {
		return d.explain(err, "keep the context")
	}
	kept.contexts[d.info.Index] = c
	return nil
}

// letGo ends what Keep began.
func (d *Device) letGo() error {
	kept.Lock()
	defer kept.Unlock()
	c := kept.contexts[d.info.Index]
	if c == nil {
		return nil
	}
	delete(kept.contexts, d.info.Index)
	return d.cleanup(c.release())
}

// Close unloads the modules and releases the GPU. It fails while streams are open. Closing again
// does nothing. No other method of the device may be called afterwards.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if d.streams > 0 {
		return fault(nil, 0, "GPU %d can't be closed: %d of its streams are open", d.info.Index, d.streams)
	}
	d.closed = true
	err := d.do(func() error {
		var errs []error
		for _, m := range d.modules {
			errs = append(errs, d.cleanup(m.unload()))
		}
		if d.Lost() {
			errs = append(errs, d.letGo())
		}
		return errors.Join(append(errs, d.cleanup(d.context.release()))...)
	})
	d.modules = nil
	return err
}

// do calls f on a thread that has the device's context.
func (d *Device) do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.context.enter(); err != nil {
		return err
	}
	return f()
}

// cleanup explains an error of freeing something. It returns nil if the context is lost: everything
// was freed with it, and the loss was reported.
func (d *Device) cleanup(err error) error {
	var call *callError
	if d.Lost() && errors.As(err, &call) && losesContext(call.code) {
		return nil
	}
	return d.explain(err, "close")
}

// explain converts an error of the driver to one for the caller, and notes the loss of the context.
func (d *Device) explain(err error, what string) error {
	var call *callError
	if !errors.As(err, &call) {
		return err
	}
	switch {
	case losesContext(call.code):
		d.lost.Store(true)
		return fault(ErrLaunch, call.code, "GPU %d (%s) failed: %s; this process cannot use it any more", d.info.Index, d.info.Name, call)
	case call.code == codeOutOfMemory:
		return fault(ErrOutOfMemory, call.code, "%s: no memory left on GPU %d (%s): %s", what, d.info.Index, d.info.Name, call)
	case call.code == codeOutOfResources:
		return fault(ErrLaunch, call.code, "%s: GPU %d (%s) refuses: %s", what, d.info.Index, d.info.Name, call)
	}
	return fault(nil, call.code, "%s: GPU %d (%s): %s", what, d.info.Index, d.info.Name, call)
}
