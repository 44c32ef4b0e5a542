// Package fingerprint makes the fingerprints of shards and sets that no plan has made.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tfrec/tfrec/manifest"
)

// OfShard is that of a shard which no plan has made: it tells what
// the shard is, where others tell what it was made of.
func OfShard(info manifest.Shard) string {
	sum := sha256.Sum256([]byte("content\x00" + info.File + "\x00" + info.SHA256))
	return hex.EncodeToString(sum[:16])
}

// OfSet is over those of all shards.
func OfSet(m *manifest.Manifest) string {
	sum := sha256.New()
	for _, split := range m.Splits {
		for _, info := range split.Shards {
			fmt.Fprintf(sum, "%s\x00%s\x00", info.File, info.Fingerprint)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
