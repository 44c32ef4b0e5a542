package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ContentFingerprint is that of a shard which no plan has made: it tells what
// the shard is, where others tell what it was made of.
func ContentFingerprint(info Info) string {
	sum := sha256.Sum256([]byte("content\x00" + info.File + "\x00" + info.SHA256))
	return hex.EncodeToString(sum[:16])
}

// SetFingerprint is over those of all shards.
func SetFingerprint(m *Manifest) string {
	sum := sha256.New()
	for _, split := range m.Splits {
		for _, info := range split.Shards {
			fmt.Fprintf(sum, "%s\x00%s\x00", info.File, info.Fingerprint)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
