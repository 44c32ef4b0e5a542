package flows

import (
	"encoding"
	"encoding/binary"
	"reflect"
)

// marshaler is a type with a binary form of its own.
type marshaler interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// marshals reports whether values of a type are written as MarshalBinary does.
func marshals(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[marshaler]())
}

func marshaledCodec(t reflect.Type) valueCodec {
	const head = 8
	return valueCodec{
		name: t.String() + " marshaled", least: head,
		write: func(dst []byte, v reflect.Value) ([]byte, error) {
			data, err := v.Addr().Interface().(marshaler).MarshalBinary()
			dst = binary.LittleEndian.AppendUint64(dst, uint64(len(data)))
			return append(dst, data...), err
		},
		read: func(r *valueReader, v reflect.Value) {
			p := r.take(head)
			if p == nil {
				return
			}
			n := binary.LittleEndian.Uint64(p)
			if n > uint64(len(r.data)) {
				r.err = errValueShort
				return
			}
			if err := v.Addr().Interface().(marshaler).UnmarshalBinary(r.take(int(n))); r.err == nil {
				r.err = err
			}
		},
	}
}
