//go:build linux && amd64 && !static

package main

import (
	"bytes"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// compiler is NVRTC: the functions of nvrtc.h that are called.
type compiler struct {
	createProgram  func(program *uintptr, source, name string, headers int32, contents, names unsafe.Pointer) int32
	compileProgram func(program uintptr, options int32, option **byte) int32
	logSize        func(program uintptr, size *uint64) int32
	log            func(program uintptr, log *byte) int32
	ptxSize        func(program uintptr, size *uint64) int32
	ptx            func(program uintptr, ptx *byte) int32
	destroyProgram func(program *uintptr) int32
	errorString    func(code int32) string
}

func openCompiler(library string) (*compiler, error) {
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("no NVRTC (make ptx fetches it): %w", err)
	}
	c := new(compiler)
	for name, f := range map[string]any{
		"nvrtcCreateProgram":     &c.createProgram,
		"nvrtcCompileProgram":    &c.compileProgram,
		"nvrtcGetProgramLogSize": &c.logSize,
		"nvrtcGetProgramLog":     &c.log,
		"nvrtcGetPTXSize":        &c.ptxSize,
		"nvrtcGetPTX":            &c.ptx,
		"nvrtcDestroyProgram":    &c.destroyProgram,
		"nvrtcGetErrorString":    &c.errorString,
	} {
		purego.RegisterLibFunc(f, handle, name)
	}
	return c, nil
}

// compile returns the PTX of a source. An error includes the compiler's messages.
func (c *compiler) compile(name string, source []byte, options []string) ([]byte, error) {
	var program uintptr
	if code := c.createProgram(&program, string(source), name, 0, nil, nil); code != 0 {
		return nil, c.fault("nvrtcCreateProgram", code)
	}
	defer c.destroyProgram(&program)
	var pin runtime.Pinner
	defer pin.Unpin()
	pointers := make([]*byte, len(options))
	for i, o := range options {
		pointers[i] = &append([]byte(o), 0)[0]
		pin.Pin(pointers[i])
	}
	pin.Pin(&pointers[0])
	if code := c.compileProgram(program, int32(len(options)), &pointers[0]); code != 0 {
		said, err := fetch(program, c.logSize, c.log)
		if err != 0 {
			return nil, c.fault("nvrtcCompileProgram", code)
		}
		return nil, fmt.Errorf("%w\n%s", c.fault("nvrtcCompileProgram", code), said)
	}
	ptx, code := fetch(program, c.ptxSize, c.ptx)
	if code != 0 {
		return nil, c.fault("nvrtcGetPTX", code)
	}
	return ptx, nil
}

func (c *compiler) fault(function string, code int32) error {
	return fmt.Errorf("%s: %s", function, c.errorString(code))
}

// fetch gets a text of a program, without the zero that ends it.
func fetch(program uintptr, size func(uintptr, *uint64) int32, text func(uintptr, *byte) int32) ([]byte, int32) {
	var n uint64
	if code := size(program, &n); code != 0 || n == 0 {
		return nil, code
	}
	b := make([]byte, n)
	code := text(program, &b[0])
	return bytes.TrimRight(b, "\x00"), code
}
