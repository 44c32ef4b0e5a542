package shares

import (
	"errors"

	"github.com/tfrec/tfrec/tfrecord"
)

// Compressions are how shards that are written may be compressed.
var Compressions = []string{"none", "gzip", "zlib", "zstd"}

// ParseCompression parses the compression of shards that are written.
func ParseCompression(s string) (tfrecord.Compression, error) {
	c, err := tfrecord.ParseCompression(s)
	if err == nil && c == tfrecord.CompressionAuto {
		err = errors.New("auto is only for reading: want none, gzip, zlib or zstd")
	}
	return c, err
}
