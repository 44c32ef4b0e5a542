package webp

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// riffHeader is the size of what precedes the chunks: "RIFF", the length of the rest, "WEBP".
const riffHeader = 12

// Content returns the chunks of a file: as many bytes as its header announces, which the chunks must
// fill. What follows in the file is ignored.
func Content(data []byte) ([]byte, error) {
	if len(data) < riffHeader || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return nil, errFormat
	}
	size := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if size > int64(len(data)) {
		return nil, fmt.Errorf("the file ends after %d of %d bytes", len(data), size)
	}
	if size < riffHeader {
		return nil, fmt.Errorf("a length of %d bytes in its header", size)
	}
	list := data[riffHeader:size]
	at := riffHeader
	for name, body := range Chunks(list) {
		n := min(8+len(body)+len(body)&1, len(list))
		if 8+len(body) == len(list) && len(body)&1 != 0 {
			return nil, fmt.Errorf("chunk %.4q at byte %d ends without its padding", name, at)
		}
		list, at = list[n:], at+n
	}
	switch {
	case len(list) == 0:
		return data[riffHeader:size], nil
	case len(list) < 8:
		return nil, fmt.Errorf("%d bytes at byte %d are no chunk", len(list), at)
	}
	return nil, fmt.Errorf("chunk %.4q at byte %d has %d bytes, and %d are left of the file", list, at, binary.LittleEndian.Uint32(list[4:]), len(list)-8)
}

// Chunks yields the names and bodies of the chunks in a list. It ends before one that the list does
// not hold to its end.
func Chunks(list []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, body []byte) bool) {
		for len(list) >= 8 {
			n := int64(binary.LittleEndian.Uint32(list[4:]))
			if n > int64(len(list)-8) || !yield(list[:4], list[8:8+n]) {
				return
			}
			list = list[min(int64(len(list)), 8+n+n&1):]
		}
	}
}
