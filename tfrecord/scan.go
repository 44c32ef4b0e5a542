package tfrecord

import (
	"encoding/binary"
	"math"
)

// ScannedEntry is the position of a feature in an Example: its key is data[KeyFrom:KeyTo] and its
// Feature message, for [ScanFeature], data[From:To]. The next feature begins at To.
type ScannedEntry struct{ KeyFrom, KeyTo, From, To int }

// ScanExample begins to scan an Example in the usual form, the one that all writers produce: one
// Features message, entries with key before value, one list per value, packed numbers. Scanning
// finds features without copying them, and neither validates nor counts values. It returns where
// the first feature begins, for [ScanEntry]; the rest of data is all features.
//
//	pos, ok := ScanExample(data)
//	for ok && pos < len(data) {
//		var e ScannedEntry
//		if e, ok = ScanEntry(data, pos); ok {
//			use(data[e.KeyFrom:e.KeyTo], data[e.From:e.To])
//			pos = e.To
//		}
//	}
//
// If this or another scan function returns false, the Example has another form or is malformed: use
// [Example.Parse]. Duplicate keys, of which the last one wins, are not detected.
func ScanExample(data []byte) (pos int, ok bool) {
	if len(data) < 2 || data[0] != tagExampleFeatures {
		return 0, len(data) == 0
	}
	n, pos := int(data[1]), 2
	if n >= 0x80 {
		n, pos = longLength(data, 1)
	}
	return pos, n == len(data)-pos
}

// ScanEntry finds the feature that begins at data[pos].
func ScanEntry(data []byte, pos int) (e ScannedEntry, ok bool) {
	const least = 4 // minimum size of an entry: two tags with lengths
	if len(data)-pos < 2+least || data[pos] != tagEntry {
		return e, false
	}
	n, at := int(data[pos+1]), pos+2
	if n >= 0x80 {
		n, at = longLength(data, pos+1)
	}
	if n < least || n > len(data)-at || data[at] != tagKey {
		return e, false
	}
	end := at + n
	n, key := int(data[at+1]), at+2
	if n >= 0x80 {
		n, key = longLength(data, at+1)
	}
	if n > end-key-2 || data[key+n] != tagValue {
		return e, false
	}
	value := key + n
	n, from := int(data[value+1]), value+2
	if n >= 0x80 {
		n, from = longLength(data, value+1)
	}
	return ScannedEntry{key, value, from, end}, n == end-from
}

// ScanFeature finds the values of a Feature message: the packed numbers, or the content of a
// BytesList, for [ScanBytes]. It also returns false if no list is set.
func ScanFeature(feature []byte) (kind Kind, values []byte, ok bool) {
	if len(feature) < 2 {
		return KindNone, nil, false
	}
	switch feature[0] {
	case tagBytesList:
		kind = KindBytes
	case tagFloatList:
		kind = KindFloat
	case tagInt64List:
		kind = KindInt64
	default:
		return KindNone, nil, false
	}
	n, from := int(feature[1]), 2
	if n >= 0x80 {
		n, from = longLength(feature, 1)
	}
	values = feature[from:]
	switch {
	case n != len(values):
		return KindNone, nil, false
	case kind == KindBytes || n == 0:
		return kind, values, true
	case n < 2 || values[0] != tagPacked:
		return KindNone, nil, false
	}
	if n, from = int(values[1]), 2; n >= 0x80 {
		n, from = longLength(values, 1)
	}
	values = values[from:]
	return kind, values, n == len(values)
}

// ScanBytes returns the first value of the content of a BytesList, which must not be empty, and the
// remaining content.
func ScanBytes(values []byte) (first, rest []byte, ok bool) {
	if len(values) < 2 || values[0] != tagBytes {
		return nil, nil, false
	}
	n, from := int(values[1]), 2
	if n >= 0x80 {
		n, from = longLength(values, 1)
	}
	if n > len(values)-from {
		return nil, nil, false
	}
	return values[from : from+n], values[from+n:], true
}

// longLength reads a length of more than one byte at data[pos], and returns the position after it.
// A malformed one is returned as larger than any data.
func longLength(data []byte, pos int) (n, next int) {
	v, k := binary.Uvarint(data[pos:])
	if k <= 0 || v > math.MaxInt {
		return math.MaxInt, pos
	}
	return int(v), pos + k
}
