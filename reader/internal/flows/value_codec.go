package flows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// valueCodec converts the values of a type to bytes and back:
//
//	number         its bytes, in the order of the machine
//	bool           a byte, 0 or 1
//	string         its length as a uvarint, then its bytes
//	slice          its length + 1 as a uvarint, 0 for nil, then its elements
//	array, struct  its elements or fields, one after the other; a zero byte if there are none
//	pointer        a byte, 0 for nil, or 1 and then what it points to
//	other types    the length in 8 bytes, then what MarshalBinary returns
//
// Values read equal the values written, and nil stays distinct from empty.
type valueCodec struct {
	name  string // identifies the type and its form
	least int    // bytes that a value takes at least
	flat  bool   // the bytes are those in memory, and all are valid
	write func(dst []byte, v reflect.Value) ([]byte, error)
	// read sets v, whose memory it reuses.
	read func(r *valueReader, v reflect.Value)
}

// machineName is the name with the order of the bytes of numbers.
func (c *valueCodec) machineName() string { return fmt.Sprintf("%v, %s", binary.NativeEndian, c.name) }

// newValueCodec returns the codec of a type, which is part of the outer ones.
func newValueCodec(t reflect.Type, outer ...reflect.Type) (c valueCodec, err error) {
	if slices.Contains(outer, t) {
		return c, fmt.Errorf("%v is recursive", t)
	}
	outer = append(slices.Clip(outer), t)
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[place]():
		return placeCodec, nil
	case marshals(t):
		return marshaledCodec(t), nil
	case kind == reflect.Bool:
		return boolCodec, nil
	case kind >= reflect.Int && kind <= reflect.Complex128 && kind != reflect.Uintptr:
		return flatCodec(fmt.Sprintf("%v(%d)", kind, t.Size()), t), nil
	case kind == reflect.String:
		return stringCodec, nil
	case kind == reflect.Slice, kind == reflect.Array, kind == reflect.Pointer:
		elem, err := newValueCodec(t.Elem(), outer...)
		if err != nil {
			return c, err
		}
		switch kind {
		case reflect.Slice:
			return sliceCodec(t, elem), nil
		case reflect.Array:
			return arrayCodec(t, elem), nil
		}
		return pointerCodec(t, elem), nil
	case kind == reflect.Struct:
		return structCodec(t, outer)
	}
	return c, fmt.Errorf("%v is not a number, bool, string, slice, array, struct or pointer", t)
}

// bytesAt returns the n bytes of memory at p.
func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// flatCodec is for values without pointers and padding.
func flatCodec(name string, t reflect.Type) valueCodec {
	size := int(t.Size())
	return valueCodec{
		name: name, least: size, flat: true,
		write: func(dst []byte, v reflect.Value) ([]byte, error) {
			return append(dst, bytesAt(v.Addr().UnsafePointer(), size)...), nil
		},
		read: func(r *valueReader, v reflect.Value) { copy(bytesAt(v.Addr().UnsafePointer(), size), r.take(size)) },
	}
}

var boolCodec = valueCodec{
	name: "bool", least: 1,
	write: func(dst []byte, v reflect.Value) ([]byte, error) {
		if v.Bool() {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	},
	read: func(r *valueReader, v reflect.Value) { v.SetBool(r.flag()) },
}

var stringCodec = valueCodec{
	name: "string", least: 1,
	write: func(dst []byte, v reflect.Value) ([]byte, error) {
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		return append(dst, v.String()...), nil
	},
	read: func(r *valueReader, v reflect.Value) { v.SetString(string(r.take(r.count(1, 0)))) },
}

func sliceCodec(t reflect.Type, elem valueCodec) valueCodec {
	return valueCodec{
		name: "[]" + elem.name, least: 1,
		write: func(dst []byte, v reflect.Value) (_ []byte, err error) {
			if v.IsNil() {
				return append(dst, 0), nil
			}
			n := v.Len()
			dst = binary.AppendUvarint(dst, uint64(n)+1)
			if elem.flat {
				return append(dst, bytesAt(v.UnsafePointer(), n*elem.least)...), nil
			}
			for i := 0; i < n && err == nil; i++ {
				dst, err = elem.write(dst, v.Index(i))
			}
			return dst, err
		},
		read: func(r *valueReader, v reflect.Value) {
			n := r.count(elem.least, 1) - 1
			switch {
			case n < 0:
				v.SetZero()
				return
			case v.IsNil() || n > v.Cap():
				v.Set(reflect.MakeSlice(t, n, n))
			default:
				v.SetLen(n)
			}
			if elem.flat {
				copy(bytesAt(v.UnsafePointer(), n*elem.least), r.take(n*elem.least))
				return
			}
			for i := range n {
				elem.read(r, v.Index(i))
			}
		},
	}
}

func arrayCodec(t reflect.Type, elem valueCodec) valueCodec {
	n, name := t.Len(), fmt.Sprintf("[%d]%s", t.Len(), elem.name)
	switch {
	case n == 0:
		return emptyCodec(name)
	case elem.flat:
		return flatCodec(name, t)
	}
	return valueCodec{
		name: name, least: n * elem.least,
		write: func(dst []byte, v reflect.Value) (_ []byte, err error) {
			for i := 0; i < n && err == nil; i++ {
				dst, err = elem.write(dst, v.Index(i))
			}
			return dst, err
		},
		read: func(r *valueReader, v reflect.Value) {
			for i := range n {
				elem.read(r, v.Index(i))
			}
		},
	}
}

// emptyCodec is for types without content: each value takes a byte, which bounds the length of a
// slice of them.
func emptyCodec(name string) valueCodec {
	return valueCodec{
		name: name, least: 1,
		write: func(dst []byte, v reflect.Value) ([]byte, error) { return append(dst, 0), nil },
		read:  func(r *valueReader, v reflect.Value) { r.take(1) },
	}
}

func pointerCodec(t reflect.Type, elem valueCodec) valueCodec {
	return valueCodec{
		name: "*" + elem.name, least: 1,
		write: func(dst []byte, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return append(dst, 0), nil
			}
			return elem.write(append(dst, 1), v.Elem())
		},
		read: func(r *valueReader, v reflect.Value) {
			if !r.flag() {
				v.SetZero()
				return
			}
			if v.IsNil() {
				v.Set(reflect.New(t.Elem()))
			}
			elem.read(r, v.Elem())
		},
	}
}

// isBatch reports whether a type is a batch or a record: with an Epoch of its own.
func isBatch(t reflect.Type) bool {
	f, embeds := t.FieldByName(reflect.TypeFor[place]().Name())
	return t == reflect.TypeFor[pipeline.Record]() || embeds && len(f.Index) == 1 && f.Type == reflect.TypeFor[place]()
}

// structCodec returns an error for fields that are not exported, whose values it could not restore,
// except in types of package columns. It skips places, which are made again, and fields with the
// tag `cache:"-"`.
func structCodec(t reflect.Type, outer []reflect.Type) (c valueCodec, err error) {
	if t.NumField() == 0 {
		return emptyCodec(t.String()), nil
	}
	fields := make([]valueCodec, t.NumField())
	names := make([]string, len(fields))
	for i := range fields {
		f := t.Field(i)
		scratch := f.Tag.Get("cache") == "-"
		if scratch {
			fields[i] = emptyCodec("scratch")
		} else if fields[i], err = newValueCodec(f.Type, outer...); err != nil {
			return c, fmt.Errorf("field %s of %v: %w", f.Name, t, err)
		}
		if !f.IsExported() && !scratch && f.Type != reflect.TypeFor[place]() && t != reflect.TypeFor[columns.Column]() {
			return c, fmt.Errorf("field %s of %v is not exported", f.Name, t)
		}
		if f.Name == "Epoch" && isBatch(t) {
			fields[i].read = readEpoch
		}
		c.least += fields[i].least
		names[i] = f.Name + " " + fields[i].name
	}
	c.name = fmt.Sprintf("%v{%s}", t, strings.Join(names, "; "))
	c.write = func(dst []byte, v reflect.Value) (_ []byte, err error) {
		for i := 0; i < len(fields) && err == nil; i++ {
			dst, err = fields[i].write(dst, field(v, i))
		}
		return dst, err
	}
	c.read = func(r *valueReader, v reflect.Value) {
		for i := range fields {
			fields[i].read(r, field(v, i))
		}
	}
	return c, nil
}

// field returns field i of an addressable struct, which may be set if it is not exported, too.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	if !f.CanSet() {
		f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	return f
}

// readEpoch reads the Epoch of a record or batch.
func readEpoch(r *valueReader, v reflect.Value) {
	if p := r.take(4); p != nil {
		v.SetInt(int64(int32(binary.NativeEndian.Uint32(p)) + r.epochs))
	}
}

// placeCodec writes nothing: each time it is read, a batch has another position.
var placeCodec = valueCodec{
	name:  "place",
	write: func(dst []byte, v reflect.Value) ([]byte, error) { return dst, nil },
	read:  func(r *valueReader, v reflect.Value) { *v.Addr().Interface().(*place) = place{r.at} },
}

// valueReader reads values. After an error they are undefined.
type valueReader struct {
	data   []byte
	err    error
	epochs int32 // to add to each Epoch
	at     Mark  // of batches
}

var errValueShort = errors.New("it is shorter than a value of its type")

// take returns the next n bytes; nil if there are fewer.
func (r *valueReader) take(n int) []byte {
	if r.err == nil && n > len(r.data) {
		r.err = errValueShort
	}
	if r.err != nil {
		return nil
	}
	p := r.data[:n:n]
	r.data = r.data[n:]
	return p
}

// flag reads a byte that is 0 or 1.
func (r *valueReader) flag() bool {
	p := r.take(1)
	if p != nil && p[0] > 1 {
		r.err = errValueShort
	}
	return p != nil && p[0] == 1
}

// count reads the number of the elements that follow, each of least bytes at least, plus more.
func (r *valueReader) count(least, more int) int {
	n, size := binary.Uvarint(r.data)
	if size <= 0 || n > uint64((len(r.data)-size)/least+more) {
		r.err = errors.Join(r.err, errValueShort)
		return 0
	}
	r.take(size)
	return int(n)
}
