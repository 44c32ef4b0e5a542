package tfrecord

import "encoding/binary"

// Overhead is the size of a frame in bytes without its payload.
const Overhead = headerSize + footerSize

const (
	headerSize = 12 // length and its CRC
	footerSize = 4  // CRC of the data
)

// AppendFrame appends payload as one frame to dst.
func AppendFrame(dst, payload []byte) []byte {
	dst = appendHeader(dst, uint64(len(payload)))
	dst = append(dst, payload...)
	return appendFooter(dst, payload)
}

// BeginFrame opens a frame at the end of dst, for a payload that is appended in place instead of
// copied. [EndFrame] with the mark closes it:
//
//	dst, mark := tfrecord.BeginFrame(dst)
//	dst = builder.Append(dst)
//	dst = tfrecord.EndFrame(dst, mark)
func BeginFrame(dst []byte) (opened []byte, mark int) {
	return append(dst, make([]byte, headerSize)...), len(dst)
}

// EndFrame closes the frame that [BeginFrame] opened at mark; everything appended since is its
// payload.
func EndFrame(dst []byte, mark int) []byte {
	payload := dst[mark+headerSize:]
	appendHeader(dst[:mark], uint64(len(payload)))
	return appendFooter(dst, payload)
}

func appendHeader(dst []byte, length uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, length)
	return binary.LittleEndian.AppendUint32(dst, maskedLengthCRC(length))
}

func appendFooter(dst, payload []byte) []byte {
	return binary.LittleEndian.AppendUint32(dst, maskedCRC(payload))
}
