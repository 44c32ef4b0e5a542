package features

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/wire"
	"github.com/tfrec/tfrec/tfrecord"
)

// quickValue is what quick found of one feature.
type quickValue struct {
	kind tfrecord.Kind
	n    int64
	only []byte // the value, of one of bytes
}

// Quick is add for a record that has, written in the plainest way, the features
// of the one before in the same order, as nearly all records have. It reports
// false, and has done nothing, of any other: those are for add.
func (s *Scan) Quick(record []byte) bool {
	entries, ok := whole(record, wire.Bytes1)
	if !ok || len(s.recent) == 0 {
		return false
	}
	s.found = s.found[:0]
	for _, f := range s.recent {
		entry, rest, ok := cutField(entries, wire.Bytes1)
		if !ok {
			return false
		}
		entries = rest
		key, value, ok := cutField(entry, wire.Bytes1)
		if !ok || string(key) != f.key {
			return false
		}
		feature, ok := whole(value, wire.Bytes2)
		if !ok || len(feature) == 0 {
			return false
		}
		list, ok := whole(feature, feature[0])
		if !ok {
			return false
		}
		v, ok := quickList(feature[0], list)
		if !ok {
			return false
		}
		s.found = append(s.found, v)
	}
	if len(entries) > 0 {
		return false
	}
	s.records++
	for i, f := range s.recent {
		f.note(s.found[i].kind, s.found[i].n, s.found[i].only)
	}
	return true
}

// Tags of a Feature's lists.
const (
	bytesList  = 1<<3 | 2
	floatList  = 2<<3 | 2
	int64List  = 3<<3 | 2
	plainBytes = 9 // of a varint that has no sign
)

// quickList looks at the values of a feature of the kind of that tag.
func quickList(tag byte, list []byte) (quickValue, bool) {
	values, ok := whole(list, wire.Bytes1)
	if !ok {
		return quickValue{}, false
	}
	switch tag {
	case bytesList:
		return quickValue{tfrecord.KindBytes, 1, values}, true
	case floatList:
		return quickValue{kind: tfrecord.KindFloat, n: int64(len(values) / 4)}, len(values) > 0 && len(values)%4 == 0
	case int64List:
		n, run := int64(0), 0
		for _, b := range values {
			if run++; run > plainBytes {
				return quickValue{}, false
			}
			if b < 0x80 {
				n, run = n+1, 0
			}
		}
		return quickValue{kind: tfrecord.KindInt64, n: n}, n > 0 && run == 0
	}
	return quickValue{}, false
}

// cutField cuts a field of a tag of one byte and of wire type 2 from the
// beginning of a message.
func cutField(p []byte, tag byte) (field, rest []byte, ok bool) {
	if len(p) < 2 || p[0] != tag {
		return nil, nil, false
	}
	n, size := uint64(p[1]), 1
	if n >= 0x80 {
		if n, size = binary.Uvarint(p[1:]); size <= 0 {
			return nil, nil, false
		}
	}
	if p = p[1+size:]; n > uint64(len(p)) {
		return nil, nil, false
	}
	return p[:n], p[n:], true
}

// whole returns the only field of a message.
func whole(p []byte, tag byte) ([]byte, bool) {
	field, rest, ok := cutField(p, tag)
	return field, ok && len(rest) == 0
}
