package write

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/annotation/labels"
)

// row is a record as it is sorted. Rows are compared by their bytes, so that they are in the order of
// split, place and key:
//
//	split  place          size of the key  key  label + 2  frame
//	1 byte 8, big-endian  4, big-endian         varint
type row struct {
	split byte
	place uint64 // hash of the key, or number of the record
	key   string // empty where the place is a number
	label int64  // noLabel without one
	frame []byte
}

// noLabel is the label of a record that does not have one value of the label feature. A value of
// labels.Unlabelled is counted as manifests count it.
const noLabel = labels.Unlabelled - 1

// keyAt is the position of the key.
const keyAt = 1 + 8 + 4

// append appends the row to dst in the form that spill.Sorter takes.
func (r *row) append(dst []byte) []byte {
	var label [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(label[:], uint64(r.label-noLabel))
	dst = binary.AppendUvarint(dst, uint64(keyAt+len(r.key)+n+len(r.frame)))
	dst = append(dst, r.split)
	dst = binary.BigEndian.AppendUint64(dst, r.place)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(r.key)))
	dst = append(dst, r.key...)
	dst = append(dst, label[:n]...)
	return append(dst, r.frame...)
}

// parseRow parses a row that append made. The frame aliases data; the key does not.
func parseRow(data []byte) (r row) {
	r.split = data[0]
	r.place = binary.BigEndian.Uint64(data[1:])
	end := keyAt + int(binary.BigEndian.Uint32(data[9:]))
	label, n := binary.Uvarint(data[end:])
	r.label = int64(label) + noLabel
	r.frame = data[end+n:]
	return r
}

// sortKey returns the part of an encoded row that decides its place in the set.
func sortKey(data []byte) []byte {
	return data[:keyAt+int(binary.BigEndian.Uint32(data[9:]))]
}
