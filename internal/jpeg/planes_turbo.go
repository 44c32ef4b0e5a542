//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios && !static

package jpeg

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// planeCall is what the library reads and writes by reference in one call. It lies on the
// heap, where nothing moves, and keeps what it points at alive.
type planeCall struct {
	planes  [3]unsafe.Pointer
	strides [3]int32
	out     unsafe.Pointer
	size    uintptr
	args    [10]uintptr
}

var planeCalls = sync.Pool{New: func() any { return new(planeCall) }}

// set points at the planes of p.
func (c *planeCall) set(p *Planar) {
	for i, pix := range p.Pix {
		c.planes[i], c.strides[i] = unsafe.Pointer(&pix[0]), int32(p.Stride[i])
	}
}

// do calls a function of the library with the first n of the arguments.
func (c *planeCall) do(function uintptr, n int) int32 {
	rc, _, _ := purego.SyscallN(function, c.args[:n]...)
	runtime.KeepAlive(c)
	return int32(rc)
}

// release lets go of the memory pointed at.
func (c *planeCall) release() {
	c.planes, c.out = [3]unsafe.Pointer{}, nil
	planeCalls.Put(c)
}

// decodePlanes: reduced, the library makes chroma planes of the same reduction, though
// it could make larger ones.
func (t *turbo) decodePlanes(dst *Planar, data []byte, h *Header, denom int) error {
	hd, err := t.handle(&t.decompressors, t.initDecompress)
	if err != nil {
		return err
	}
	defer t.decompressors.Put(hd)
	sub, _ := h.sampling()
	w, ht := h.Scaled(denom)
	dst.reset(w, ht, sub)
	c := planeCalls.Get().(*planeCall)
	defer c.release()
	c.set(dst)
	c.out = unsafe.Pointer(&data[0]) // to keep it
	c.args = [10]uintptr{hd.p, uintptr(c.out), uintptr(len(data)),
		uintptr(unsafe.Pointer(&c.planes)), uintptr(w), uintptr(unsafe.Pointer(&c.strides)), uintptr(ht), tjFlagAccurateDCT}
	if c.do(t.decompressPlanes, 8) != 0 {
		return t.err(hd)
	}
	return nil
}

func (t *turbo) appendPlanes(dst []byte, p *Planar, quality int) ([]byte, error) {
	hd, err := t.handle(&t.compressors, t.initCompress)
	if err != nil {
		return dst, err
	}
	defer t.compressors.Put(hd)
	sampling := tjSampling[p.Sampling]
	bound := int(first(purego.SyscallN(t.bufSize, uintptr(p.Width), uintptr(p.Height), sampling)))
	if bound <= 0 {
		return dst, fmt.Errorf("a picture of %dx%d is too large", p.Width, p.Height)
	}
	dst = slices.Grow(dst, bound)
	c := planeCalls.Get().(*planeCall)
	defer c.release()
	c.set(p)
	c.out, c.size = unsafe.Pointer(&dst[len(dst):cap(dst)][0]), uintptr(bound)
	c.args = [10]uintptr{hd.p, uintptr(unsafe.Pointer(&c.planes)), uintptr(p.Width), uintptr(unsafe.Pointer(&c.strides)), uintptr(p.Height),
		sampling, uintptr(unsafe.Pointer(&c.out)), uintptr(unsafe.Pointer(&c.size)), uintptr(quality), tjFlagNoRealloc | tjFlagAccurateDCT}
	if c.do(t.compressPlanes, 10) != 0 {
		return dst, t.err(hd)
	}
	return dst[:len(dst)+int(c.size)], nil
}
