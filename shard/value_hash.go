package shard

import (
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/tfrecord"
)

// hashOf is the 128-bit XXH3 of a record, or of what stands for it. That any two
// of four billion that differ have the same has a probability of 2⁻⁶⁵.
func hashOf(b []byte) mark {
	sum := xxh3.Hash128(b)
	return mark{sum.Hi, sum.Lo}
}

// markSize is how many bytes append appends.
const markSize = 16

// append appends a form of the hash that sorts as its number does.
func (m mark) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, m.hi)
	return binary.BigEndian.AppendUint64(dst, m.lo)
}

// parseMark reads what append appended.
func parseMark(b []byte) mark {
	return mark{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// hashOfValue is the hash of a feature's values, however they are encoded. A
// feature that is missing has the values of an empty one.
func hashOfValue(f tfrecord.Feature) mark {
	var buffer [64]byte
	return hashOf(appendValues(buffer[:0], f))
}

// appendValues appends a form of the values that no other values have: a letter
// for the kind, then the values, those of no fixed length behind their length.
func appendValues(dst []byte, f tfrecord.Feature) []byte {
	switch {
	case f.Len() == 0:
		return append(dst, 'n')
	case f.Kind() == tfrecord.KindBytes:
		dst = append(dst, 'b')
		for _, v := range f.AppendBytes(nil) {
			dst = binary.AppendUvarint(dst, uint64(len(v)))
			dst = append(dst, v...)
		}
	case f.Kind() == tfrecord.KindInt64:
		dst = append(dst, 'i')
		for _, v := range f.AppendInt64s(nil) {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
	case f.Kind() == tfrecord.KindFloat:
		dst = append(dst, 'f')
		for _, v := range f.AppendFloats(nil) {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
	}
	return dst
}

// seeded mixes a seed and a purpose into a hash: each random choice has a hash
// of its own, or the choices would correlate.
func (m mark) seeded(seed uint64, purpose string) uint64 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], m.hi)
	binary.LittleEndian.PutUint64(b[8:], m.lo)
	binary.LittleEndian.PutUint64(b[16:], seed)
	return xxh3.HashSeed(b[:], xxh3.HashString(purpose))
}
