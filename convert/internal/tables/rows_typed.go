package tables

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/table"
)

// typedRows are the rows of chunks of typed columns.
type typedRows struct {
	header  []string
	text    table.Batch // of a chunk of text
	batch   *table.Batch
	row     int
	bad     int // index into batch.Bad of the next bad row
	scratch []byte
}

func (r *typedRows) begin(c *tablefile.Chunk) (err error) {
	r.row, r.bad = -1, 0
	r.batch, err = c.Batch(&r.text)
	return err
}

func (r *typedRows) next() bool {
	r.row++
	for r.bad < len(r.batch.Bad) && r.batch.Bad[r.bad].Row < r.row {
		r.bad++
	}
	return r.row < r.batch.Rows
}

func (r *typedRows) line() int64 {
	if len(r.batch.Lines) == 0 {
		return 0
	}
	return r.batch.Lines[r.row]
}

func (r *typedRows) key(column int) string {
	v := &r.batch.Columns[column]
	if v.Kind == table.Unknown || !v.Has(r.row) {
		return ""
	}
	if first, end := v.Span(r.row); end-first == 1 {
		return string(r.appendText(nil, v, first))
	}
	return ""
}

// appendText appends a value as text.
func (r *typedRows) appendText(dst []byte, v *table.Values, i int) []byte {
	switch v.Kind {
	case table.Int64:
		return strconv.AppendInt(dst, v.Ints[i], 10)
	case table.Float:
		return strconv.AppendFloat(dst, float64(v.Floats[i]), 'g', -1, 32)
	}
	return append(dst, v.Byte(i)...)
}

func (r *typedRows) encode(e *rowEncoder) (reason string) {
	if r.bad < len(r.batch.Bad) && r.batch.Bad[r.bad].Row == r.row {
		return r.batch.Bad[r.bad].Reason
	}
	body := e.body
	for i := range e.features {
		f := &e.features[i]
		switch {
		case f.Vector:
			body, reason = r.vector(e, body, f)
		case f.List:
			body, reason = r.list(e, body, f)
		default:
			body, reason = r.scalar(e, body, f)
		}
		if reason != "" {
			return reason
		}
	}
	e.body = body
	return ""
}

// numbers appends the numbers that the texts from first up to end are, of the feature's column number k.
func (r *typedRows) numbers(values []byte, f *featureEncoder, k int, v *table.Values, first, end int) (_ []byte, reason string) {
	for i := first; i < end; i++ {
		var ok bool
		if values, ok = f.appendNumber(values, k, v.Byte(i)); !ok {
			return values, fmt.Sprintf("column %q: %.40q is not of type %s", r.header[f.Columns[k]], v.Byte(i), f.Texts[k])
		}
	}
	return values, ""
}

func (r *typedRows) scalar(e *rowEncoder, body []byte, f *featureEncoder) (_ []byte, reason string) {
	column := f.Columns[0]
	v := &r.batch.Columns[column]
	if v.Kind == table.Unknown || !v.Has(r.row) {
		return e.appendMissing(body, f, r.header[column])
	}
	i, _ := v.Span(r.row)
	switch {
	case f.Label:
		text, missing, reason := appendLabelText(r.scratch[:0], v, i)
		if r.scratch = text; reason != "" {
			return body, fmt.Sprintf("column %q: %s", r.header[column], reason)
		}
		return e.appendLabel(body, f, r.header[column], text, missing)
	case e.isLabel(f) && v.Kind == table.Bytes && len(v.Byte(i)) == 0:
		return e.appendMissing(body, f, r.header[column])
	case f.isRead(0):
		if e.values, reason = r.numbers(e.values[:0], f, 0, v, i, i+1); reason != "" {
			return body, reason
		}
		return f.appendList(body, e.values), ""
	case f.Type == TypeInt64:
		return f.appendInt64(body, v.Ints[i]), ""
	case f.Type == TypeFloat && v.Kind == table.Int64:
		return f.appendFloat(body, float64(v.Ints[i])), ""
	case e.isLabel(f) && v.Kind == table.Float && v.Floats[i] != v.Floats[i]: // NaN
		return e.appendMissing(body, f, r.header[column])
	case f.Type == TypeFloat:
		return f.appendFloat(body, float64(v.Floats[i])), ""
	}
	return f.appendText(body, v.Byte(i)), ""
}

func (r *typedRows) list(e *rowEncoder, body []byte, f *featureEncoder) ([]byte, string) {
	column := f.Columns[0]
	v := &r.batch.Columns[column]
	if v.Kind == table.Unknown || !v.Has(r.row) {
		return e.appendMissing(body, f, r.header[column])
	}
	first, end := v.Span(r.row)
	if f.isRead(0) {
		var reason string
		if e.values, reason = r.numbers(e.values[:0], f, 0, v, first, end); reason != "" {
			return body, reason
		}
		return f.appendList(body, e.values), ""
	}
	e.values = appendValues(e.values[:0], f.Type, v, first, end)
	return f.appendList(body, e.values), ""
}

func (r *typedRows) vector(e *rowEncoder, body []byte, f *featureEncoder) ([]byte, string) {
	values := e.values[:0]
	for k, column := range f.Columns {
		v := &r.batch.Columns[column]
		missing := v.Kind == table.Unknown || !v.Has(r.row)
		switch {
		case missing && e.o.Missing == MissingDrop:
			return body, ""
		case missing && e.o.Missing == MissingError:
			return body, isMissing(r.header[column])
		case missing:
			values = appendZeros(values, f.Type, 1)
		case f.isRead(k):
			var reason string
			i, _ := v.Span(r.row)
			if values, reason = r.numbers(values, f, k, v, i, i+1); reason != "" {
				return body, reason
			}
		default:
			i, _ := v.Span(r.row)
			values = appendValues(values, f.Type, v, i, i+1)
		}
	}
	e.values = values
	return f.appendList(body, values), ""
}

// appendValues appends the values from first up to end as they are in a list of the given type on
// the wire.
func appendValues(dst []byte, t ColumnType, v *table.Values, first, end int) []byte {
	switch {
	case t == TypeInt64:
		for _, x := range v.Ints[first:end] {
			dst = binary.AppendUvarint(dst, uint64(x))
		}
	case t == TypeFloat && v.Kind == table.Int64:
		for _, x := range v.Ints[first:end] {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(float64(x))))
		}
	case t == TypeFloat:
		for _, x := range v.Floats[first:end] {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	default:
		for i := first; i < end; i++ {
			text := v.Byte(i)
			dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(text)))
			dst = append(dst, text...)
		}
	}
	return dst
}

// appendLabelText appends a label of a typed table as text. Missing is set for a missing
// value; reason is why the value is not a label.
func appendLabelText(dst []byte, v *table.Values, i int) (text []byte, missing bool, reason string) {
	switch v.Kind {
	case table.Int64:
		return strconv.AppendInt(dst, v.Ints[i], 10), false, ""
	case table.Float:
		text, err := floatText(v.Floats[i])
		if err != nil {
			return dst, false, err.Error()
		}
		return append(dst, text...), text == "", ""
	}
	return append(dst, v.Byte(i)...), len(v.Byte(i)) == 0, ""
}
