package tfrecord

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// Tags of one byte, number<<3 | wire type, of the messages in
// tensorflow/core/example: example.proto and feature.proto. Message fields that
// share a number share a tag.
const (
	tagExampleFeatures = 1<<3 | 2 // Example.features, SequenceExample.context
	tagFeatureLists    = 2<<3 | 2 // SequenceExample.feature_lists
	tagEntry           = 1<<3 | 2 // entry of Features.feature, FeatureLists.feature_list
	tagKey             = 1<<3 | 2 // of an entry
	tagValue           = 2<<3 | 2 // of an entry
	tagStep            = 1<<3 | 2 // FeatureList.feature
	tagBytesList       = 1<<3 | 2 // Feature.kind
	tagFloatList       = 2<<3 | 2
	tagInt64List       = 3<<3 | 2
	tagPacked          = 1<<3 | 2 // values of FloatList and Int64List, many in one field
	tagBytes           = 1<<3 | 2 // value of BytesList
	tagVarint          = 1 << 3   // single value of Int64List
	tagFixed32         = 1<<3 | 5 // single value of FloatList
)

// sizeVarint returns the size of v as a varint in bytes.
func sizeVarint(v uint64) int { return (9*bits.Len64(v) + 64) / 64 }

// appendVarint appends v as a varint.
func appendVarint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// A message is read as data[pos:], where data begins with the outermost message and ends with this
// one, so that pos is always the offset in the whole.

// malformed is the error for malformed data at a byte offset in the message.
func malformed(offset int, format string, args ...any) error {
	return &Error{Record: -1, Offset: int64(offset), Part: PartParse,
		Err: fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)}
}

// field reads the field at pos. The messages here have only length-delimited fields, whose content
// is data[from:to]. Anything else is unknown and skipped, including a known number with another
// wire type. In both cases the next field is at to.
func field(data []byte, pos int) (tag uint64, from, to int, err error) {
	if pos+1 < len(data) {
		if t, n := data[pos], int(data[pos+1]); t < 0x80 && t >= 1<<3 && t&7 == byte(protowire.BytesType) &&
			n < 0x80 && n <= len(data)-pos-2 {
			return uint64(t), pos + 2, pos + 2 + n, nil
		}
	}
	if tag, pos, err = readTag(data, pos); err != nil {
		return 0, 0, 0, err
	}
	if tag&7 == uint64(protowire.BytesType) {
		from, to, err = delimited(data, pos)
	} else {
		to, err = skip(data, pos, tag)
	}
	return tag, from, to, err
}

// readTag reads the tag at pos and returns the position after it.
func readTag(data []byte, pos int) (tag uint64, next int, err error) {
	tag, next, err = varint(data, pos)
	if err != nil {
		return 0, 0, err
	}
	if n := tag >> 3; n < uint64(protowire.MinValidNumber) || n > uint64(protowire.MaxValidNumber) {
		return 0, 0, malformed(pos, "no field has number %d", n)
	}
	return tag, next, nil
}

// delimited reads the length at pos, and returns the range of bytes that it delimits.
func delimited(data []byte, pos int) (from, to int, err error) {
	n, from, err := varint(data, pos)
	if err != nil {
		return 0, 0, err
	}
	if n > uint64(len(data)-from) {
		return 0, 0, malformed(pos, "%d bytes announced, %d are left", n, len(data)-from)
	}
	return from, from + int(n), nil
}

// varint reads the varint at pos and returns the position after it.
func varint(data []byte, pos int) (v uint64, next int, err error) {
	if pos < len(data) && data[pos] < 0x80 {
		return uint64(data[pos]), pos + 1, nil
	}
	v, n := binary.Uvarint(data[pos:])
	switch {
	case n == 0:
		return 0, 0, malformed(pos, "a varint is cut off")
	case n < 0:
		return 0, 0, malformed(pos, "a varint is longer than 64 bits")
	}
	return v, pos + n, nil
}

// skip returns the position after the value at pos of a field with that tag.
func skip(data []byte, pos int, tag uint64) (next int, err error) {
	num, typ := protowire.DecodeTag(tag)
	n := protowire.ConsumeFieldValue(num, typ, data[pos:])
	if n < 0 {
		return 0, malformed(pos, "field %d of wire type %d: %v", num, typ, protowire.ParseError(n))
	}
	return pos + n, nil
}
