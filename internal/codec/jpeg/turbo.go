//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios && !static

package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// turbo is libjpeg-turbo through the functions of its TurboJPEG API that versions 2 and 3 share. It
// does not use tjDecompressHeader3, which rejects sampling factors that tjDecompress2 decodes: the
// header is already known.
type turbo struct {
	version string

	initDecompress, initCompress, destroy uintptr
	decompress, compress, bufSize         uintptr
	decompressPlanes, compressPlanes      uintptr
	errorString, errorCode                uintptr

	compressors sync.Pool // of *turboHandle
}

// turboHandle owns a handle of the library, which one goroutine may use at a time.
type turboHandle struct{ p uintptr }

// Constants of turbojpeg.h.
const (
	tjFlagNoRealloc   = 1024
	tjFlagAccurateDCT = 4096
	tjFlagLimitScans  = 32768 // to 500, as maxScans: for unchecked arithmetic coding
	tjErrWarning      = 0

	tjPixelRGB  = 0
	tjPixelGray = 6
	tjPixelCMYK = 11
)

var tjSampling = [...]uintptr{Sub444: 0, Sub422: 1, Sub420: 2, SubGray: 3, Sub440: 4}

// turboNames returns the library's file names in the order to try: first the names of run-time
// packages, then the names of development packages and other systems.
func turboNames() []string {
	if runtime.GOOS == "darwin" {
		return []string{"libturbojpeg.dylib", "libturbojpeg.0.dylib",
			"/opt/homebrew/opt/jpeg-turbo/lib/libturbojpeg.dylib", "/usr/local/opt/jpeg-turbo/lib/libturbojpeg.dylib"}
	}
	return []string{"libturbojpeg.so.0", "libturbojpeg.so"}
}

// getTurbo explains how to install the library if it cannot be loaded.
const getTurbo = "install libjpeg-turbo: apt install libturbojpeg0 (Debian, Ubuntu: libturbojpeg), dnf install turbojpeg (Fedora), brew install jpeg-turbo (macOS)"

// loadTurbo loads the library once for the process: it is never unloaded.
var loadTurbo = sync.OnceValues(func() (*turbo, error) {
	var failures []string
	for _, name := range turboNames() {
		lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			failures = append(failures, err.Error())
			continue
		}
		t, err := bindTurbo(lib)
		if err != nil {
			failures = append(failures, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		ignoreEnvironment()
		return t, nil
	}
	return nil, errors.New(strings.Join(failures, "; "))
})

// bindTurbo finds the functions of a loaded library.
func bindTurbo(lib uintptr) (*turbo, error) {
	t := new(turbo)
	for name, at := range map[string]*uintptr{
		"tjInitDecompress":        &t.initDecompress,
		"tjInitCompress":          &t.initCompress,
		"tjDestroy":               &t.destroy,
		"tjDecompress2":           &t.decompress,
		"tjDecompressToYUVPlanes": &t.decompressPlanes,
		"tjCompress2":             &t.compress,
		"tjCompressFromYUVPlanes": &t.compressPlanes,
		"tjBufSize":               &t.bufSize,
		"tjGetErrorStr2":          &t.errorString,
		"tjGetErrorCode":          &t.errorCode,
	} {
		symbol, err := purego.Dlsym(lib, name)
		if err != nil {
			return nil, err
		}
		*at = symbol
	}
	t.version = turboVersion(lib, t.initDecompress)
	return t, nil
}

// ignoreEnvironment hides from the library the variables by which version 2 lets anyone
// change what it writes: bytes depend on options alone.
func ignoreEnvironment() {
	unsetenv, err := purego.Dlsym(purego.RTLD_DEFAULT, "unsetenv")
	if err != nil {
		return
	}
	for _, name := range []string{"TJ_OPTIMIZE\x00", "TJ_ARITHMETIC\x00", "TJ_PROGRESSIVE\x00", "TJ_RESTART\x00"} {
		purego.SyscallN(unsetenv, uintptr(unsafe.Pointer(unsafe.StringData(name))))
	}
}

// turboVersion finds the version. The API has no call for it, but the message table of
// libjpeg, linked into the library, names it: it is looked for in the library's file.
func turboVersion(lib, symbol uintptr) string {
	generation := "2"
	if _, err := purego.Dlsym(lib, "tj3Set"); err == nil {
		generation = "3"
	}
	dladdr, err := purego.Dlsym(purego.RTLD_DEFAULT, "dladdr")
	if err != nil {
		return generation
	}
	var info struct {
		file, base, name, addr uintptr
	}
	if r, _, _ := purego.SyscallN(dladdr, symbol, uintptr(unsafe.Pointer(&info))); r == 0 || info.file == 0 {
		return generation
	}
	data, err := os.ReadFile(cString(info.file))
	if err != nil {
		return generation
	}
	_, after, _ := bytes.Cut(data, []byte("libjpeg-turbo version "))
	n := 0
	for n < min(len(after), 20) && (after[n] == '.' || after[n] >= '0' && after[n] <= '9') {
		n++
	}
	if n == 0 {
		return generation
	}
	return string(after[:n])
}

// cString copies a C string, of which 1 KiB at most.
func cString(p uintptr) string {
	if p == 0 {
		return ""
	}
	// The pointer came from C as an integer; go vet cannot know that it is not Go memory.
	base := *(*unsafe.Pointer)(unsafe.Pointer(&p))
	n := 0
	for n < 1024 && *(*byte)(unsafe.Add(base, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(base), n))
}

func (t *turbo) name() string { return "libjpeg-turbo " + t.version }

// supports: libjpeg needs sampling factors that divide the largest, and at most ten blocks in an
// MCU. It converts YCbCr to gray by leaving the colours out. Callers request a size, not a
// reduction; for tiny images the library may choose another reduction that gives the same size.
func (t *turbo) supports(h *Header, r Request) bool {
	switch h.SOF {
	case 0xC0, 0xC1, 0xC2, 0xC9, 0xCA:
	default:
		return false
	}
	if h.Precision != 8 || h.ColorSpace == ColorOther {
		return false
	}
	hmax, vmax := h.maxSampling()
	blocks := 0
	for _, c := range h.Components[:h.N] {
		if hmax%c.H != 0 || vmax%c.V != 0 {
			return false
		}
		blocks += c.H * c.V
	}
	return blocks <= 10 && tjReduction(h, r.Denom) == [2]int{1, r.Denom}
}

// tjReductions are the reductions of the library in its order, from the largest result on.
var tjReductions = [][2]int{{2, 1}, {15, 8}, {7, 4}, {13, 8}, {3, 2}, {11, 8}, {5, 4}, {9, 8}, {1, 1}, {7, 8}, {3, 4}, {5, 8}, {1, 2}, {3, 8}, {1, 4}, {1, 8}}

// tjReduction is the reduction that the library chooses for the size at 1/denom: the first whose
// result is not larger.
func tjReduction(h *Header, denom int) [2]int {
	w, ht := h.Scaled(denom)
	for _, f := range tjReductions {
		if ceilDiv(h.Width*f[0], f[1]) <= w && ceilDiv(h.Height*f[0], f[1]) <= ht {
			return f
		}
	}
	return [2]int{}
}

// open makes a handle for decoding. Each image gets its own, since a handle keeps tables and
// settings from one image to the next. The caller closes it.
func (t *turbo) open() (*turboHandle, error) { return t.newHandle(t.initDecompress) }

func (t *turbo) close(h *turboHandle) { purego.SyscallN(t.destroy, h.p) }

func (t *turbo) newHandle(make uintptr) (*turboHandle, error) {
	p, _, _ := purego.SyscallN(make)
	if p == 0 {
		return nil, errors.New(cString(first(purego.SyscallN(t.errorString, 0))))
	}
	return &turboHandle{p}, nil
}

// compressor takes a handle for encoding from the pool, or makes one.
func (t *turbo) compressor() (*turboHandle, error) {
	if h, ok := t.compressors.Get().(*turboHandle); ok {
		return h, nil
	}
	h, err := t.newHandle(t.initCompress)
	if err != nil {
		return nil, err
	}
	destroy := t.destroy
	runtime.AddCleanup(h, func(p uintptr) { purego.SyscallN(destroy, p) }, h.p)
	return h, nil
}

func first(r, _, _ uintptr) uintptr { return r }

func (t *turbo) decode(dst []byte, stride int, data []byte, h *Header, r Request) error {
	hd, err := t.open()
	if err != nil {
		return err
	}
	defer t.close(hd)
	w, ht := h.Scaled(r.Denom)
	format := [...]uintptr{Gray: tjPixelGray, RGB: tjPixelRGB, cmyk: tjPixelCMYK}[r.Format]
	// SyscallN keeps what its arguments point at alive and in place, Go memory or not.
	rc, _, _ := purego.SyscallN(t.decompress, hd.p,
		uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)),
		uintptr(unsafe.Pointer(&dst[0])), uintptr(w), uintptr(stride), uintptr(ht),
		format, tjFlagAccurateDCT|tjFlagLimitScans)
	if int32(rc) != 0 {
		return t.err(hd)
	}
	return nil
}

// warning is an error after which libjpeg continued and gave pixels.
type warning struct{ message string }

func (w warning) Error() string { return w.message }

// err reads the last error of a handle.
func (t *turbo) err(h *turboHandle) error {
	message := cString(first(purego.SyscallN(t.errorString, h.p)))
	if int32(first(purego.SyscallN(t.errorCode, h.p))) == tjErrWarning {
		return warning{message}
	}
	return errors.New(message)
}

func (t *turbo) append(dst []byte, p Pixels, quality int, s Subsampling) ([]byte, error) {
	hd, err := t.compressor()
	if err != nil {
		return dst, err
	}
	defer t.compressors.Put(hd)
	format := uintptr(tjPixelRGB)
	if p.Format == Gray {
		format, s = tjPixelGray, SubGray
	}
	sampling := tjSampling[s]
	bound := int(first(purego.SyscallN(t.bufSize, uintptr(p.Width), uintptr(p.Height), sampling)))
	if bound <= 0 {
		return dst, fmt.Errorf("an image of %dx%d is too large", p.Width, p.Height)
	}
	dst = slices.Grow(dst, bound)
	out := dst[len(dst):cap(dst)]
	// The library gets the buffer and its size by reference and, since it must not allocate, only
	// updates the size.
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&out[0])
	call := &struct{ buf, size uintptr }{uintptr(unsafe.Pointer(&out[0])), uintptr(bound)}
	rc, _, _ := purego.SyscallN(t.compress, hd.p,
		uintptr(unsafe.Pointer(&p.Pix[0])), uintptr(p.Width), uintptr(p.Stride), uintptr(p.Height), format,
		uintptr(unsafe.Pointer(&call.buf)), uintptr(unsafe.Pointer(&call.size)),
		sampling, uintptr(quality), tjFlagNoRealloc|tjFlagAccurateDCT)
	if int32(rc) != 0 {
		return dst, t.err(hd)
	}
	return dst[:len(dst)+int(call.size)], nil
}
