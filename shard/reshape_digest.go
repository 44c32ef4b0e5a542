package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// digest hashes a sequence of strings so that no two sequences give the
// same input to the hash: each is preceded by its length.
type digest struct{ parts []byte }

func newDigest(parts ...string) *digest {
	f := new(digest)
	f.add(parts...)
	return f
}

func (f *digest) add(parts ...string) {
	for _, p := range parts {
		f.parts = fmt.Appendf(f.parts, "%d:%s", len(p), p)
	}
}

// String returns the first half of the SHA-256 in hexadecimal.
func (f *digest) String() string {
	sum := sha256.Sum256(f.parts)
	return hex.EncodeToString(sum[:16])
}
