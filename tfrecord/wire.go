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
	tagEntry           = 1<<3 | 2 // an entry of the maps Features.feature and FeatureLists.feature_list
	tagKey             = 1<<3 | 2 // of an entry
	tagValue           = 2<<3 | 2 // of an entry
	tagStep            = 1<<3 | 2 // FeatureList.feature
	tagBytesList       = 1<<3 | 2 // Feature.kind
	tagFloatList       = 2<<3 | 2
	tagInt64List       = 3<<3 | 2
	tagPacked          = 1<<3 | 2 // value of FloatList and Int64List, many in one field
	tagBytes           = 1<<3 | 2 // value of BytesList
	tagVarint          = 1<<3 | 0 // value of Int64List, alone
	tagFixed32         = 1<<3 | 5 // value of FloatList, alone
)

// sizeVarint returns how many bytes v takes as a varint.
func sizeVarint(v uint64) int { return (9*bits.Len64(v) + 64) / 64 }

// appendVarint appends v as a varint.
func appendVarint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// cursor walks over the fields of a message that is data[pos:end].
// Messages in messages are cursors over the same data, so that pos is always the
// offset in the whole.
type cursor struct {
	data []byte
	pos  int
	end  int
}

// malformed is the error for what begins at byte offset of the message.
func malformed(offset int, format string, args ...any) error {
	return &Error{Record: -1, Offset: int64(offset), Part: PartParse,
		Err: fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)}
}

// varint reads a varint.
func (c *cursor) varint() (uint64, error) {
	if c.pos < c.end {
		if b := c.data[c.pos]; b < 0x80 {
			c.pos++
			return uint64(b), nil
		}
	}
	v, n := binary.Uvarint(c.data[c.pos:c.end])
	switch {
	case n == 0:
		return 0, malformed(c.pos, "a varint is cut off")
	case n < 0:
		return 0, malformed(c.pos, "a varint is longer than 64 bits")
	}
	c.pos += n
	return v, nil
}

// tag reads the tag of the next field.
func (c *cursor) tag() (uint64, error) {
	at := c.pos
	tag, err := c.varint()
	if err != nil {
		return 0, err
	}
	if n := tag >> 3; n < uint64(protowire.MinValidNumber) || n > uint64(protowire.MaxValidNumber) {
		return 0, malformed(at, "field number %d is none", n)
	}
	return tag, nil
}

// field reads the next field. The messages here have only length-delimited
// fields, and of those it returns the content; all else means nothing to them,
// a known number with another wire type included, and is passed over.
func (c *cursor) field() (tag uint64, content cursor, err error) {
	if tag, err = c.tag(); err != nil {
		return 0, cursor{}, err
	}
	if tag&7 == uint64(protowire.BytesType) {
		content, err = c.delimited()
	} else {
		err = c.skip(tag)
	}
	return tag, content, err
}

// delimited reads a length, and returns a cursor over the bytes that it counts;
// c stands behind them.
func (c *cursor) delimited() (cursor, error) {
	at := c.pos
	n, err := c.varint()
	if err != nil {
		return cursor{}, err
	}
	if n > uint64(c.end-c.pos) {
		return cursor{}, malformed(at, "%d bytes announced, %d are left", n, c.end-c.pos)
	}
	m := cursor{c.data, c.pos, c.pos + int(n)}
	c.pos = m.end
	return m, nil
}

// bytes returns what the cursor is over, clipped.
func (c *cursor) bytes() []byte { return c.data[c.pos:c.end:c.end] }

// skip passes over the value of a field.
func (c *cursor) skip(tag uint64) error {
	num, typ := protowire.DecodeTag(tag)
	n := protowire.ConsumeFieldValue(num, typ, c.data[c.pos:c.end])
	if n < 0 {
		return malformed(c.pos, "field %d of wire type %d: %w", num, typ, protowire.ParseError(n))
	}
	c.pos += n
	return nil
}
