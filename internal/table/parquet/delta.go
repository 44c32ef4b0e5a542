package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// deltas reads DELTA_BINARY_PACKED integers, n of which are expected, and returns what follows.
// They are the sum of differences that wrap around, as int64.
func deltas(dst []int64, src []byte, n int) (values []int64, rest []byte, err error) {
	var head [3]uint64 // block size, miniblocks in it, values
	for i := range head {
		v, size := binary.Uvarint(src)
		if size <= 0 {
			return nil, nil, errShort
		}
		head[i], src = v, src[size:]
	}
	last, size := binary.Varint(src)
	if size <= 0 {
		return nil, nil, errShort
	}
	src = src[size:]
	block, minis := head[0], head[1]
	if head[2] != uint64(n) {
		return nil, nil, fmt.Errorf("%d values where the page has %d", head[2], n)
	}
	if minis == 0 || minis > 512 || block > 1<<16 || block%minis != 0 || block/minis%8 != 0 || block == 0 {
		return nil, nil, fmt.Errorf("blocks of %d values in %d parts", block, minis)
	}
	if n == 0 {
		return dst, src, nil
	}
	dst = append(dst, last)
	for n--; n > 0; {
		least, size := binary.Varint(src)
		if size <= 0 || len(src)-size < int(minis) {
			return nil, nil, errShort
		}
		widths := src[size : size+int(minis)]
		src = src[size+int(minis):]
		for _, width := range widths {
			if n == 0 {
				break // those after the last value have no bytes
			}
			per := int(block / minis)
			bytes := per * int(width) / 8
			if width > 64 {
				return nil, nil, fmt.Errorf("differences of %d bits", width)
			}
			if bytes > len(src) {
				return nil, nil, errShort
			}
			for i := range min(per, n) {
				last += least + int64(packed64(src[:bytes], i*int(width), int(width)))
				dst = append(dst, last)
			}
			n -= min(per, n)
			src = src[bytes:]
		}
	}
	return dst, src, nil
}

// packed64 returns the number of the given width at a bit.
func packed64(src []byte, bit, width int) uint64 {
	if width == 0 {
		return 0
	}
	var b [9]byte
	copy(b[:], src[bit/8:])
	v := binary.LittleEndian.Uint64(b[:])>>(bit%8) | uint64(b[8])<<(64-bit%8)
	if bit%8 == 0 {
		v = binary.LittleEndian.Uint64(b[:])
	}
	return v & (math.MaxUint64 >> (64 - width))
}

// deltaLengths reads DELTA_LENGTH_BYTE_ARRAY.
func (p *page) deltaLengths(src []byte, n int) error {
	lengths, src, err := deltas(p.lengths[:0], src, n)
	if err != nil {
		return err
	}
	p.lengths = lengths
	for _, length := range lengths {
		if length < 0 || length > int64(len(src)) {
			return errShort
		}
		if err := p.appendBytes(src[:length]); err != nil {
			return err
		}
		src = src[length:]
	}
	return nil
}

// deltaBytes reads DELTA_BYTE_ARRAY: the length of the prefix shared with the value before, and the
// rest of each value.
func (p *page) deltaBytes(src []byte, n int) error {
	prefixes, src, err := deltas(nil, src, n)
	if err != nil {
		return err
	}
	lengths, src, err := deltas(p.lengths[:0], src, n)
	if err != nil {
		return err
	}
	p.lengths = lengths
	last := []byte{}
	for i, length := range lengths {
		prefix := prefixes[i]
		if length < 0 || length > int64(len(src)) {
			return errShort
		}
		if prefix < 0 || prefix > int64(len(last)) {
			return errors.New("a prefix longer than the value before")
		}
		last = append(last[:prefix], src[:length]...)
		if err := p.appendBytes(last); err != nil {
			return err
		}
		src = src[length:]
	}
	return nil
}
