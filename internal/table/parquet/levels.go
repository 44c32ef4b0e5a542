package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

var errShort = errors.New("the page ends before its values")

// appendHybrid appends n numbers of the given width in bits (up to 32) in the hybrid of run lengths
// and bit packing, the encoding of levels and of dictionary indexes.
func appendHybrid(dst []uint32, src []byte, width, n int) ([]uint32, error) {
	if width < 0 || width > 32 {
		return nil, fmt.Errorf("numbers of %d bits", width)
	}
	for n > 0 {
		head, size := binary.Uvarint(src)
		if size <= 0 {
			return nil, errShort
		}
		src = src[size:]
		if head&1 == 1 {
			// Groups of 8; the last one may be cut off where the page ends.
			count := min(uint64(n), head>>1*8)
			if head>>1 > uint64(n)/8+1 {
				count = uint64(n)
			}
			taken := min(uint64(len(src)), (head>>1)*uint64(width))
			var err error
			if dst, err = appendPacked(dst, src[:taken], width, int(count)); err != nil {
				return nil, err
			}
			src = src[taken:]
			n -= int(count)
			if count == 0 && head>>1 == 0 {
				return nil, errors.New("an empty run")
			}
			continue
		}
		count := min(uint64(n), head>>1)
		if count == 0 {
			return nil, errors.New("an empty run")
		}
		bytes := (width + 7) / 8
		if len(src) < bytes {
			return nil, errShort
		}
		v := uint32(0)
		for i := range bytes {
			v |= uint32(src[i]) << (8 * i)
		}
		if width < 32 && v>>width != 0 {
			return nil, fmt.Errorf("a run of %d, of %d bits", v, width)
		}
		src = src[bytes:]
		for range count {
			dst = append(dst, v)
		}
		n -= int(count)
	}
	return dst, nil
}

// appendPacked appends n numbers of the given width, lowest bits first.
func appendPacked(dst []uint32, src []byte, width, n int) ([]uint32, error) {
	if (n*width+7)/8 > len(src) {
		return nil, errShort
	}
	mask := uint64(1)<<width - 1
	at := 0
	for ; n > 0 && at/8+8 <= len(src); n-- {
		dst = append(dst, uint32(binary.LittleEndian.Uint64(src[at/8:])>>(at%8)&mask))
		at += width
	}
	for ; n > 0; n-- {
		var last [8]byte
		copy(last[:], src[min(at/8, len(src)):])
		dst = append(dst, uint32(binary.LittleEndian.Uint64(last[:])>>(at%8)&mask))
		at += width
	}
	return dst, nil
}

// appendLevels appends the n levels up to highest of a page of version 1, and returns what follows.
func appendLevels(dst []uint32, src []byte, encoding, highest, n int) (levels []uint32, rest []byte, err error) {
	width := bits.Len(uint(highest))
	switch encoding {
	case encodingRLE:
		if len(src) < 4 || uint64(binary.LittleEndian.Uint32(src)) > uint64(len(src)-4) {
			return nil, nil, errShort
		}
		size := binary.LittleEndian.Uint32(src)
		levels, err = appendHybrid(dst, src[4:4+size], width, n)
		return levels, src[4+size:], err
	case encodingBitPacked:
		// The deprecated form, highest bits first.
		size := (n*width + 7) / 8
		if size > len(src) {
			return nil, nil, errShort
		}
		for i := range n {
			v := uint32(0)
			for bit := i * width; bit < (i+1)*width; bit++ {
				v = v<<1 | uint32(src[bit/8]>>(7-bit%8))&1
			}
			dst = append(dst, v)
		}
		return dst, src[size:], nil
	}
	return nil, nil, fmt.Errorf("levels in encoding %d", encoding)
}
