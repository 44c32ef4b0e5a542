// Package message tells which protocol buffer message a record holds: an Example, a
// SequenceExample, or another one that is stored in TFRecord files.
//
//	switch message.Of(record) {
//	case message.Example:
//		err = example.Parse(record)
//	case message.SequenceExample:
//		err = sequence.Parse(record)
//	}
//
// A [Tally] also counts the fields that the definitions of these messages do not have.
package message

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/wire"
)

// Type is the message type of a record, as far as its bytes show.
type Type string

// The message types distinguished by Of.
const (
	Example         Type = "tf.train.Example"
	SequenceExample Type = "tf.train.SequenceExample"
	WithContext     Type = "tensorflow.serving.ExampleListWithContext"
	Event           Type = "tensorflow.Event" // of TensorBoard
	Unknown         Type = ""
)

// Of returns the message type of a record. The wire format has no names and parsers skip unknown
// fields, so Of compares the record with the definitions: an Example or a SequenceExample may have
// unknown fields only if it also has a feature with a readable key and values; any other message
// must have exactly the fields that its writers write. An empty record is an Example without
// features.
func Of(record []byte) Type {
	kind, _ := examine(record)
	return kind
}

// examine returns the message type of a record, and what its definition does not have.
func examine(record []byte) (Type, oddities) {
	example := oddities{of: "Example"}
	isExample := example.example(record)
	if isExample && example.unknown == nil {
		return Example, example
	}
	sequence := oddities{of: "SequenceExample"}
	isSequence := sequence.sequenceExample(record)
	switch {
	case isSequence && sequence.unknown == nil:
		return SequenceExample, sequence
	case isListWithContext(record):
		return WithContext, oddities{}
	case isEvent(record):
		return Event, oddities{}
	case isSequence && sequence.typical && example.unknown[field{"Example", wire.Bytes2}]:
		return SequenceExample, sequence
	case isExample && example.typical:
		return Example, example
	}
	return Unknown, oddities{}
}

// oddities collects the parts of an Example or a SequenceExample that its definition does not have.
// Its methods report whether bytes may be the message of their name, apart from these parts.
type oddities struct {
	of       string         // the outermost message
	unknown  map[field]bool // nil if there are none
	typical  bool           // some feature has a readable key and values
	kindless bool           // some feature has no list
}

// field identifies an unknown field by the message that has it and by its tag, whose wire type
// tells an unknown field from a known number with another type.
type field struct {
	message string
	tag     uint64
}

// maxUnknown is the maximum number of distinct unknown fields to track.
const maxUnknown = 1000

// skip adds an unknown field. It returns true, as the message may still be the expected one.
func (o *oddities) skip(message string, tag uint64) bool {
	if o.unknown == nil {
		o.unknown = map[field]bool{}
	}
	if len(o.unknown) < maxUnknown {
		o.unknown[field{message, tag}] = true
	}
	return true
}

// example: Features features = 1.
func (o *oddities) example(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool {
		if tag == wire.Bytes1 {
			return o.features(value)
		}
		return o.skip(o.of, tag)
	})
}

// sequenceExample: Features context = 1, FeatureLists feature_lists = 2.
func (o *oddities) sequenceExample(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool {
		switch tag {
		case wire.Bytes1:
			return o.features(value)
		case wire.Bytes2:
			return o.featureLists(value)
		}
		return o.skip(o.of, tag)
	})
}

// features: map<string, Feature> feature = 1.
func (o *oddities) features(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool {
		if tag != wire.Bytes1 {
			return o.skip("Features", tag)
		}
		ok, lists := o.entry(value, "Features", o.feature)
		o.kindless = o.kindless || lists == 0
		return ok
	})
}

// featureLists: map<string, FeatureList> feature_list = 1.
func (o *oddities) featureLists(b []byte) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool {
		if tag != wire.Bytes1 {
			return o.skip("FeatureLists", tag)
		}
		ok, _ := o.entry(value, "FeatureLists", o.featureList)
		return ok
	})
}

// featureList: repeated Feature feature = 1. It adds the number of the features' lists to lists.
func (o *oddities) featureList(b []byte, lists *int) bool {
	return wire.Each(b, func(tag uint64, value []byte) bool {
		if tag != wire.Bytes1 {
			return o.skip("FeatureList", tag)
		}
		return o.feature(value, lists)
	})
}

// feature: one of BytesList = 1, FloatList = 2, Int64List = 3, each with its values in field 1,
// packed or not. It adds their number to lists.
func (o *oddities) feature(b []byte, lists *int) bool {
	return wire.Each(b, func(tag uint64, list []byte) bool {
		var name string
		switch tag {
		case wire.Bytes1:
			name = "BytesList"
		case wire.Bytes2:
			name = "FloatList"
		case wire.Bytes3:
			name = "Int64List"
		default:
			return o.skip("Feature", tag)
		}
		*lists++
		return wire.Each(list, func(at uint64, value []byte) bool {
			switch {
			case at == wire.Bytes1:
				return tag != wire.Bytes2 || len(value)%4 == 0
			case at == wire.Fixed32At1 && tag == wire.Bytes2, at == wire.Varint1 && tag == wire.Bytes3:
				return true
			}
			return o.skip(name, at)
		})
	})
}

// entry: string key = 1, and a value = 2. All writers of maps write the key. A value may be left
// out if it is empty, but then the key must be readable. Once the message is typical, other keys
// are not checked. isValue adds the number of the value's lists to its argument, and entry returns it.
func (o *oddities) entry(b []byte, of string, isValue func(value []byte, lists *int) bool) (ok bool, lists int) {
	keys, values := 0, 0
	var key []byte
	ok = wire.Each(b, func(tag uint64, value []byte) bool {
		switch tag {
		case wire.Bytes1:
			keys++
			key = value
			return true
		case wire.Bytes2:
			values++
			return isValue(value, &lists)
		}
		return o.skip(of+" entry", tag)
	})
	readable := (values == 0 || !o.typical) && isReadable(key)
	o.typical = o.typical || readable && lists > 0
	return ok && keys == 1 && (values == 1 || values == 0 && readable), lists
}

func isReadable(key []byte) bool {
	return utf8.Valid(key) && !bytes.ContainsFunc(key, unicode.IsControl)
}

// isListWithContext: repeated bytes examples = 1, bytes context = 2, each an
// Example.
func isListWithContext(b []byte) bool {
	var o oddities
	return wire.Each(b, func(tag uint64, value []byte) bool {
		return (tag == wire.Bytes1 || tag == wire.Bytes2) && o.example(value) && o.unknown == nil
	})
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
