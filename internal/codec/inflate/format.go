package inflate

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/bits"
)

// another begins a stream if there are data for one, which it does not wait for while the caller has n
// bytes to take.
func (r *Reader) another(n int) error {
	c := &r.codec
	for c.count == 0 && c.at == len(c.in) {
		if c.pos-r.taken >= n {
			return nil
		}
		if err := r.more(); err != nil {
			if r.ended {
				err = io.EOF
			}
			return err
		}
	}
	if r.format == Gzip && r.streams {
		if err := r.need(8); err != nil {
			return err
		}
		if c.bits&0xFF == 0 {
			r.state = inPadding
			return nil
		}
	}
	r.begin()
	return nil
}

// padding skips zeros up to the end of the data, for which it does not wait while the caller has n
// bytes to take.
func (r *Reader) padding(n int) error {
	c := &r.codec
	for c.count > 0 {
		if c.take(8) != 0 {
			return r.failHeader("data after zero padding")
		}
	}
	for ; c.at < len(c.in); c.at++ {
		if c.in[c.at] != 0 {
			return r.failHeader("data after zero padding")
		}
	}
	if c.pos-r.taken >= n {
		return nil
	}
	err := r.more()
	if r.ended {
		err = io.EOF
	}
	return err
}

// header reads the header of a stream.
func (r *Reader) header() error {
	switch r.format {
	case Zlib, ZlibStreams:
		if err := r.zlibHeader(); err != nil {
			return err
		}
	case Gzip:
		if err := r.gzipHeader(); err != nil {
			return err
		}
	}
	r.state = inBlock
	return nil
}

func (r *Reader) zlibHeader() error {
	if err := r.need(16); err != nil {
		return err
	}
	method, flags := r.codec.take(8), r.codec.take(8)
	switch {
	case method&15 != 8 || method>>4 > 7 || (method<<8|flags)%31 != 0:
		return r.failHeader("no zlib header")
	case flags&0x20 != 0:
		return r.failHeader("a zlib header that asks for a dictionary")
	}
	return nil
}

// The flags of gzip's header.
const (
	gzipChecksum = 1 << (iota + 1)
	gzipExtra
	gzipName
	gzipComment
	gzipReserved
)

func (r *Reader) gzipHeader() error {
	var head [10]byte
	if err := r.headerBytes(head[:]); err != nil {
		return err
	}
	if head[0] != 0x1F || head[1] != 0x8B || head[2] != 8 {
		return r.failHeader("no gzip header")
	}
	flags := head[3]
	if flags >= gzipReserved {
		return r.failHeader("a gzip header with unknown flags")
	}
	if flags&gzipExtra != 0 {
		var size [2]byte
		if err := r.headerBytes(size[:]); err != nil {
			return err
		}
		for range binary.LittleEndian.Uint16(size[:]) {
			if err := r.headerBytes(size[:1]); err != nil {
				return err
			}
		}
	}
	for range bits.OnesCount8(flags & (gzipName | gzipComment)) {
		for end := []byte{1}; end[0] != 0; {
			if err := r.headerBytes(end); err != nil {
				return err
			}
		}
	}
	if flags&gzipChecksum != 0 {
		computed := r.checksum & 0xFFFF
		if err := r.need(16); err != nil {
			return err
		}
		if uint32(r.codec.take(16)) != computed {
			return r.failHeader("wrong checksum of a gzip header")
		}
	}
	r.checksum = 0
	return nil
}

// headerBytes reads bytes of gzip's header, of which it continues the checksum.
func (r *Reader) headerBytes(p []byte) error {
	for i := range p {
		if err := r.need(8); err != nil {
			return err
		}
		p[i] = byte(r.codec.take(8))
	}
	r.checksum = crc32.Update(r.checksum, crc32.IEEETable, p)
	return nil
}

// trailer compares the checksum and ends the stream.
func (r *Reader) trailer() error {
	r.sum()
	c := &r.codec
	c.align()
	switch r.format {
	case Raw:
		r.state = atEnd
		return io.EOF
	case Zlib, ZlibStreams:
		if err := r.need(32); err != nil {
			return err
		}
		if bits.ReverseBytes32(uint32(c.take(32))) != r.checksum {
			return r.failChecksum("wrong checksum (Adler-32)")
		}
		if r.format == Zlib {
			r.state = atEnd
			return io.EOF
		}
	case Gzip:
		if err := r.need(32); err != nil {
			return err
		}
		checksum := uint32(c.take(32))
		if err := r.need(32); err != nil {
			return err
		}
		if length := uint32(c.take(32)); checksum != r.checksum || length != r.length {
			return r.failChecksum("wrong checksum (CRC-32) or length")
		}
	}
	r.state, r.streams = between, true
	return nil
}
