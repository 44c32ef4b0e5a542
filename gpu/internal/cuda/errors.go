package cuda

import (
	"errors"
	"fmt"
)

// What errors of this package wrap, for errors.Is. Errors that wrap none of them
// are mistakes of the caller, or of the driver.
var (
	// ErrNotBuilt means that the program was built without CUDA.
	ErrNotBuilt = errors.New("this binary was built without CUDA")
	// ErrNoDriver means that no driver is installed, or that it does not start.
	ErrNoDriver = errors.New("no NVIDIA driver")
	// ErrNoDevice means that the driver finds no GPU, or no usable one with that number.
	ErrNoDevice = errors.New("no usable NVIDIA GPU")
	// ErrOldDriver means that the driver does not support the kernels of this version, or a
	// function.
	ErrOldDriver = errors.New("the NVIDIA driver is too old")
	// ErrOutOfMemory means that GPU memory, or pinned memory, is exhausted. The device stays
	// usable: free something, or allocate less.
	ErrOutOfMemory = errors.New("out of memory")
	// ErrLaunch means that a kernel could not be launched, or failed while it ran. The next call
	// that waits returns that failure. See [Device.Lost].
	ErrLaunch = errors.New("the GPU failed")
)

// Error is an error of this package, as one sentence.
type Error struct {
	// Kind is one of the errors above, or nil.
	Kind error
	// Code is the driver's result, a CUresult; 0 if it was not called.
	Code int

	message string
}

// Error returns the sentence.
func (e *Error) Error() string { return e.message }

// Unwrap returns Kind.
func (e *Error) Unwrap() error { return e.Kind }

func fault(kind error, code int, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, message: fmt.Sprintf(format, args...)}
}

// updateDriver is the advice for a driver that is too old. Kernels are in PTX 8.2, which came with
// CUDA 12.2 and its drivers 535.
const updateDriver = "update it to version 535 or later"

// The driver's result codes that this package handles.
const (
	codeOutOfMemory        = 2
	codeNoDevice           = 100
	codeNoBinary           = 209
	codeECC                = 214
	codeInvalidPTX         = 218
	codeNVLink             = 220
	codeUnsupportedPTX     = 222
	codeNotReady           = 600
	codeIllegalAddress     = 700
	codeOutOfResources     = 701
	codeLaunchTimeout      = 702
	codePrimaryActive      = 708
	codeContextDestroyed   = 709
	codeAssert             = 710
	codeHardwareStack      = 714
	codeIllegalInstruction = 715
	codeMisaligned         = 716
	codeAddressSpace       = 717
	codeInvalidPC          = 718
	codeLaunchFailed       = 719
)

// losesContext reports whether every later call on the context returns the same code.
func losesContext(code int) bool {
	switch code {
	case codeECC, codeNVLink, codeIllegalAddress, codeLaunchTimeout, codeContextDestroyed, codeAssert, codeHardwareStack,
		codeIllegalInstruction, codeMisaligned, codeAddressSpace, codeInvalidPC, codeLaunchFailed:
		return true
	}
	return false
}
