package nvjpeg

import (
	"errors"
	"fmt"
)

var (
	// ErrAbsent means that nvJPEG isn't installed, or can't be used.
	ErrAbsent = errors.New("no nvJPEG")
	// ErrRefused means that nvJPEG doesn't decode an image. Other images may decode.
	ErrRefused = errors.New("nvJPEG refuses the image")
)

// Backend is a decoder of nvJPEG, the fastest first.
type Backend int

const (
	// Hardware is the chip's JPEG decoder, which A100, H100 and their kin have, for
	// baseline images.
	Hardware Backend = iota
	// GPU decodes on the GPU's ordinary processors.
	GPU
	// Hybrid decodes Huffman codes on the CPU and does the rest on the GPU.
	Hybrid

	backends
)

// String returns "hardware", "GPU" or "hybrid".
func (b Backend) String() string { return [...]string{"hardware", "GPU", "hybrid"}[b] }

// number is the backend's in nvjpeg.h.
func (b Backend) number() int { return [...]int{3, 2, 1}[b] }

// Info describes an image by its header.
type Info struct {
	// Width and Height are in pixels, as stored: orientation is not applied.
	Width, Height int
	// Components are 1 or 3.
	Components int
	// Planes are the sizes of the components, as stored.
	Planes [3]struct{ Width, Height int }
}

// status is a nvjpegStatus_t.
type status int

const (
	success             status = 0
	invalidParameter    status = 2
	badJPEG             status = 3
	jpegNotSupported    status = 4
	allocatorFailure    status = 5
	archMismatch        status = 7
	implementationLacks status = 9
	incompleteBitstream status = 10
)

// final reports whether a retry would return the same status.
func (s status) final() bool {
	switch s {
	case invalidParameter, badJPEG, jpegNotSupported, archMismatch, implementationLacks, incompleteBitstream:
		return true
	}
	return false
}

var statusNames = []string{
	"success", "not initialised", "invalid parameter", "bad JPEG", "JPEG not supported", "allocator failure", "execution failed",
	"architecture mismatch", "internal error", "implementation not supported", "incomplete bitstream",
}

func (s status) String() string {
	if s >= 0 && int(s) < len(statusNames) {
		return fmt.Sprintf("%s (%d)", statusNames[s], int(s))
	}
	return fmt.Sprintf("status %d", int(s))
}

// native is the library itself.
type native interface {
	// version is nvJPEG's own.
	version() (string, status)
	create(backend int) (handle, status)
}

// slots is the number of images in flight in a backend that decodes them one by one: while the GPU
// works on one, Huffman codes of another can be decoded.
const slots = 2

// handle is an nvjpegHandle_t for one backend, with a stream's state. All methods except destroy
// need the context in the calling thread.
type handle interface {
	// parse reads a header, for a slot. The image's bytes must stay until the slot's next call.
	parse(slot int, data []byte) (Info, status)
	// supports reports whether the backend decodes the image that was parsed last, and is gray or
	// not.
	supports(slot int, gray bool) (bool, status)
	// decode begins to decode the image that was parsed last. The slot is in use until the stream
	// was waited for.
	decode(slot int, gray bool, to target, stream uintptr) status
	// reserve allocates what decodeBatch needs for up to n images up to a size.
	reserve(gray bool, n, width, height int) status
	// decodeBatch begins to decode images together, all or none, that are all gray or all not. No
	// other such batch may be begun, and the images' bytes must stay, until the stream was waited for.
	decodeBatch(gray bool, data [][]byte, to []target, stream uintptr) status
	// release lets go of all images' bytes, after the stream was waited for.
	release()
	destroy()
}

// target holds the addresses of an image's planes on the GPU.
type target struct {
	address [3]uint64
	pitch   [3]int
}
