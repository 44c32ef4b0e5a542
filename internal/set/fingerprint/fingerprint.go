// Package fingerprint makes the fingerprints of shards and sets that no plan has made.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tfrec/tfrec/manifest"
)

// OfShard returns the fingerprint of a shard that no plan has made. It depends on the shard's
// content, where other fingerprints depend on its inputs.
func OfShard(info manifest.Shard) string {
	sum := sha256.Sum256([]byte("content\x00" + info.File + "\x00" + info.SHA256))
	return hex.EncodeToString(sum[:16])
}

// OfSet returns a hash over the names and fingerprints of all shards.
func OfSet(m *manifest.Manifest) string {
	sum := sha256.New()
	for _, split := range m.Splits {
		for _, info := range split.Shards {
			fmt.Fprintf(sum, "%s\x00%s\x00", info.File, info.Fingerprint)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
