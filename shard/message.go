package shard

import (
	"bytes"
	"encoding/binary"

	"unicode"
	"unicode/utf8"
)

// Message is what a record holds, as far as its bytes tell.
type Message string

// The messages that MessageOf tells apart.
const (
	MessageExample         Message = RecordExample
	MessageSequenceExample Message = "tf.train.SequenceExample"
	MessageWithContext     Message = "tensorflow.serving.ExampleListWithContext"
	MessageEvent           Message = "tensorflow.Event" // of TensorBoard
	MessageUnknown         Message = ""
)

// MessageOf tells what a record holds. Wire format has no names and any parser
// passes over what it does not know, so it is strict: a message must have all
// of the fields that its writers write and no others. A record without a byte
// is an Example without features.
func MessageOf(record []byte) Message {
	switch {
	case isExample(record):
		return MessageExample
	case isSequenceExample(record):
		return MessageSequenceExample
	case isListWithContext(record):
		return MessageWithContext
	case isEvent(record):
		return MessageEvent
	}
	return MessageUnknown
}

// isExample: Features features = 1.
func isExample(b []byte) bool {
	return eachField(b, func(tag uint64, value []byte) bool { return tag == bytes1 && isFeatures(value) })
}

// isFeatures: map<string, Feature> feature = 1.
func isFeatures(b []byte) bool {
	return eachField(b, func(tag uint64, value []byte) bool { return tag == bytes1 && isEntry(value, isFeature) })
}

// isFeature: one of BytesList = 1, FloatList = 2, Int64List = 3, each with its
// values in field 1, packed or not.
func isFeature(b []byte) bool {
	return eachField(b, func(tag uint64, list []byte) bool {
		switch tag {
		case bytes1:
			return eachField(list, func(tag uint64, _ []byte) bool { return tag == bytes1 })
		case bytes2:
			return eachField(list, func(tag uint64, value []byte) bool {
				return tag == fixed32at1 || tag == bytes1 && len(value)%4 == 0
			})
		case bytes3:
			return eachField(list, func(tag uint64, _ []byte) bool { return tag == varint1 || tag == bytes1 })
		}
		return false
	})
}

// isSequenceExample: Features context = 1, FeatureLists feature_lists = 2.
func isSequenceExample(b []byte) bool {
	return eachField(b, func(tag uint64, value []byte) bool {
		return tag == bytes1 && isFeatures(value) || tag == bytes2 && isFeatureLists(value)
	})
}

// isFeatureLists: map<string, FeatureList> feature_list = 1.
func isFeatureLists(b []byte) bool {
	return eachField(b, func(tag uint64, value []byte) bool { return tag == bytes1 && isEntry(value, isFeatureList) })
}

// isFeatureList: repeated Feature feature = 1.
func isFeatureList(b []byte) bool {
	return eachField(b, func(tag uint64, value []byte) bool { return tag == bytes1 && isFeature(value) })
}

// isListWithContext: repeated bytes examples = 1, bytes context = 2, each an
// Example.
func isListWithContext(b []byte) bool {
	return eachField(b, func(tag uint64, value []byte) bool { return (tag == bytes1 || tag == bytes2) && isExample(value) })
}

// isEntry: string key = 1, and a value = 2. All writers of maps write the key;
// one may leave out an empty value, but then the key must read as one.
func isEntry(b []byte, isValue func([]byte) bool) bool {
	keys, values := 0, 0
	var key []byte
	ok := eachField(b, func(tag uint64, value []byte) bool {
		switch tag {
		case bytes1:
			keys++
			key = value
			return true
		case bytes2:
			values++
			return isValue(value)
		}
		return false
	})
	return ok && keys == 1 && (values == 1 || values == 0 && isReadable(key))
}

func isReadable(key []byte) bool {
	return utf8.Valid(key) && !bytes.ContainsFunc(key, unicode.IsControl)
}

// isEvent: double wall_time = 1 first, then int64 step = 2 and one of several
// messages up to field 10. The first event of a file, a string file_version = 3,
// is known without a time, too.
func isEvent(b []byte) bool {
	if len(b) == 0 || b[0] != fixed64at1 && !bytes.HasPrefix(b, eventVersion) {
		return false
	}
	first := true
	return eachField(b, func(tag uint64, _ []byte) bool {
		ok := tag == fixed64at1 && first || tag == varint2 || tag&7 == wireBytes && tag>>3 >= 3 && tag>>3 <= 10
		first = false
		return ok
	})
}

var eventVersion = []byte("\x1a\x0dbrain.Event:")

// Wire types of protocol buffers, and the tags that are looked for: a field's
// number and its wire type.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5

	varint1    = 1<<3 | wireVarint
	varint2    = 2<<3 | wireVarint
	fixed64at1 = 1<<3 | wireFixed64
	fixed32at1 = 1<<3 | wireFixed32
	bytes1     = 1<<3 | wireBytes
	bytes2     = 2<<3 | wireBytes
	bytes3     = 3<<3 | wireBytes
)

// eachField calls ok with the tag of each field of a message, and its value
// where that has a length. It reports whether all fields are whole and ok.
func eachField(b []byte, ok func(tag uint64, value []byte) bool) bool {
	for at := 0; at < len(b); {
		f, whole := fieldAt(b, at)
		if !whole {
			return false
		}
		var value []byte
		if f.tag&7 == wireBytes {
			value = b[f.from:f.to:f.to]
		}
		if !ok(f.tag, value) {
			return false
		}
		at = f.to
	}
	return true
}

// wireField is a field of a message: its tag, and where its content begins and
// it ends.
type wireField struct {
	tag      uint64
	from, to int
}

// fieldAt reads the field at a place of a message. It reports false when it is
// not whole, or of a wire type that protocol buffers no longer have.
func fieldAt(b []byte, at int) (f wireField, ok bool) {
	tag, n := binary.Uvarint(b[at:])
	if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return f, false
	}
	f.tag, f.from = tag, at+n
	left := len(b) - f.from
	switch tag & 7 {
	case wireVarint:
		_, n = binary.Uvarint(b[f.from:])
		if n <= 0 {
			return f, false
		}
	case wireFixed64:
		n = 8
	case wireFixed32:
		n = 4
	case wireBytes:
		length, skip := binary.Uvarint(b[f.from:])
		if skip <= 0 || length > uint64(left-skip) {
			return f, false
		}
		f.from += skip
		n, left = int(length), left-skip
	default:
		return f, false
	}
	f.to = f.from + n
	return f, n <= left
}
