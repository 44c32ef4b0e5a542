package reader

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/tfrec/tfrec/tfrecord"
)

// The frame of a record, as package tfrecord describes it. Its Reader gives one
// record at a time, out of a buffer that the next one overwrites; blocks need
// many records of a buffer of their own, so this is a second way through a
// frame for the case that nothing is wrong. What is wrong, when something is,
// tfrecord.Reader says.
const (
	frameHeader = 12
	frameFooter = tfrecord.Overhead - frameHeader
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crcHolds reports whether the four bytes at stored are the masked CRC of p.
func crcHolds(stored, p []byte) bool {
	crc := crc32.Checksum(p, castagnoli)
	return (crc>>15|crc<<17)+0xa282ead8 == binary.LittleEndian.Uint32(stored)
}

// limits are what a frame is held to.
type limits struct {
	checksum tfrecord.Checksum
	max      uint64 // payload bytes
}

// verdict is what is known of a frame.
type verdict uint8

const (
	frameGood    verdict = iota
	frameShort           // not all of it is there
	frameBroken          // its length cannot be believed, or is over the limit
	frameDamaged         // the length holds, the data do not
)

// frame looks at the frame at the beginning of p. size is that of all of it;
// for a short one the size that is needed to tell more; 0 for a broken one.
func (l limits) frame(p []byte) (size int, v verdict) {
	if len(p) < frameHeader {
		return frameHeader, frameShort
	}
	length := binary.LittleEndian.Uint64(p)
	if length > l.max || l.checksum != tfrecord.ChecksumOff && !crcHolds(p[8:], p[:8]) {
		return 0, frameBroken
	}
	size = tfrecord.Overhead + int(length)
	if len(p) < size {
		return size, frameShort
	}
	if l.checksum == tfrecord.ChecksumFull && !crcHolds(p[size-frameFooter:], p[frameHeader:size-frameFooter]) {
		return size, frameDamaged
	}
	return size, frameGood
}
