//go:build cuda && linux && amd64 && cgo

package cuda

import (
	"errors"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	// In front of cu, so that the linker looks for libcuda there first: nowhere else
	// is it sure not to find a driver that would then have to be there.
	"github.com/tfrec/tfrec/gpu/internal/libcuda"

	"gorgonia.org/cu"
)

// cuDriver is the driver through package cu. Of cu it uses the functions and plain
// types alone: its Ctx would hide errors and serialise.
type cuDriver struct{}

// initNames are the names of codes that cuInit returns for a broken installation, when the driver,
// which knows all names, is not available.
var initNames = map[int]string{
	34:  "CUDA_ERROR_STUB_LIBRARY: a library to link with, not a driver",
	999: "CUDA_ERROR_UNKNOWN: often the kernel module is not loaded",
	802: "CUDA_ERROR_SYSTEM_NOT_READY",
	803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: the library and the kernel module are of different versions",
	804: "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
}

func openDriver() (driver, error) {
	err := libcuda.Load()
	var absent *libcuda.AbsentError
	var old *libcuda.OldError
	var failed *libcuda.InitError
	switch {
	case err == nil:
		return cuDriver{}, nil
	case errors.As(err, &absent):
		return nil, fault(ErrNoDriver, 0, "no NVIDIA driver (%s); install it, or start the container with GPUs", absent.Detail)
	case errors.As(err, &old):
		return nil, fault(ErrOldDriver, 0, "the NVIDIA driver is too old: it has no %s; %s", old.Function, updateDriver)
	case errors.As(err, &failed) && failed.Code == codeNoDevice:
		return nil, noDevice()
	case errors.As(err, &failed):
		name := fmt.Sprintf("error %d", failed.Code)
		if known, ok := initNames[failed.Code]; ok {
			name = known
		}
		return nil, fault(ErrNoDriver, failed.Code, "the NVIDIA driver does not start: cuInit answers %s", name)
	}
	return nil, err
}

// answered makes an error of cu a *callError.
func answered(call string, err error) error {
	if err == nil {
		return nil
	}
	// The type of cu's errors, an integer, has no exported name.
	v := reflect.ValueOf(err)
	if !v.CanInt() {
		return fmt.Errorf("%s: %w", call, err)
	}
	return codeError(call, int(v.Int()))
}

func codeError(call string, code int) error {
	if code == 0 {
		return nil
	}
	name := libcuda.ErrorName(code)
	if name == "" {
		name = "an unknown error"
	}
	return &callError{call: call, code: code, name: fmt.Sprintf("%s (%d)", name, code)}
}

func (cuDriver) version() (int, error) {
	v := cu.Version()
	if v < 0 {
		return 0, errors.New("cuDriverGetVersion fails")
	}
	return v, nil
}

func (cuDriver) noVideo() string {
	var absent *libcuda.AbsentError
	if errors.As(libcuda.Video(), &absent) {
		return absent.Detail
	}
	return ""
}

func (cuDriver) count() (int, error) {
	n, err := cu.NumDevices()
	return n, answered("cuDeviceGetCount", err)
}

func (cuDriver) info(index int) (Info, error) {
	d, err := cu.GetDevice(index)
	if err != nil {
		return Info{}, answered("cuDeviceGet", err)
	}
	i := Info{Index: index}
	if i.Name, err = d.Name(); err != nil {
		return Info{}, answered("cuDeviceGetName", err)
	}
	if i.Memory, err = d.TotalMem(); err != nil {
		return Info{}, answered("cuDeviceTotalMem", err)
	}
	id, err := d.UUID()
	if err != nil {
		return Info{}, answered("cuDeviceGetUuid", err)
	}
	i.UUID = "GPU-" + id.String()
	if slice, code := libcuda.SliceUUID(int(d)); code == 0 && slice != id {
		id = slice
		i.UUID = "MIG-" + id.String()
	}
	for attribute, to := range map[cu.DeviceAttribute]*int{
		cu.ComputeCapabilityMajor: &i.Major,
		cu.ComputeCapabilityMinor: &i.Minor,
		cu.MultiprocessorCount:    &i.Multiprocessors,
		cu.AsyncEngineCount:       &i.CopyEngines,
	} {
		if *to, err = d.Attribute(attribute); err != nil {
			return Info{}, answered("cuDeviceGetAttribute", err)
		}
	}
	return i, nil
}

func (cuDriver) retain(index int) (context, error) {
	d, err := cu.GetDevice(index)
	if err != nil {
		return nil, answered("cuDeviceGet", err)
	}
	// The flags of a context that is in use are another library's choice.
	flags, active, err := d.PrimaryCtxState()
	if err != nil {
		return nil, answered("cuDevicePrimaryCtxGetState", err)
	}
	if active == 0 {
		err := answered("cuDevicePrimaryCtxSetFlags", d.SetPrimaryCtxFlags(flags&^cu.SchedMask|cu.SchedBlockingSync))
		var call *callError
		if err != nil && !(errors.As(err, &call) && call.code == codePrimaryActive) {
			return nil, err
		}
	}
	c, err := d.RetainPrimaryCtx()
	if err != nil {
		return nil, answered("cuDevicePrimaryCtxRetain", err)
	}
	return &cuContext{device: d, context: c}, nil
}

type cuContext struct {
	device  cu.Device
	context cu.CUContext
}

func (c *cuContext) enter() error {
	return answered("cuCtxSetCurrent", cu.SetCurrentContext(c.context))
}

func (c *cuContext) release() error {
	return answered("cuDevicePrimaryCtxRelease", c.device.ReleasePrimaryCtx())
}

func (c *cuContext) memory() (free, total int64, err error) {
	free, total, err = cu.MemInfo()
	return free, total, answered("cuMemGetInfo", err)
}

func (c *cuContext) alloc(bytes int) (uintptr, error) {
	p, err := cu.MemAlloc(int64(bytes))
	return uintptr(p), answered("cuMemAlloc", err)
}

func (c *cuContext) free(address uintptr) error {
	return answered("cuMemFree", cu.MemFree(cu.DevicePtr(address)))
}

func (c *cuContext) allocHost(bytes int) (unsafe.Pointer, error) {
	p, code := libcuda.HostAlloc(bytes)
	return p, codeError("cuMemHostAlloc", code)
}

func (c *cuContext) freeHost(p unsafe.Pointer) error {
	return answered("cuMemFreeHost", cu.MemFreeHost(p))
}

func (c *cuContext) load(ptx []byte) (module, error) {
	m, err := cu.LoadData(string(ptx))
	if err != nil {
		return nil, answered("cuModuleLoadData", err)
	}
	return cuModule{m}, nil
}

func (c *cuContext) newStream() (stream, error) {
	// Apart from the default stream, which nothing here uses.
	s, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return nil, answered("cuStreamCreate", err)
	}
	return &cuStream{s}, nil
}

func (c *cuContext) newEvent(timed bool) (event, error) {
	// Waiting sleeps, since the processor has other work. Events without timing are reported sooner.
	flags := cu.BlockingSyncEvent
	if !timed {
		flags |= cu.DisableTiming
	}
	e, err := cu.MakeEvent(flags)
	if err != nil {
		return nil, answered("cuEventCreate", err)
	}
	return &cuEvent{e}, nil
}

type cuModule struct{ module cu.Module }

func (m cuModule) function(name string) (function, error) {
	f, err := m.module.Function(name)
	if err != nil {
		return nil, answered("cuModuleGetFunction", err)
	}
	return f, nil
}

func (m cuModule) unload() error { return answered("cuModuleUnload", m.module.Unload()) }

type cuStream struct{ stream cu.Stream }

func (s *cuStream) upload(to uintptr, from unsafe.Pointer, bytes int) error {
	return answered("cuMemcpyHtoDAsync", cu.MemcpyHtoDAsync(cu.DevicePtr(to), from, int64(bytes), s.stream))
}

func (s *cuStream) download(to unsafe.Pointer, from uintptr, bytes int) error {
	return answered("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(to, cu.DevicePtr(from), int64(bytes), s.stream))
}

func (s *cuStream) fill(to uintptr, value byte, bytes int) error {
	return answered("cuMemsetD8Async", cu.MemsetD8Async(cu.DevicePtr(to), value, int64(bytes), s.stream))
}

func (s *cuStream) launch(f function, grid, block Dim, params []unsafe.Pointer) error {
	return answered("cuLaunchKernel", f.(cu.Function).Launch(grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z, 0, s.stream, params))
}

func (s *cuStream) record(e event) error {
	return answered("cuEventRecord", e.(*cuEvent).event.Record(s.stream))
}

func (s *cuStream) destroy() error { return answered("cuStreamDestroy", s.stream.Destroy()) }

func (s *cuStream) handle() uintptr { return uintptr(unsafe.Pointer(s.stream.C())) }

type cuEvent struct{ event cu.Event }

func (e *cuEvent) query() error { return answered("cuEventQuery", e.event.Query()) }

func (e *cuEvent) synchronize() error { return answered("cuEventSynchronize", e.event.Synchronize()) }

func (e *cuEvent) since(earlier event) (time.Duration, error) {
	ms, err := earlier.(*cuEvent).event.Elapsed(e.event)
	return time.Duration(ms * float64(time.Millisecond)), answered("cuEventElapsedTime", err)
}

func (e *cuEvent) destroy() error { return answered("cuEventDestroy", cu.DestroyEvent(&e.event)) }
