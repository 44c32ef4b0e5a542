// Package digest hashes records and the values of features, so that equal ones can be found without
// keeping them in memory.
package digest

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/tfrecord"
)

// Of returns the 128-bit XXH3 of a record or of its identity. The probability that any two of four
// billion different records have the same hash is 2⁻⁶⁵.
func Of(b []byte) Hash {
	sum := xxh3.Hash128(b)
	return Hash{sum.Hi, sum.Lo}
}

// Size is the number of bytes that Append appends.
const Size = 16

// Append appends the hash in an encoding that sorts as its number does.
func (m Hash) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, m.Hi)
	return binary.BigEndian.AppendUint64(dst, m.Lo)
}

// Parse reads what Append appended. It panics if b has fewer than Size bytes.
func Parse(b []byte) Hash {
	return Hash{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// OfValue returns the hash of a feature's values, whichever way they are encoded. A missing feature
// has the hash of an empty one. The hashed encoding is unique to the values: a letter for the kind,
// then the values, with the length before each value of variable length.
func OfValue(f tfrecord.Feature) Hash {
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
		return Of(form)
	}
	flush()
	sum := long.Sum128()
	return Hash{sum.Hi, sum.Lo}
}

// Seeded mixes a seed and a purpose into a hash: each random choice has a hash of its own,
// otherwise the choices would correlate.
func (m Hash) Seeded(seed uint64, purpose string) uint64 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], m.Hi)
	binary.LittleEndian.PutUint64(b[8:], m.Lo)
	binary.LittleEndian.PutUint64(b[16:], seed)
	return xxh3.HashSeed(b[:], xxh3.HashString(purpose))
}

// Hash is a 128-bit hash, or another identity of a record of that size.
type Hash struct{ Hi, Lo uint64 }

// Compare orders hashes as their numbers.
func (m Hash) Compare(n Hash) int { return cmp.Or(cmp.Compare(m.Hi, n.Hi), cmp.Compare(m.Lo, n.Lo)) }
