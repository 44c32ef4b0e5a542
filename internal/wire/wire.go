// Package wire reads the fields of a protocol buffers message where they are,
// without a schema and without copying.
//
//	for at := 0; at < len(message); {
//		f, ok := wire.At(message, at)
//		if !ok {
//			return errors.New("not a message")
//		}
//		if f.Tag == wire.Bytes1 {
//			use(message[f.From:f.To])
//		}
//		at = f.To
//	}
package wire

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// Wire types, the low three bits of a tag.
const (
	Varint  = 0
	Fixed64 = 1
	Bytes   = 2
	Group   = 3
	Fixed32 = 5
)

// Tags that Examples have: a field's number and its wire type.
const (
	Varint1    = 1<<3 | Varint
	Varint2    = 2<<3 | Varint
	Fixed64At1 = 1<<3 | Fixed64
	Fixed32At1 = 1<<3 | Fixed32
	Bytes1     = 1<<3 | Bytes
	Bytes2     = 2<<3 | Bytes
	Bytes3     = 3<<3 | Bytes
)

// Field is a field of a message: its tag, and where its content begins and
// ends. The content of a field of wire type Bytes begins after its length, and the content of a
// Group includes the tag that ends it.
type Field struct {
	Tag      uint64
	From, To int
}

// At reads the field at offset at of message b. It reports false when the field
// is not whole, or its wire type is unknown.
func At(b []byte, at int) (f Field, ok bool) {
	tag, n := uvarint(b[at:])
	if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return f, false
	}
	f.Tag, f.From = tag, at+n
	left := len(b) - f.From
	switch tag & 7 {
	case Varint:
		_, n = uvarint(b[f.From:])
		if n <= 0 {
			return f, false
		}
	case Fixed64:
		n = 8
	case Fixed32:
		n = 4
	case Bytes:
		length, skip := uvarint(b[f.From:])
		if skip <= 0 || length > uint64(left-skip) {
			return f, false
		}
		f.From += skip
		n, left = int(length), left-skip
	case Group:
		n = protowire.ConsumeFieldValue(protowire.Number(tag>>3), protowire.StartGroupType, b[f.From:])
		if n < 0 {
			return f, false
		}
	default:
		return f, false
	}
	f.To = f.From + n
	return f, n <= left
}

// uvarint is binary.Uvarint, inlined for the common case of one byte.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}

// Each calls ok with the tag of each field of a message, and with its content
// where that has a length. It reports whether all fields are whole and ok.
func Each(b []byte, ok func(tag uint64, value []byte) bool) bool {
	for at := 0; at < len(b); {
		f, whole := At(b, at)
		if !whole {
			return false
		}
		var value []byte
		if f.Tag&7 == Bytes {
			value = b[f.From:f.To:f.To]
		}
		if !ok(f.Tag, value) {
			return false
		}
		at = f.To
	}
	return true
}
