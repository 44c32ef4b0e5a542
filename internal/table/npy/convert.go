package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/number"
)

// maxBatch bounds the bytes of a column in a batch.
const maxBatch = math.MaxInt32

// tooLarge is the index of an integer above int64.
type tooLarge struct {
	index int
	value uint64
}

func (e *tooLarge) Error() string { return fmt.Sprintf("%d is above the largest int64", e.value) }

// appendElements appends n elements to values of the same kind as the elements, or of kind Float
// for integers.
func (h *header) appendElements(v *table.Values, raw []byte, n int) error {
	var order binary.ByteOrder = binary.LittleEndian
	if h.big {
		order = binary.BigEndian
	}
	if h.size == 0 {
		for range n {
			v.Ends = append(v.Ends, int32(len(v.Data)))
		}
		return nil
	}
	switch h.code {
	case 'S', 'U':
		for ; len(raw) > 0; raw = raw[h.size:] {
			if err := h.appendText(v, raw[:h.size], order); err != nil {
				return err
			}
		}
		return nil
	case 'f':
		for ; len(raw) > 0; raw = raw[h.size:] {
			switch h.size {
			case 2:
				v.Floats = append(v.Floats, number.Half(order.Uint16(raw)))
			case 4:
				v.Floats = append(v.Floats, math.Float32frombits(order.Uint32(raw)))
			case 8:
				v.AppendFloat64(math.Float64frombits(order.Uint64(raw)))
			}
		}
		return nil
	}
	for i := 0; len(raw) > 0; i, raw = i+1, raw[h.size:] {
		n, err := h.integer(raw, order)
		if h.time && n == math.MinInt64 {
			v.Lost = append(v.Lost, table.Lost{Value: v.Len(), Reason: "NaT, not a time"})
		}
		switch {
		case v.Kind == table.Float && err != nil:
			v.Floats = append(v.Floats, float32(uint64(n)))
		case v.Kind == table.Float:
			v.Floats = append(v.Floats, float32(n))
		case err != nil:
			return &tooLarge{i, uint64(n)}
		default:
			v.Ints = append(v.Ints, n)
		}
	}
	return nil
}

var errUnsigned = errors.New("above int64")

// integer returns the first integer or boolean. It returns an error if the result has the bits of a
// larger unsigned integer.
func (h *header) integer(raw []byte, order binary.ByteOrder) (int64, error) {
	signed := h.code == 'i'
	switch h.size {
	case 1:
		if signed {
			return int64(int8(raw[0])), nil
		}
		if h.code == 'b' && raw[0] != 0 {
			return 1, nil
		}
		return int64(raw[0]), nil
	case 2:
		if u := order.Uint16(raw); !signed {
			return int64(u), nil
		} else {
			return int64(int16(u)), nil
		}
	case 4:
		if u := order.Uint32(raw); !signed {
			return int64(u), nil
		} else {
			return int64(int32(u)), nil
		}
	}
	n := int64(order.Uint64(raw))
	if !signed && n < 0 {
		return n, errUnsigned
	}
	return n, nil
}

// appendText appends a fixed string without the zeros at its end, which cannot be distinguished
// from padding in NumPy.
func (h *header) appendText(v *table.Values, raw []byte, order binary.ByteOrder) error {
	if len(v.Data) > maxBatch-len(raw) {
		return errors.New("the strings of a batch take more than 2 GiB")
	}
	if h.code == 'S' {
		for len(raw) > 0 && raw[len(raw)-1] == 0 {
			raw = raw[:len(raw)-1]
		}
		v.Data = append(v.Data, raw...)
	} else {
		for len(raw) > 0 && order.Uint32(raw[len(raw)-4:]) == 0 {
			raw = raw[:len(raw)-4]
		}
		for ; len(raw) > 0; raw = raw[4:] {
			c := order.Uint32(raw)
			if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
				return fmt.Errorf("%#x is not a character of Unicode", c)
			}
			v.Data = utf8.AppendRune(v.Data, rune(c))
		}
	}
	v.Ends = append(v.Ends, int32(len(v.Data)))
	return nil
}
