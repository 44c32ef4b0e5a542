package parquet

import (
	"encoding/binary"
	"errors"
)

// Types of Thrift's compact protocol.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth is the maximum depth of structs and lists: the format's own go to 7.
const maxThriftDepth = 32

var (
	errThriftShort = errors.New("metadata ends too early")
	errThrift      = errors.New("metadata is not valid Thrift")
)

// thrift reads Thrift's compact protocol from memory. The first error stays. It allocates nothing,
// so the lengths in the input cost nothing either.
type thrift struct {
	b     []byte
	pos   int
	depth int
	err   error
}

func (t *thrift) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *thrift) byte() byte {
	if t.err != nil || t.pos >= len(t.b) {
		t.fail(errThriftShort)
		return 0
	}
	t.pos++
	return t.b[t.pos-1]
}

func (t *thrift) uvarint() uint64 {
	if t.err != nil {
		return 0
	}
	v, n := binary.Uvarint(t.b[t.pos:])
	switch {
	case n == 0:
		t.fail(errThriftShort)
		return 0
	case n < 0:
		t.fail(errThrift)
		return 0
	}
	t.pos += n
	return v
}

// int reads an i16, i32 or i64.
func (t *thrift) int() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// binary reads bytes, which alias the input.
func (t *thrift) binary() []byte {
	n := t.uvarint()
	if t.err != nil {
		return nil
	}
	if n > uint64(len(t.b)-t.pos) {
		t.fail(errThriftShort)
		return nil
	}
	t.pos += int(n)
	return t.b[t.pos-int(n) : t.pos]
}

// structure reads a struct. For each field, do reads the value and returns true, or returns false
// to have it skipped. Booleans have their value in the type.
func (t *thrift) structure(do func(id int64, kind byte) bool) {
	if t.depth++; t.depth > maxThriftDepth {
		t.fail(errThrift)
	}
	defer func() { t.depth-- }()
	id := int64(0)
	for t.err == nil {
		head := t.byte()
		kind := head & 15
		if kind == thriftStop {
			return
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else {
			id = t.int()
		}
		if t.err == nil && !do(id, kind) {
			t.skip(kind)
		}
	}
}

// list reads a list, whose elements are of a type, by calling do for each.
func (t *thrift) list(kind byte, do func()) {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	if head&15 != kind && n > 0 {
		t.fail(errThrift)
	}
	for ; n > 0 && t.err == nil; n-- {
		do()
	}
}

// skip skips a value. Booleans take no space, but for those in lists.
func (t *thrift) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		if t.pos += 8; t.pos > len(t.b) {
			t.fail(errThriftShort)
		}
	case thriftBinary:
		t.binary()
	case thriftStruct:
		t.structure(func(int64, byte) bool { return false })
	case thriftList, thriftSet:
		t.skipList()
	case thriftMap:
		n := t.uvarint()
		if n == 0 {
			return
		}
		kinds := t.byte()
		for ; n > 0 && t.err == nil; n-- {
			t.skipElement(kinds >> 4)
			t.skipElement(kinds & 15)
		}
	default:
		t.fail(errThrift)
	}
}

func (t *thrift) skipList() {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && t.err == nil; n-- {
		t.skipElement(head & 15)
	}
}

// skipElement skips a value in a list or map, each of which takes a byte at least.
func (t *thrift) skipElement(kind byte) {
	if t.depth++; t.depth > maxThriftDepth {
		t.fail(errThrift)
	}
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	t.skip(kind)
	t.depth--
}
