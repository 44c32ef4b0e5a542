package tfrecord

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Compression is how a whole file is compressed.
type Compression uint8

// The compressions. TensorFlow knows None, Gzip and Zlib.
const (
	Auto Compression = iota // told from the first bytes when reading, None when writing
	None                    // frames as they are
	Gzip                    // RFC 1952; reading takes concatenated members
	Zlib                    // RFC 1950; reading takes concatenated streams
	Zstd                    // RFC 8878; reading takes concatenated frames and windows up to 128 MiB
)

var compressionNames = [...]string{Auto: "auto", None: "none", Gzip: "gzip", Zlib: "zlib", Zstd: "zstd"}

// String returns the name that [ParseCompression] takes: auto, none, gzip, zlib
// or zstd.
func (c Compression) String() string {
	if int(c) < len(compressionNames) {
		return compressionNames[c]
	}
	return fmt.Sprintf("Compression(%d)", uint8(c))
}

// ParseCompression returns the compression of that name, or an error that
// unwraps to [ErrUnknownCompression].
func ParseCompression(name string) (Compression, error) {
	for c, n := range compressionNames {
		if n == name {
			return Compression(c), nil
		}
	}
	return Auto, fmt.Errorf("%w %q: want auto, none, gzip, zlib or zstd", ErrUnknownCompression, name)
}

// detectSize is how many bytes detect wants to see.
const detectSize = headerSize

// detect tells a file's compression from its first bytes, which are fewer than
// detectSize only when the file is. A valid length CRC is proof of plain
// frames; magic bytes come second, for they may be a length's, too.
func detect(head []byte) Compression {
	if len(head) >= headerSize &&
		maskedLengthCRC(binary.LittleEndian.Uint64(head)) == binary.LittleEndian.Uint32(head[8:]) {
		return None
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 0x08}):
		return Gzip
	case isZstd(head):
		return Zstd
	case isZlib(head):
		return Zlib
	}
	return None
}

// isZstd looks for the magic number of a frame or of a skippable one.
func isZstd(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	magic := binary.LittleEndian.Uint32(head)
	return magic == 0xfd2fb528 || magic&^0xf == 0x184d2a50
}

// isZlib looks for a valid header of two bytes. As little as that is also the
// length of many a record, and a plain file with a damaged length should not
// pass for a damaged zlib file: so not when bytes 4 to 7 are zero, as in any
// length below 4 GiB. No deflate stream that a compressor writes has them so.
func isZlib(head []byte) bool {
	if len(head) < 2 || head[0]&0x0f != 8 || head[0]>>4 > 7 || binary.BigEndian.Uint16(head)%31 != 0 {
		return false
	}
	return len(head) < 8 || binary.LittleEndian.Uint32(head[4:]) != 0
}
