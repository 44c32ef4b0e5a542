package storage

import (
	"crypto/md5"
	"crypto/sha256"
	"hash"
	"hash/crc32"

	"github.com/minio/crc64nvme"
)

// Sum is a checksum of an object or of a range of it, as its store states it. The zero value is
// none.
type Sum struct {
	Kind  SumKind
	Value string // the bytes, with the first one first
	// Guessed means that the store does not guarantee that it is a checksum of the contents. If the
	// same bytes arrive twice and do not match, they are accepted: Value is then something else.
	Guessed bool
}

// SumKind is a kind of checksum, as errors name it.
type SumKind string

// The kinds that stores have.
const (
	CRC32C    SumKind = "CRC-32C"
	CRC32     SumKind = "CRC-32"
	CRC64NVME SumKind = "CRC-64/NVME"
	SHA256    SumKind = "SHA-256"
	MD5       SumKind = "MD5"
)

var sums = map[SumKind]func() hash.Hash{
	CRC32C:    func() hash.Hash { return crc32.New(castagnoli) },
	CRC32:     func() hash.Hash { return crc32.NewIEEE() },
	CRC64NVME: func() hash.Hash { return crc64nvme.New() },
	SHA256:    sha256.New,
	MD5:       md5.New,
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SumOf returns the checksum of data. Its kind must be one of the above.
func SumOf(kind SumKind, data []byte) Sum {
	h := sums[kind]()
	h.Write(data)
	return Sum{Kind: kind, Value: string(h.Sum(nil))}
}

// holds reports whether s is the checksum of data, or none.
func (s Sum) holds(data []byte) bool { return s.Kind == "" || SumOf(s.Kind, data).Value == s.Value }
