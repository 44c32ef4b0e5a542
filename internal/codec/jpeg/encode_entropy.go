package jpeg

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// entropyState is carried over from one row of MCUs to the next: bits that don't fill a byte, the
// lowest of acc, fewer than eight, and the DC coefficients before. The assembly knows the order of
// its fields.
type entropyState struct {
	acc, have uint64
	means     [3]int64
}

// codedBlock holds the codes and the component of one block of an MCU. The assembly knows the order
// of its fields.
type codedBlock struct {
	codes     *blockCodes
	component uint64
}

// maxBlockBytes is more than a block's bits take: 63 coefficients of 26 and a
// difference of 22.
const maxBlockBytes = 216

// storeSlack is the number of bytes written after the last one.
const storeSlack = 8

// appendBlocksPlain is [entropyState.blocks] without assembly.
func (e *entropyState) blocksPlain(dst []byte, coefs []block, nonzero []uint64, mcu []codedBlock) int {
	acc, have, n := e.acc, e.have, 0
	flush := func() {
		binary.BigEndian.PutUint64(dst[n:], acc<<(64-have))
		n += int(have >> 3)
		have &= 7
	}
	for i := range coefs {
		b, kind := &coefs[i], &mcu[i%len(mcu)]
		codes := kind.codes
		v := int64(b[0]) - e.means[kind.component]
		e.means[kind.component] = int64(b[0])
		c := codes.dc[classes[v+maxCoefficient]]
		acc = acc<<c.length + uint64(c.code) + uint64(v)
		have += uint64(c.length)
		flush()
		last := 0
		for mask := nonzero[i] &^ 1; mask != 0; mask &= mask - 1 {
			k := bits.TrailingZeros64(mask)
			run := k - last - 1
			for ; run > 15; run -= 16 {
				c := codes.ac[sixteen]
				acc = acc<<c.length + uint64(c.code)
				have += uint64(c.length)
				flush()
			}
			v := int64(b[k])
			c := codes.ac[run<<5+int(classes[v+maxCoefficient])]
			acc = acc<<c.length + uint64(c.code) + uint64(v)
			have += uint64(c.length)
			flush()
			last = k
		}
		if last < 63 {
			c := codes.ac[endOfBlockCode]
			acc = acc<<c.length + uint64(c.code)
			have += uint64(c.length)
		}
	}
	flush()
	e.acc, e.have = acc, have
	return n
}

// end fills the last byte with ones, and gives it where there is one.
func (e *entropyState) end(dst []byte) []byte {
	if e.have == 0 {
		return dst
	}
	last := byte(e.acc<<(8-e.have)) | byte(1<<(8-e.have)-1)
	return appendStuffed(dst, []byte{last})
}

// appendStuffed appends entropy-coded bytes, with a zero after each 0xFF.
func appendStuffed(dst, data []byte) []byte {
	for {
		i := bytes.IndexByte(data, 0xFF)
		if i < 0 {
			return append(dst, data...)
		}
		dst = append(append(dst, data[:i+1]...), 0)
		data = data[i+1:]
	}
}
