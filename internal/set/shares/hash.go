package shares

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Purpose names a random choice. Each has its own hash, since the choices would correlate
// otherwise: with one hash for all, a limited set would land in the first shards of the first
// split.
type Purpose string

const (
	ForLimit Purpose = "limit"
	ForSplit Purpose = "split"
	ForShard Purpose = "shard"
	ForOrder Purpose = "order"
	// ForPartner chooses the images that are mixed into others.
	ForPartner Purpose = "partner"
)

// Hasher is H(seed, purpose, ·): XXH3-64 of a key, seeded by the XXH3-64 of
// the purpose, a NUL and the seed's eight bytes, little-endian.
type Hasher uint64

// NewHasher returns the hasher of a choice.
func NewHasher(seed uint64, p Purpose) Hasher {
	b := binary.LittleEndian.AppendUint64(append([]byte(p), 0), seed)
	return Hasher(xxh3.Hash(b))
}

// Key hashes a sample identified by its key.
func (h Hasher) Key(key string) uint64 { return xxh3.HashStringSeed(key, uint64(h)) }

// Number hashes a sample identified by its number, such as a CSV row.
func (h Hasher) Number(n int64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	return xxh3.HashSeed(b[:], uint64(h))
}

// RangeOf returns which of n equal ranges of hash values contains hash.
func RangeOf(hash uint64, n int) int {
	hi, _ := bits.Mul64(hash, uint64(n))
	return int(hi)
}
