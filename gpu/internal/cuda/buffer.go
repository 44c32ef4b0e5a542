package cuda

import (
	"fmt"
	"unsafe"
)

// Buffer is memory of a GPU.
type Buffer struct {
	stream  *Stream
	address uintptr
	size    int
}

// Alloc allocates n bytes, at least 1, of the GPU's memory. The contents are undefined; the address
// is a multiple of 16, on a real GPU of 256. Allocating is slow compared with a kernel: keep
// buffers. Errors wrap ErrOutOfMemory if there is not enough memory.
func (s *Stream) Alloc(n int) (*Buffer, error) {
	if err := s.usable(n); err != nil {
		return nil, err
	}
	address, err := s.device.context.alloc(n)
	if err != nil {
		return nil, s.device.explain(err, fmt.Sprintf("allocate %d bytes", n))
	}
	b := &Buffer{stream: s, address: address, size: n}
	s.buffers[b] = struct{}{}
	return b, nil
}

// Size returns how many bytes the buffer has, 0 after Free.
func (b *Buffer) Size() int { return b.size }

// Address is the address on the GPU of a byte of the buffer, for pointers stored in its memory.
func (b *Buffer) Address(offset int) uint64 {
	if offset < 0 || offset > b.size {
		panic(fmt.Sprintf("cuda: offset %d in a buffer of %d bytes", offset, b.size))
	}
	return uint64(b.address) + uint64(offset)
}

// At is the address of a byte of the buffer as a parameter.
func (b *Buffer) At(offset int) Param { return Param(b.Address(offset)) }

// Free gives the memory back. Nothing that is queued may need it any longer.
// Freeing again does nothing.
func (b *Buffer) Free() error {
	if b.size == 0 {
		return nil
	}
	delete(b.stream.buffers, b)
	b.size = 0
	return b.stream.device.cleanup(b.stream.device.context.free(b.address))
}

// HostBuffer is pinned memory of the host, which the GPU copies from and to directly.
type HostBuffer struct {
	device *Device
	stream *Stream // nil: of no stream
	data   []byte
}

// AllocHost allocates n bytes, at least 1, of pinned memory, which reduces the memory of the whole
// machine. The contents are undefined. It is slower than Alloc. Errors wrap ErrOutOfMemory if there
// is not enough memory.
func (s *Stream) AllocHost(n int) (*HostBuffer, error) {
	if err := s.usable(n); err != nil {
		return nil, err
	}
	b, err := s.device.AllocHost(n)
	if err == nil {
		b.stream = s
		s.hosts[b] = struct{}{}
	}
	return b, err
}

// AllocHost is [Stream.AllocHost] for memory that all streams of the device copy from and to. It
// must be freed before the device is closed.
func (d *Device) AllocHost(n int) (*HostBuffer, error) {
	var p unsafe.Pointer
	err := d.do(func() (err error) {
		p, err = d.context.allocHost(n)
		return err
	})
	if err != nil {
		return nil, d.explain(err, fmt.Sprintf("allocate %d bytes of pinned memory", n))
	}
	return &HostBuffer{device: d, data: unsafe.Slice((*byte)(p), n)}, nil
}

// Bytes is the memory itself, nil after Free. It must not be used after the buffer is freed or its
// stream closed.
func (b *HostBuffer) Bytes() []byte { return b.data }

// Size returns how many bytes there are, 0 after Free.
func (b *HostBuffer) Size() int { return len(b.data) }

// Free gives the memory back. No copy that is queued may need it any longer. Freeing
// again does nothing.
func (b *HostBuffer) Free() error {
	if b.data == nil {
		return nil
	}
	if b.stream != nil {
		delete(b.stream.hosts, b)
	}
	p := unsafe.Pointer(unsafe.SliceData(b.data))
	b.data = nil
	return b.device.cleanup(b.device.do(func() error { return b.device.context.freeHost(p) }))
}
