package tfrecord

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Compression is the compression of a whole file.
type Compression uint8

// The compressions. TensorFlow reads all but CompressionZstd.
const (
	CompressionAuto Compression = iota // detected from the first bytes when reading, none when writing
	CompressionNone                    // plain frames
	CompressionGzip                    // RFC 1952; reading takes concatenated members
	CompressionZlib                    // RFC 1950; reading takes concatenated streams
	CompressionZstd                    // RFC 8878; reading takes concatenated frames and windows up to 128 MiB
)

var compressionNames = [...]string{CompressionAuto: "auto", CompressionNone: "none", CompressionGzip: "gzip", CompressionZlib: "zlib", CompressionZstd: "zstd"}

// String returns the name for [ParseCompression]: auto, none, gzip, zlib or zstd.
func (c Compression) String() string {
	if int(c) < len(compressionNames) {
		return compressionNames[c]
	}
	return fmt.Sprintf("Compression(%d)", uint8(c))
}

// ParseCompression returns the compression with that name, or an error that unwraps to
// [ErrUnknownCompression].
func ParseCompression(name string) (Compression, error) {
	for c, n := range compressionNames {
		if n == name {
			return Compression(c), nil
		}
	}
	return CompressionAuto, fmt.Errorf("%w %q: want auto, none, gzip, zlib or zstd", ErrUnknownCompression, name)
}

// detectSize is the number of bytes that detect needs.
const detectSize = headerSize

// detect returns a file's compression from its first bytes, which are fewer than detectSize only if
// the file is. A valid length CRC proves plain frames; magic bytes come second, since they could
// also be part of a length.
func detect(head []byte) Compression {
	if len(head) >= headerSize &&
		maskedLengthCRC(binary.LittleEndian.Uint64(head)) == binary.LittleEndian.Uint32(head[8:]) {
		return CompressionNone
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 0x08}):
		return CompressionGzip
	case isZstd(head):
		return CompressionZstd
	case isZlib(head):
		return CompressionZlib
	}
	return CompressionNone
}

// isZstd reports whether head has the magic number of a frame or of a skippable one.
func isZstd(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	magic := binary.LittleEndian.Uint32(head)
	return magic == 0xfd2fb528 || magic&^0xf == 0x184d2a50
}

// isZlib reports whether head has a valid two-byte header. Many record lengths look like that, too,
// and a plain file with a damaged length should not pass for a damaged zlib file: so bytes 4 to 7
// must not be zero, as they are in any length below 4 GiB. No compressor writes a deflate stream
// with zeros there.
func isZlib(head []byte) bool {
	if len(head) < 2 || head[0]&0x0f != 8 || head[0]>>4 > 7 || binary.BigEndian.Uint16(head)%31 != 0 {
		return false
	}
	return len(head) < 8 || binary.LittleEndian.Uint32(head[4:]) != 0
}
