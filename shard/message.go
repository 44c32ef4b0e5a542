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
	return eachField(b, func(n int, value []byte) bool { return n == 1 && isFeatures(value) })
}

// isFeatures: map<string, Feature> feature = 1.
func isFeatures(b []byte) bool {
	return eachField(b, func(n int, value []byte) bool { return n == 1 && isEntry(value, isFeature) })
}

// isFeature: one of BytesList = 1, FloatList = 2, Int64List = 3.
func isFeature(b []byte) bool {
	return eachField(b, func(n int, list []byte) bool {
		switch n {
		case 1:
			return eachField(list, func(n int, value []byte) bool { return n == 1 && value != nil })
		case 2:
			return eachField(list, func(n int, value []byte) bool { return n == 1 && len(value)%4 == 0 })
		case 3:
			return eachField(list, func(n int, _ []byte) bool { return n == 1 })
		}
		return false
	})
}

// isSequenceExample: Features context = 1, FeatureLists feature_lists = 2.
func isSequenceExample(b []byte) bool {
	return eachField(b, func(n int, value []byte) bool {
		switch n {
		case 1:
			return isFeatures(value)
		case 2: // map<string, FeatureList> feature_list = 1
			return eachField(value, func(n int, entry []byte) bool { return n == 1 && isEntry(entry, isFeatureList) })
		}
		return false
	})
}

// isFeatureList: repeated Feature feature = 1.
func isFeatureList(b []byte) bool {
	return eachField(b, func(n int, value []byte) bool { return n == 1 && isFeature(value) })
}

// isListWithContext: repeated bytes examples = 1, bytes context = 2, each an
// Example.
func isListWithContext(b []byte) bool {
	return eachField(b, func(n int, value []byte) bool { return (n == 1 || n == 2) && isExample(value) })
}

// isEntry: string key = 1, and a value = 2. All writers of maps write the key;
// one may leave out an empty value, but then the key must read as one.
func isEntry(b []byte, isValue func([]byte) bool) bool {
	keys, values := 0, 0
	readable := true
	ok := eachField(b, func(n int, value []byte) bool {
		switch n {
		case 1:
			keys++
			readable = utf8.Valid(value) && !bytes.ContainsFunc(value, unicode.IsControl)
			return value != nil
		case 2:
			values++
			return value != nil && isValue(value)
		}
		return false
	})
	return ok && keys == 1 && (values == 1 || values == 0 && readable)
}

// isEvent: double wall_time = 1 first, then int64 step = 2 and one of several
// messages up to field 10. The first event of a file, a string file_version = 3,
// is known without a time, too.
func isEvent(b []byte) bool {
	if len(b) == 0 || b[0] != 1<<3|wireFixed64 && !bytes.HasPrefix(b, eventVersion) {
		return false
	}
	first := true
	return eachField(b, func(n int, value []byte) bool {
		ok := n == 1 && first || n >= 2 && n <= 10 && (n == 2) == (value == nil)
		first = false
		return ok
	})
}

var eventVersion = []byte("\x1a\x0dbrain.Event:")

// Wire types of protocol buffers.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// eachField calls ok with the number of each field of a message, and its value
// where that has a length or a fixed size; nil for a varint. It reports
// whether all fields are whole and ok.
func eachField(b []byte, ok func(number int, value []byte) bool) bool {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return false
		}
		b = b[n:]
		size := 0
		switch tag & 7 {
		case wireVarint:
			_, n := binary.Uvarint(b)
			if n <= 0 || !ok(int(tag>>3), nil) {
				return false
			}
			b = b[n:]
			continue
		case wireFixed64:
			size = 8
		case wireFixed32:
			size = 4
		case wireBytes:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return false
			}
			b, size = b[n:], int(length)
		default:
			return false
		}
		if size > len(b) || !ok(int(tag>>3), b[:size:size]) {
			return false
		}
		b = b[size:]
	}
	return true
}
