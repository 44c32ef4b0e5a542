//go:build cuda && linux && amd64 && cgo

package libcuda

/*
#cgo LDFLAGS: -L${SRCDIR}/link -ldl
#include "load.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// AbsentError means that no driver could be loaded.
type AbsentError struct {
	// Detail is the message of the loader.
	Detail string
}

func (e *AbsentError) Error() string { return "no NVIDIA driver: " + e.Detail }

// OldError reports a needed function that the driver does not have.
type OldError struct {
	Function string
}

func (e *OldError) Error() string { return "the NVIDIA driver has no " + e.Function }

// InitError reports that the driver's cuInit failed.
type InitError struct {
	// Code is a CUresult.
	Code int
}

func (e *InitError) Error() string {
	return fmt.Sprintf("the NVIDIA driver's cuInit answers %d", e.Code)
}

var loading sync.Mutex

// Load loads libcuda.so.1 where the system's loader finds it, calls its cuInit
// and lets all functions of the driver go there from then on. After success it
// does nothing; after a failure it tries again. Its errors are those above.
func Load() error {
	loading.Lock()
	defer loading.Unlock()
	var r C.libcuda_result
	C.libcuda_load(&r)
	switch r.outcome {
	case C.LIBCUDA_ABSENT:
		return &AbsentError{C.GoString(&r.detail[0])}
	case C.LIBCUDA_OLD:
		return &OldError{C.GoString(&r.detail[0])}
	case C.LIBCUDA_FAILED:
		return &InitError{int(r.code)}
	}
	return nil
}

// HostAlloc allocates bytes of pinned memory, for every context of the process,
// with the context of the calling thread. cu.MemFreeHost frees it. The code is a
// CUresult, 0 for success.
func HostAlloc(bytes int) (p unsafe.Pointer, code int) {
	code = int(C.libcuda_host_alloc(&p, C.ulong(bytes)))
	return p, code
}

// SliceUUID returns the UUID of a GPU or, if the process has a slice of one (MIG), of the slice. cu
// returns the UUID of the whole GPU in that case. The code is a CUresult, 0 for success; old
// drivers do not have the function.
func SliceUUID(device int) (uuid [16]byte, code int) {
	code = int(C.libcuda_slice_uuid((*C.uchar)(&uuid[0]), C.int(device)))
	return uuid, code
}

// ErrorName returns the name of a CUresult, such as CUDA_ERROR_OUT_OF_MEMORY, or
// "" for one that the driver does not know.
func ErrorName(code int) string {
	name := C.libcuda_error_name(C.int(code))
	if name == nil {
		return ""
	}
	return C.GoString(name)
}

// Video looks for libnvcuvid.so.1, the driver's library for video, without which nvJPEG does not
// reach the GPU's JPEG decoder. It returns an *AbsentError where that does not load.
func Video() error {
	var why [256]C.char
	if C.libcuda_video(&why[0], C.ulong(len(why))) != 0 {
		return &AbsentError{C.GoString(&why[0])}
	}
	return nil
}
