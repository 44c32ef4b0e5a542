package convert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/tfrecord"
)

// rowEncoder encodes rows as Examples, directly in wire format: the bytes around a number are the
// same in every row, and are computed once. The result equals that of tfrecord.Builder, which is
// the reference in the tests. It is not safe for concurrent use.
type rowEncoder struct {
	o        *CSVOptions
	columns  *csvColumns
	missing  *csvscan.Missing
	header   []string
	features []featureEncoder
	tok      *csvscan.Tokenizer
	dialect  csvscan.Dialect // of tok
	body     []byte          // of the Example's Features
	values   []byte          // of a vector
	label    int32           // of the row; noLabel if it has none
}

// noLabel is the label of a record without one.
const noLabel = -1

// featureEncoder is the constant part of a feature on the wire. All of its messages are
// length-delimited fields:
//
//	Features.feature:  0a LEN  0a LEN key  12 LEN Feature
//	Feature:           0a LEN BytesList | 12 LEN FloatList | 1a LEN Int64List
//	lists:             0a LEN value, repeated for each bytes; numbers packed in one
type featureEncoder struct {
	*csvFeature
	key    []byte   // 0a LEN key 12
	prefix [][]byte // for a list of this many bytes of numbers, up to the first number
}

// Tags of the fields above, which are all of wire type 2.
const (
	tagFeature   = 0x0a // also of keys and of values
	tagBytesList = 0x0a
	tagFloatList = 0x12
	tagInt64List = 0x1a
	tagValue     = 0x12 // of a map entry: the Feature
)

// maxVarint is the maximum length of an int64 varint in bytes.
const maxVarint = 10

func newRowEncoder(s *csvSource) *rowEncoder {
	e := &rowEncoder{o: s.o, columns: s.columns, missing: s.tables.missing, header: s.tables.header()}
	e.makeFeatures()
	return e
}

// makeFeatures builds the constant parts of the features.
func (e *rowEncoder) makeFeatures() {
	e.features = make([]featureEncoder, len(e.columns.features))
	for i := range e.features {
		f := &e.features[i]
		f.csvFeature = &e.columns.features[i]
		f.key = binary.AppendUvarint([]byte{tagFeature}, uint64(len(f.Key)))
		f.key = append(append(f.key, f.Key...), tagValue)
		longest := maxVarint
		if f.Type == TypeFloat {
			longest = 4
		}
		if f.Type != TypeBytes && !f.Vector {
			for n := range longest + 1 {
				f.prefix = append(f.prefix, f.begin(nil, n))
			}
		}
	}
}

// begin appends everything in a numeric feature before its n bytes of values.
func (f *featureEncoder) begin(dst []byte, n int) []byte {
	list := tagLen(n) + n
	feature := tagLen(list) + list
	dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(f.key)+varintLen(feature)+feature))
	dst = binary.AppendUvarint(append(dst, f.key...), uint64(feature))
	tag := byte(tagInt64List)
	if f.Type == TypeFloat {
		tag = tagFloatList
	}
	dst = binary.AppendUvarint(append(dst, tag), uint64(list))
	return binary.AppendUvarint(append(dst, tagFeature), uint64(n))
}

// tagLen is the length of a tag followed by a length n.
func tagLen(n int) int { return 1 + varintLen(n) }

func varintLen(n int) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }

// appendBytes appends a feature of one or more bytes values, given as encoded fields of a
// BytesList.
func (f *featureEncoder) appendBytes(dst, values []byte) []byte {
	list := len(values)
	feature := tagLen(list) + list
	dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(f.key)+varintLen(feature)+feature))
	dst = binary.AppendUvarint(append(dst, f.key...), uint64(feature))
	dst = binary.AppendUvarint(append(dst, tagBytesList), uint64(list))
	return append(dst, values...)
}

// appendText appends a feature of one bytes value.
func (f *featureEncoder) appendText(dst, value []byte) []byte {
	list := tagLen(len(value)) + len(value)
	feature := tagLen(list) + list
	dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(f.key)+varintLen(feature)+feature))
	dst = binary.AppendUvarint(append(dst, f.key...), uint64(feature))
	dst = binary.AppendUvarint(append(dst, tagBytesList), uint64(list))
	dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(value)))
	return append(dst, value...)
}

// appendInt64 appends a feature of one integer.
func (f *featureEncoder) appendInt64(dst []byte, v int64) []byte {
	n := (bits.Len64(uint64(v)|1) + 6) / 7
	return binary.AppendUvarint(append(dst, f.prefix[n]...), uint64(v))
}

// appendFloat appends a feature of one float.
func (f *featureEncoder) appendFloat(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, f.prefix[4]...), math.Float32bits(float32(v)))
}

// row encodes the tokenizer's row into e.body. It returns why the row is bad, or "".
func (e *rowEncoder) row() (reason string) {
	if e.tok.Bad() {
		err := e.tok.Err()
		var located *csvscan.Error
		if errors.As(err, &located) {
			err = located.Err // the ledger has a field for the line
		}
		return err.Error()
	}
	body := e.body[:0]
	e.label = noLabel
	for i := range e.features {
		f := &e.features[i]
		if f.Vector {
			body, reason = e.vector(body, f)
		} else {
			body, reason = e.scalar(body, f)
		}
		if reason != "" {
			return reason
		}
	}
	e.body = body
	return ""
}

func (e *rowEncoder) scalar(body []byte, f *featureEncoder) ([]byte, string) {
	column := f.Columns[0]
	field := e.tok.Field(column)
	if e.missing.Is(field) {
		switch {
		case e.o.Missing == MissingDrop:
			return body, ""
		case e.o.Missing == MissingError:
			return body, e.isMissing(column)
		case f.Label:
			return f.appendInt64(body, noLabel), ""
		case f.Type == TypeBytes:
			return f.appendText(body, nil), ""
		case f.Type == TypeInt64:
			return f.appendInt64(body, 0), ""
		}
		return f.appendFloat(body, 0), ""
	}
	switch {
	case f.Label:
		id, ok := e.columns.ids[string(field)]
		if !ok {
			return body, fmt.Sprintf("column %q: %.40q is not in the vocabulary", e.header[column], field)
		}
		e.label = id
		return f.appendInt64(body, int64(id)), ""
	case f.Type == TypeFloat:
		if v, ok := csvscan.ParseFloat64(field); ok {
			return f.appendFloat(body, v), ""
		}
	case f.Type == TypeInt64:
		if v, ok := csvscan.ParseInt64(field); ok {
			return f.appendInt64(body, v), ""
		}
	default:
		return f.appendText(body, field), ""
	}
	return body, e.unparsable(column, f.Type, field)
}

func (e *rowEncoder) vector(body []byte, f *featureEncoder) ([]byte, string) {
	values := e.values[:0]
	for _, column := range f.Columns {
		field := e.tok.Field(column)
		missing := e.missing.Is(field)
		if missing && e.o.Missing == MissingDrop {
			return body, ""
		}
		if missing && e.o.Missing == MissingError {
			return body, e.isMissing(column)
		}
		switch f.Type {
		case TypeFloat:
			v, ok := 0.0, true
			if !missing {
				v, ok = csvscan.ParseFloat64(field)
			}
			if !ok {
				return body, e.unparsable(column, f.Type, field)
			}
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(float32(v)))
		case TypeInt64:
			v, ok := int64(0), true
			if !missing {
				v, ok = csvscan.ParseInt64(field)
			}
			if !ok {
				return body, e.unparsable(column, f.Type, field)
			}
			values = binary.AppendUvarint(values, uint64(v))
		default:
			if missing {
				field = nil
			}
			values = binary.AppendUvarint(append(values, tagFeature), uint64(len(field)))
			values = append(values, field...)
		}
	}
	e.values = values
	if f.Type == TypeBytes {
		return f.appendBytes(body, values), ""
	}
	return append(f.begin(body, len(values)), values...), ""
}

func (e *rowEncoder) isMissing(column int) string {
	return fmt.Sprintf("column %q: the value is missing", e.header[column])
}

func (e *rowEncoder) unparsable(column int, t ColumnType, field []byte) string {
	return fmt.Sprintf("column %q: %.40q is not of type %s", e.header[column], field, t)
}

// appendFrame appends the last encoded row as a framed record.
func (e *rowEncoder) appendFrame(dst []byte) []byte {
	dst, mark := tfrecord.BeginFrame(dst)
	dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(e.body)))
	dst = append(dst, e.body...)
	return tfrecord.EndFrame(dst, mark)
}

// bad returns a ledger entry for the tokenizer's row.
func (e *rowEncoder) bad(f *csvFile, reason string) setdir.BadSample {
	key := ""
	if e.columns.key >= 0 && !e.tok.Bad() {
		key = string(e.tok.Field(e.columns.key))
	}
	if key == "" {
		key = fmt.Sprintf("%s:%09d", f.name, e.tok.Line())
	}
	return setdir.BadSample{
		Key: jsontext.Readable(key), Source: jsontext.Readable(f.name), Line: e.tok.Line(), Stage: "parse", Reason: e.o.reword(reason),
	}
}
