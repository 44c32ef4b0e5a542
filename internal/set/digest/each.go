package digest

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/tfrecord"
)

// AppendEach appends the hash of each of a feature's values: what OfValue returns for a feature
// with that value alone.
func AppendEach(dst []Hash, f tfrecord.Feature) []Hash {
	var form []byte
	for v := range f.BytesList() {
		form = append(binary.AppendUvarint(append(form[:0], 'b'), uint64(len(v))), v...)
		dst = append(dst, Of(form))
	}
	for v := range f.Int64List() {
		form = binary.LittleEndian.AppendUint64(append(form[:0], 'i'), uint64(v))
		dst = append(dst, Of(form))
	}
	for v := range f.FloatList() {
		form = binary.LittleEndian.AppendUint32(append(form[:0], 'f'), math.Float32bits(v))
		dst = append(dst, Of(form))
	}
	return dst
}
