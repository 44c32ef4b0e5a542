package write

import "encoding/binary"

// row is a record as it is sorted. Rows are compared by their bytes, so that they are in the order of
// split, place and key:
//
//	split  place          size of the key  key  frame
//	1 byte 8, big-endian  4, big-endian
type row struct {
	split byte
	place uint64 // hash of the key, or number of the record
	key   string // empty where the place is a number
	frame []byte
}

// keyAt is the position of the key.
const keyAt = 1 + 8 + 4

// append appends the row to dst in the form that spill.Sorter takes.
func (r *row) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(keyAt+len(r.key)+len(r.frame)))
	dst = append(dst, r.split)
	dst = binary.BigEndian.AppendUint64(dst, r.place)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(r.key)))
	dst = append(dst, r.key...)
	return append(dst, r.frame...)
}

// cutRow divides an encoded row into its sort key and its frame.
func cutRow(data []byte) (at, frame []byte) {
	end := keyAt + int(binary.BigEndian.Uint32(data[keyAt-4:]))
	return data[:end], data[end:]
}
