package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// HasContent reports whether the file in place is, byte for byte, the shard
// that info describes. It reads the file.
func (d *Dir) HasContent(info Info) bool {
	f, err := os.Open(d.join(info.File))
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	return err == nil && n == info.Bytes && hex.EncodeToString(sum.Sum(nil)) == info.SHA256
}
