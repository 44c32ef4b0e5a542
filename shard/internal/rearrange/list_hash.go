package rearrange

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// listHash hashes a sequence of strings, each preceded by its length so that different sequences
// never give the same input to the hash.
type listHash struct{ parts []byte }

func newListHash(parts ...string) *listHash {
	f := new(listHash)
	f.add(parts...)
	return f
}

func (f *listHash) add(parts ...string) {
	for _, p := range parts {
		f.parts = fmt.Appendf(f.parts, "%d:%s", len(p), p)
	}
}

// String returns the first half of the SHA-256 in hexadecimal.
func (f *listHash) String() string {
	sum := sha256.Sum256(f.parts)
	return hex.EncodeToString(sum[:16])
}
