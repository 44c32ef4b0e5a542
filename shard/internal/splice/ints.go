package splice

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/wire"
)

// AppendInts appends the record to dst with the values of some features, all of them Int64Lists,
// replaced; all other bytes stay the same. It is an error if the record is not an Example.
func AppendInts(dst, record []byte, values map[string][]int64) ([]byte, error) {
	for at := 0; at < len(record); {
		f, ok := wire.At(record, at)
		if !ok {
			return dst, notExample(at)
		}
		if f.Tag != wire.Bytes1 {
			dst = append(dst, record[at:f.To]...)
		} else {
			body, err := intFeatures(nil, record[:f.To], f.From, values)
			if err != nil {
				return dst, err
			}
			dst = append(binary.AppendUvarint(append(dst, wire.Bytes1), uint64(len(body))), body...)
		}
		at = f.To
	}
	return dst, nil
}

// intFeatures appends the Features message data[at:] to dst, with the values of some features, all
// of them Int64Lists, replaced.
func intFeatures(dst, data []byte, at int, values map[string][]int64) ([]byte, error) {
	for at < len(data) {
		f, ok := wire.At(data, at)
		if !ok {
			return dst, notExample(at)
		}
		var ids []int64
		changed := false
		if f.Tag == wire.Bytes1 {
			key, err := entryKey(data[:f.To], f.From)
			if err != nil {
				return dst, err
			}
			if ids, changed = values[string(key)]; changed {
				dst = appendIntEntry(dst, string(key), ids)
			}
		}
		if !changed {
			dst = append(dst, data[at:f.To]...)
		}
		at = f.To
	}
	return dst, nil
}

// appendIntEntry appends the map entry of a feature with a packed Int64List.
func appendIntEntry(dst []byte, key string, ids []int64) []byte {
	var packed []byte
	for _, id := range ids {
		packed = binary.AppendUvarint(packed, uint64(id))
	}
	message := func(tag byte, body []byte) []byte {
		return append(binary.AppendUvarint([]byte{tag}, uint64(len(body))), body...)
	}
	feature := message(wire.Bytes3, message(wire.Bytes1, packed))
	entry := append(message(wire.Bytes1, []byte(key)), message(wire.Bytes2, feature)...)
	return append(dst, message(wire.Bytes1, entry)...)
}
