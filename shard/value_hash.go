package shard

import (
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/tfrecord"
)

// hashOf is the 128-bit XXH3 of a record, or of what stands for it. That any two
// of four billion that differ have the same has a probability of 2⁻⁶⁵.
func hashOf(b []byte) hash128 {
	sum := xxh3.Hash128(b)
	return hash128{sum.Hi, sum.Lo}
}

// markSize is how many bytes append appends.
const markSize = 16

// append appends a form of the hash that sorts as its number does.
func (m hash128) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, m.hi)
	return binary.BigEndian.AppendUint64(dst, m.lo)
}

// parseMark reads what append appended.
func parseMark(b []byte) hash128 {
	return hash128{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// hashOfValue is the hash of a feature's values, however they are encoded. A
// feature that is missing has the values of an empty one. What is hashed is a form
// of the values that no other values have: a letter for the kind, then the values,
// those of no fixed length after their length.
func hashOfValue(f tfrecord.Feature) hash128 {
	kind := byte('n')
	switch {
	case f.Len() == 0:
	case f.Kind() == tfrecord.KindBytes:
		kind = 'b'
	case f.Kind() == tfrecord.KindInt64:
		kind = 'i'
	case f.Kind() == tfrecord.KindFloat:
		kind = 'f'
	}
	const room = binary.MaxVarintLen64 // for a number
	var buffer [256]byte
	form := append(buffer[:0], kind)
	var long *xxh3.Hasher // of what no longer fits; nil as a rule
	flush := func() {
		if long == nil {
			long = xxh3.New()
		}
		long.Write(form)
		form = form[:0]
	}
	for v := range f.BytesList() {
		if len(form)+room+len(v) > len(buffer) {
			flush()
		}
		form = binary.AppendUvarint(form, uint64(len(v)))
		if len(form)+len(v) <= len(buffer) {
			form = append(form, v...)
			continue
		}
		flush()
		long.Write(v)
	}
	for v := range f.Int64List() {
		if len(form)+room > len(buffer) {
			flush()
		}
		form = binary.LittleEndian.AppendUint64(form, uint64(v))
	}
	for v := range f.FloatList() {
		if len(form)+room > len(buffer) {
			flush()
		}
		form = binary.LittleEndian.AppendUint32(form, math.Float32bits(v))
	}
	if long == nil {
		return hashOf(form)
	}
	flush()
	sum := long.Sum128()
	return hash128{sum.Hi, sum.Lo}
}

// seeded mixes a seed and a purpose into a hash: each random choice has a hash
// of its own, or the choices would correlate.
func (m hash128) seeded(seed uint64, purpose string) uint64 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], m.hi)
	binary.LittleEndian.PutUint64(b[8:], m.lo)
	binary.LittleEndian.PutUint64(b[16:], seed)
	return xxh3.HashSeed(b[:], xxh3.HashString(purpose))
}
