//go:build cuda && linux && amd64 && cgo

package nvjpeg

/*
#cgo LDFLAGS: -ldl
#include "native.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// The requested formats: planes at their stored size, NVJPEG_OUTPUT_YUV; and of gray images, which
// have no others, the luma, NVJPEG_OUTPUT_Y.
const (
	planar = 1
	luma   = 2
)

func format(gray bool) C.int {
	if gray {
		return luma
	}
	return planar
}

// slots is native.h's.
var _ [slots]struct{} = [C.native_slots]struct{}{}

// loaded are the libraries that were loaded, by their files.
var (
	opening sync.Mutex
	loaded  = map[string]cNative{}
)

type cNative struct{ library *C.native_library }

func openNative(file string) (native, error) {
	opening.Lock()
	defer opening.Unlock()
	if n, ok := loaded[file]; ok {
		return n, nil
	}
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	var why [256]C.char
	library := C.native_open(name, &why[0], C.size_t(len(why)))
	if library != nil {
		loaded[file] = cNative{library}
		return loaded[file], nil
	}
	text := C.GoString(&why[0])
	// In dlerror's words, the file itself; another one is a library that it needs.
	if strings.HasPrefix(text, file+": cannot open shared object file: No such file") {
		return nil, errNotInstalled
	}
	return nil, errors.New(text)
}

func (n cNative) version() (string, status) {
	var v [3]C.int
	s := status(C.native_version(n.library, &v[0]))
	return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]), s
}

func (n cNative) create(backend int) (handle, status) {
	h := new(cHandle)
	if s := status(C.native_create(n.library, C.int(backend), &h.handle)); s != success {
		return nil, s
	}
	return h, success
}

type cHandle struct {
	handle *C.native_handle
	// parsed keeps the bytes that the library reads after parse, batch the bytes of a batch.
	parsed [slots]runtime.Pinner
	batch  runtime.Pinner
}

func (h *cHandle) parse(slot int, data []byte) (Info, status) {
	h.parsed[slot].Unpin()
	h.parsed[slot].Pin(&data[0])
	var n [9]C.uint
	s := status(C.native_parse(h.handle, C.int(slot), (*C.uchar)(&data[0]), C.size_t(len(data)), &n[0]))
	i := Info{Width: int(n[0]), Height: int(n[1]), Components: int(n[2])}
	for p := range i.Planes {
		i.Planes[p].Width, i.Planes[p].Height = int(n[3+2*p]), int(n[4+2*p])
	}
	return i, s
}

func (h *cHandle) supports(slot int, gray bool) (bool, status) {
	var takes C.int
	s := status(C.native_supports(h.handle, C.int(slot), format(gray), &takes))
	return takes != 0, s
}

func (h *cHandle) decode(slot int, gray bool, to target, stream uintptr) status {
	image := (*C.native_image)(C.malloc(C.size_t(unsafe.Sizeof(C.native_image{}))))
	defer C.free(unsafe.Pointer(image))
	to.write(image)
	return status(C.native_decode(h.handle, C.int(slot), image, format(gray), nativeStream(stream)))
}

func (h *cHandle) reserve(gray bool, n, width, height int) status {
	return status(C.native_reserve(h.handle, C.int(n), C.int(width), C.int(height), format(gray)))
}

func (h *cHandle) decodeBatch(gray bool, data [][]byte, to []target, stream uintptr) status {
	n := len(data)
	// Arrays of pointers go to C in C's own memory. To Go they are numbers: the collector would
	// read the old values that pointers replace, which are arbitrary memory. For the same reason
	// they are cleared afterwards.
	pointers := C.malloc(C.size_t(n) * C.size_t(unsafe.Sizeof(uintptr(0))))
	defer C.free(pointers)
	addresses := unsafe.Slice((*uintptr)(pointers), n)
	defer clear(addresses)
	sizes := C.malloc(C.size_t(n) * C.size_t(unsafe.Sizeof(C.size_t(0))))
	defer C.free(sizes)
	images := C.malloc(C.size_t(n) * C.size_t(unsafe.Sizeof(C.native_image{})))
	defer C.free(images)
	for i := range n {
		h.batch.Pin(&data[i][0])
		addresses[i] = uintptr(unsafe.Pointer(&data[i][0]))
		unsafe.Slice((*C.size_t)(sizes), n)[i] = C.size_t(len(data[i]))
		to[i].write(&unsafe.Slice((*C.native_image)(images), n)[i])
	}
	return status(C.native_decode_batch(h.handle, C.int(n), (**C.uchar)(pointers), (*C.size_t)(sizes), (*C.native_image)(images), format(gray), nativeStream(stream)))
}

func (h *cHandle) release() {
	for i := range h.parsed {
		h.parsed[i].Unpin()
	}
	h.batch.Unpin()
}

func (h *cHandle) destroy() {
	h.release()
	C.native_destroy(h.handle)
}

// nativeStream makes a stream's handle what C takes; it points to nothing of Go's.
func nativeStream(stream uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&stream))
}

// write fills in an image in C's memory, with addresses on the GPU.
func (t *target) write(to *C.native_image) {
	*to = C.native_image{}
	for i, a := range t.address {
		*(*uint64)(unsafe.Pointer(&to.channel[i])) = a
		to.pitch[i] = C.size_t(t.pitch[i])
	}
}
