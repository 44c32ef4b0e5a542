// Package message tells which protocol buffer message a record holds: an Example, a
// SequenceExample, or another one that is stored in TFRecord files.
//
//	switch message.Of(record) {
//	case message.Example:
//		err = example.Parse(record)
//	case message.SequenceExample:
//		err = sequence.Parse(record)
//	}
package message

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/wire"
)

// Type is the message type of a record, as far as its bytes show.
type Type string

// The message types that Of distinguishes.
const (
	Example         Type = "tf.train.Example"
	SequenceExample Type = "tf.train.SequenceExample"
	WithContext     Type = "tensorflow.serving.ExampleListWithContext"
	Event           Type = "tensorflow.Event" // of TensorBoard
	Unknown         Type = ""
)

// Of returns the message type of a record. The wire format has no names and parsers skip unknown
// fields, so Of is strict: a message must have exactly the fields that its writers write. An empty
// record is an Example without features.
func Of(record []byte) Type {
	switch {
	case isExample(record):
		return Example
	case isSequenceExample(record):
		return SequenceExample
	case isListWithContext(record):
		return WithContext
	case isEvent(record):
		return Event
	}
	return Unknown
}

// isExample: Features features = 1.
func isExample(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool { return tag == wire.Bytes1 && isFeatures(value) })
}

// isFeatures: map<string, Feature> feature = 1.
func isFeatures(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool { return tag == wire.Bytes1 && isEntry(value, isFeature) })
}

// isFeature: one of BytesList = 1, FloatList = 2, Int64List = 3, each with its
// values in field 1, packed or not.
func isFeature(b []byte) bool {
	return wire.Each(b, func(tag uint64, list []byte) bool {
		switch tag {
		case wire.Bytes1:
			return wire.Each(list, func(tag uint64, _ []byte) bool { return tag == wire.Bytes1 })
		case wire.Bytes2:
			return wire.Each(list, func(tag uint64, value []byte) bool {
				return tag == wire.Fixed32At1 || tag == wire.Bytes1 && len(value)%4 == 0
			})
		case wire.Bytes3:
			return wire.Each(list, func(tag uint64, _ []byte) bool { return tag == wire.Varint1 || tag == wire.Bytes1 })
		}
		return false
	})
}

// isSequenceExample: Features context = 1, FeatureLists feature_lists = 2.
func isSequenceExample(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool {
		return tag == wire.Bytes1 && isFeatures(value) || tag == wire.Bytes2 && isFeatureLists(value)
	})
}

// isFeatureLists: map<string, FeatureList> feature_list = 1.
func isFeatureLists(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool { return tag == wire.Bytes1 && isEntry(value, isFeatureList) })
}

// isFeatureList: repeated Feature feature = 1.
func isFeatureList(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool { return tag == wire.Bytes1 && isFeature(value) })
}

// isListWithContext: repeated bytes examples = 1, bytes context = 2, each an
// Example.
func isListWithContext(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool {
		return (tag == wire.Bytes1 || tag == wire.Bytes2) && isExample(value)
	})
}

// isEntry: string key = 1, and a value = 2. All writers of maps write the key. A value may be left
// out if it is empty, but then the key must be readable.
func isEntry(b []byte, isValue func([]byte) bool) bool {
	keys, values := 0, 0
	var key []byte
	ok := wire.Each(b, func(tag uint64, value []byte) bool {
		switch tag {
		case wire.Bytes1:
			keys++
			key = value
			return true
		case wire.Bytes2:
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

// isEvent: double wall_time = 1 first, then int64 step = 2 and one of several messages up to field
// 10. The first event of a file, a string file_version = 3, is also recognized without a time.
func isEvent(b []byte) bool {
	if len(b) == 0 || b[0] != wire.Fixed64At1 && !bytes.HasPrefix(b, eventVersion) {
		return false
	}
	first := true
	return wire.Each(b, func(tag uint64, _ []byte) bool {
		ok := tag == wire.Fixed64At1 && first || tag == wire.Varint2 || tag&7 == wire.Bytes && tag>>3 >= 3 && tag>>3 <= 10
		first = false
		return ok
	})
}

var eventVersion = []byte("\x1a\x0dbrain.Event:")
