package gpu

import (
	"errors"
	"slices"
	"sync"
	"unsafe"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/internal/codec/raster"
)

// pinned is the page-locked memory that a backend has given out.
type pinned struct {
	mu      sync.RWMutex
	buffers []*cuda.HostBuffer
	refused int64
	closing *cuda.Device // to be closed when all is freed
}

// AllocHost implements [augment.HostAllocator]: it returns page-locked memory for all GPU contexts
// of the process. Results that are written to it are copied there from the GPU directly. It returns
// nil after Close, and if memory is exhausted, which [Stats] counts. Memory that is not freed
// before Close delays the release of the GPU until it is.
func (b *Backend) AllocHost(n int) (memory []byte, free func()) {
	b.using.RLock()
	defer b.using.RUnlock()
	if b.closed || n < 1 {
		return nil, nil
	}
	p := &b.pinned
	p.mu.Lock()
	defer p.mu.Unlock()
	buffer, err := b.device.AllocHost(n)
	if err != nil {
		p.refused++
		return nil, nil
	}
	p.buffers = append(p.buffers, buffer)
	return buffer.Bytes(), func() {
		if err := p.free(buffer); err != nil {
			b.fail(err)
		}
	}
}

func (p *pinned) free(buffer *cuda.HostBuffer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buffers = slices.DeleteFunc(p.buffers, func(b *cuda.HostBuffer) bool { return b == buffer })
	err := buffer.Free()
	if p.closing != nil && len(p.buffers) == 0 {
		err = errors.Join(err, p.closing.Close())
	}
	return err
}

// close closes the device as soon as all is freed.
func (p *pinned) close(d *cuda.Device) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.buffers) > 0 {
		p.closing = d
		return nil
	}
	return d.Close()
}

// counts returns the bytes that are not freed, and the number of requests that failed.
func (p *pinned) counts() (bytes, refused int64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, b := range p.buffers {
		bytes += int64(b.Size())
	}
	return bytes, p.refused
}

// mark makes the results of a program direct that are to be written to pinned memory.
func (p *pinned) mark(buffers []raster.Buffer) {
	for i := range buffers {
		if b := &buffers[i]; b.Region == raster.Result {
			if to, _ := p.find(b); to != nil {
				b.Region = raster.Direct
			}
		}
	}
}

// find returns the pinned memory that has room for a result at its place, and where in it that is;
// nil if there is none.
func (p *pinned) find(b *raster.Buffer) (to *cuda.HostBuffer, offset int) {
	var place unsafe.Pointer
	switch {
	case b.Floats != nil:
		place = unsafe.Pointer(unsafe.SliceData(b.Floats))
	case b.Row == b.Stride:
		place = unsafe.Pointer(unsafe.SliceData(b.Pix))
	default:
		return nil, 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, h := range p.buffers {
		begin := uintptr(unsafe.Pointer(unsafe.SliceData(h.Bytes())))
		if at := uintptr(place) - begin; uintptr(place) >= begin && int64(at)+b.Size <= int64(h.Size()) {
			return h, int(at)
		}
	}
	return nil, 0
}

// transfer is a copy of results from a batch's memory to pinned memory.
type transfer struct {
	to     *cuda.HostBuffer
	offset int
	from   int64
	size   int
}

// appendTransfer appends a copy, or makes the last one longer where it ends at both places.
func appendTransfer(all []transfer, t transfer) []transfer {
	if n := len(all) - 1; n >= 0 {
		last := &all[n]
		if last.to == t.to && last.offset+last.size == t.offset && last.from+int64(last.size) == t.from {
			last.size += t.size
			return all
		}
	}
	return append(all, t)
}
