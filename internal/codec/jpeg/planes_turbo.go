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

// planeCall holds the arguments that the library reads and writes by reference in one call. It is
// on the heap, where nothing moves, and keeps alive what it points to.
type planeCall struct {
	planes  [3]unsafe.Pointer
	strides [3]int32
	out     unsafe.Pointer
	size    uintptr
	luma    []byte // a padded plane
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

// release releases the memory pointed to.
func (c *planeCall) release() {
	c.planes, c.out = [3]unsafe.Pointer{}, nil
	if cap(c.luma) <= maxKept {
		planeCalls.Put(c)
	}
}

// The library derives the size of the luma plane from its chroma planes: in 4:2:0 each side of it
// is even. It reads and writes the extra column or row of an image of odd size.

// padded returns the size of plane i in the library.
func (p *Planar) padded(i int) (w, h int) {
	w, h = p.size(i)
	if i == 0 {
		across, down := p.Sampling.Factors()
		w, h = ceilDiv(w, across)*across, ceilDiv(h, down)*down
	}
	return w, h
}

// reset sets the size, with room for everything that the library writes, and reuses the memory if
// it is large enough.
func (p *Planar) reset(w, h int, s Subsampling) {
	p.Width, p.Height, p.Sampling = w, h, s
	for i := range p.Pix {
		pw, ph := p.padded(i)
		if cap(p.Pix[i]) < pw*ph {
			p.Pix[i] = make([]byte, pw*ph)
		}
		p.Pix[i], p.Stride[i] = p.Pix[i][:pw*ph], pw
	}
}

// pad makes buf the luma plane as the library reads it, the edge repeated, and returns it.
func (p *Planar) pad(buf []byte) []byte {
	w, h := p.padded(0)
	buf = slices.Grow(buf[:0], w*h)[:w*h]
	for y := range h {
		row := buf[y*w:][:w]
		n := copy(row, p.Pix[0][min(y, p.Height-1)*p.Stride[0]:][:p.Width])
		for x := n; x < w; x++ {
			row[x] = row[n-1]
		}
	}
	return buf
}

// decodePlanes: reduced, the library makes chroma planes of the same reduction, though
// it could make larger ones.
func (t *turbo) decodePlanes(dst *Planar, data []byte, h *Header, r Request) error {
	hd, err := t.open()
	if err != nil {
		return err
	}
	defer t.close(hd)
	sub, _ := h.sampling()
	w, ht := h.Scaled(r.Denom)
	dst.reset(w, ht, sub)
	c := planeCalls.Get().(*planeCall)
	defer c.release()
	c.set(dst)
	c.out = unsafe.Pointer(&data[0]) // to keep it
	c.args = [10]uintptr{hd.p, uintptr(c.out), uintptr(len(data)),
		uintptr(unsafe.Pointer(&c.planes)), uintptr(w), uintptr(unsafe.Pointer(&c.strides)), uintptr(ht), tjFlagAccurateDCT | tjFlagLimitScans}
	if c.do(t.decompressPlanes, 8) != 0 {
		return t.err(hd)
	}
	return nil
}

func (t *turbo) appendPlanes(dst []byte, p *Planar, quality int) ([]byte, error) {
	hd, err := t.compressor()
	if err != nil {
		return dst, err
	}
	defer t.compressors.Put(hd)
	sampling := tjSampling[p.Sampling]
	bound := int(first(purego.SyscallN(t.bufSize, uintptr(p.Width), uintptr(p.Height), sampling)))
	if bound <= 0 {
		return dst, fmt.Errorf("an image of %dx%d is too large", p.Width, p.Height)
	}
	dst = slices.Grow(dst, bound)
	c := planeCalls.Get().(*planeCall)
	defer c.release()
	c.set(p)
	if w, ht := p.padded(0); w != p.Width || ht != p.Height {
		c.luma = p.pad(c.luma)
		c.planes[0], c.strides[0] = unsafe.Pointer(&c.luma[0]), int32(w)
	}
	c.out, c.size = unsafe.Pointer(&dst[len(dst):cap(dst)][0]), uintptr(bound)
	c.args = [10]uintptr{hd.p, uintptr(unsafe.Pointer(&c.planes)), uintptr(p.Width), uintptr(unsafe.Pointer(&c.strides)), uintptr(p.Height),
		sampling, uintptr(unsafe.Pointer(&c.out)), uintptr(unsafe.Pointer(&c.size)), uintptr(quality), tjFlagNoRealloc | tjFlagAccurateDCT}
	if c.do(t.compressPlanes, 10) != 0 {
		return dst, t.err(hd)
	}
	return dst[:len(dst)+int(c.size)], nil
}
