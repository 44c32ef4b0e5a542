package arrow

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/number"
)

// maxBatch bounds the bytes of a column in a batch, and maxElements the elements of its lists.
const (
	maxBatch    = math.MaxInt32
	maxElements = 1 << 28
)

var errTooLarge = errors.New("the values of a batch take more than 2 GiB: write smaller record batches")

// tooLarge is an integer above int64, by its index.
type tooLarge struct {
	index int
	value uint64
}

func (e *tooLarge) Error() string { return fmt.Sprintf("%d is above the largest int64", e.value) }

// appendValues appends values first up to end of an array. Nulls become arbitrary values.
func (l *leaf) appendValues(v *table.Values, a arrow.Array, first, end int) error {
	switch a := a.(type) {
	case *array.Null:
		switch v.Kind {
		case table.Int64:
			v.Ints = append(v.Ints, make([]int64, end-first)...)
		case table.Float:
			v.Floats = append(v.Floats, make([]float32, end-first)...)
		case table.Bytes:
			return appendBytes(v, first, end, func(int) []byte { return nil })
		}
	case array.ExtensionArray:
		return l.appendValues(v, a.Storage(), first, end)
	case *array.Dictionary:
		dictionary := a.Dictionary()
		for i := first; i < end; i++ {
			if a.IsNull(i) {
				if err := l.appendValues(v, nulls, 0, 1); err != nil {
					return err
				}
				continue
			}
			k := a.GetValueIndex(i)
			if k < 0 || k >= dictionary.Len() {
				return fmt.Errorf("index %d of a dictionary of %d values", k, dictionary.Len())
			}
			if err := l.appendValues(v, dictionary, k, k+1); err != nil {
				if e := (*tooLarge)(nil); errors.As(err, &e) {
					e.index = i
				}
				return err
			}
		}
	case *array.Boolean:
		for i := first; i < end; i++ {
			n := int64(0)
			if a.Value(i) {
				n = 1
			}
			appendInt(v, n)
		}
	case *array.Int8:
		appendInts(v, a.Values()[first:end])
	case *array.Int16:
		appendInts(v, a.Values()[first:end])
	case *array.Int32:
		appendInts(v, a.Values()[first:end])
	case *array.Int64:
		appendInts(v, a.Values()[first:end])
	case *array.Uint8:
		appendInts(v, a.Values()[first:end])
	case *array.Uint16:
		appendInts(v, a.Values()[first:end])
	case *array.Uint32:
		appendInts(v, a.Values()[first:end])
	case *array.Uint64:
		return appendUnsigned(v, a, first, end)
	case *array.Date32:
		appendInts(v, a.Values()[first:end])
	case *array.Date64:
		appendInts(v, a.Values()[first:end])
	case *array.Time32:
		appendInts(v, a.Values()[first:end])
	case *array.Time64:
		appendInts(v, a.Values()[first:end])
	case *array.Timestamp:
		appendInts(v, a.Values()[first:end])
	case *array.Duration:
		appendInts(v, a.Values()[first:end])
	case *array.Float16:
		for _, f := range a.Values()[first:end] {
			v.Floats = append(v.Floats, number.Half(f.Uint16()))
		}
	case *array.Float32:
		v.Floats = append(v.Floats, a.Values()[first:end]...)
	case *array.Float64:
		for _, f := range a.Values()[first:end] {
			v.AppendFloat64(f)
		}
	case *array.Decimal32:
		for _, d := range a.Values()[first:end] {
			l.appendDecimal(v, number.Small(int64(d), l.scale))
		}
	case *array.Decimal64:
		for _, d := range a.Values()[first:end] {
			l.appendDecimal(v, number.Small(int64(d), l.scale))
		}
	case *array.Decimal128:
		for _, d := range a.Values()[first:end] {
			l.appendDecimal(v, number.Decimal{Unscaled: d.BigInt(), Scale: l.scale})
		}
	case *array.Decimal256:
		for _, d := range a.Values()[first:end] {
			l.appendDecimal(v, number.Decimal{Unscaled: d.BigInt(), Scale: l.scale})
		}
	case *array.String:
		return appendBytes(v, first, end, a.Value)
	case *array.LargeString:
		return appendBytes(v, first, end, a.Value)
	case *array.StringView:
		return appendBytes(v, first, end, a.Value)
	case *array.Binary:
		return appendBytes(v, first, end, a.Value)
	case *array.LargeBinary:
		return appendBytes(v, first, end, a.Value)
	case *array.BinaryView:
		return appendBytes(v, first, end, a.Value)
	case *array.FixedSizeBinary:
		return appendBytes(v, first, end, a.Value)
	default:
		return fmt.Errorf("values of type %s", a.DataType())
	}
	return nil
}

// nulls represents a null in a dictionary.
var nulls = array.NewNull(1)

func appendInt(v *table.Values, n int64) {
	switch v.Kind {
	case table.Float:
		v.Floats = append(v.Floats, float32(n))
	case table.Bytes:
		v.Data = strconv.AppendInt(v.Data, n, 10)
		v.Ends = append(v.Ends, int32(len(v.Data)))
	default:
		v.Ints = append(v.Ints, n)
	}
}

func appendInts[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](v *table.Values, from []T) {
	for _, n := range from {
		appendInt(v, int64(n))
	}
}

func appendUnsigned(v *table.Values, a *array.Uint64, first, end int) error {
	for i, n := range a.Values()[first:end] {
		switch {
		case v.Kind == table.Float:
			v.Floats = append(v.Floats, float32(n))
			continue
		case v.Kind == table.Bytes:
			v.Data = strconv.AppendUint(v.Data, n, 10)
			v.Ends = append(v.Ends, int32(len(v.Data)))
			continue
		case n > math.MaxInt64 && a.IsValid(first+i):
			return &tooLarge{first + i, n}
		}
		v.Ints = append(v.Ints, int64(n))
	}
	return nil
}

func appendBytes[T string | []byte](v *table.Values, first, end int, value func(int) T) error {
	for i := first; i < end; i++ {
		b := value(i)
		if len(v.Data) > maxBatch-len(b) {
			return errTooLarge
		}
		v.Data = append(v.Data, b...)
		v.Ends = append(v.Ends, int32(len(v.Data)))
	}
	return nil
}

func (l *leaf) appendDecimal(v *table.Values, d number.Decimal) {
	if v.Kind == table.Bytes {
		v.Data = d.AppendText(v.Data)
		v.Ends = append(v.Ends, int32(len(v.Data)))
		return
	}
	v.AppendFloat64(d.Float64())
}
