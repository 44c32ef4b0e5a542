package png

import (
	"encoding/binary"
	"hash/crc32"
)

// AppendHeader appends the beginning of a file, not interlaced: the signature and the chunk IHDR.
// Channels are 1 for gray and 3 for red, green and blue, depth is the bits of a sample, 8 or 16.
func AppendHeader(dst []byte, width, height, channels, depth int) []byte {
	header := [13]byte{8: byte(depth)} // 9: colour type; deflate, filters by row, not interlaced
	binary.BigEndian.PutUint32(header[0:], uint32(width))
	binary.BigEndian.PutUint32(header[4:], uint32(height))
	if channels == 3 {
		header[9] = byte(RGB)
	}
	return AppendChunk(append(dst, Signature...), "IHDR", func(dst []byte) []byte { return append(dst, header[:]...) })
}

// AppendEnd appends the chunk that a file ends with.
func AppendEnd(dst []byte) []byte {
	return AppendChunk(dst, "IEND", func(dst []byte) []byte { return dst })
}

// AppendChunk appends a chunk. data must append its data, less than 2 GiB.
func AppendChunk(dst []byte, name string, data func([]byte) []byte) []byte {
	at := len(dst)
	dst = data(append(append(dst, 0, 0, 0, 0), name...))
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-8))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at+4:]))
}
