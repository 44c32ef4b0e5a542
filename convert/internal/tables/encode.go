package tables

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/tfrecord"
)

// rowEncoder encodes rows as Examples, directly in wire format: the bytes around a number are the
// same in every row, and are computed once. Tests compare the result with tfrecord.Builder. It is
// not safe for concurrent use.
type rowEncoder struct {
	o        *TableOptions
	columns  *tableColumns
	features []featureEncoder
	rows     tableRows
	body     []byte // of the Example's Features
	values   []byte // of a vector or list
	label    int32  // of the row, if there is a vocabulary; labels.Unlabelled without a label
}

// featureEncoder is the constant part of a feature on the wire. All of its messages are
// length-delimited fields:
//
//	Features.feature:  0a LEN  0a LEN key  12 LEN Feature
//	Feature:           0a LEN BytesList | 12 LEN FloatList | 1a LEN Int64List
//	lists:             0a LEN value, repeated for each bytes; numbers packed in one
type featureEncoder struct {
	*tableFeature
	key    []byte     // 0a LEN key 12
	prefix [][]byte   // for a list of this many bytes of numbers, up to the first number
	rules  []textRule // of the columns; nil if none of them has one
}

// appendNumber appends the number that a text of the feature's column number k is to the values of a list
// on the wire. It reports false if the text is none.
func (f *featureEncoder) appendNumber(values []byte, k int, text []byte) ([]byte, bool) {
	integer, float, ok := f.rules[k](text)
	switch {
	case !ok:
		return values, false
	case f.Type == TypeInt64:
		return binary.AppendUvarint(values, uint64(integer)), true
	case f.Texts[k].Stored() == TypeInt64: // in a vector of floats
		float = float64(integer)
	}
	return binary.LittleEndian.AppendUint32(values, math.Float32bits(float32(float))), true
}

// isRead reports whether the texts of the feature's column number k become numbers.
func (f *featureEncoder) isRead(k int) bool { return f.rules != nil && f.rules[k] != nil }

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

// tableRows are the rows of a chunk, from the first to the last. It is not safe for concurrent use.
type tableRows interface {
	// begin moves before the first row of a chunk that was read.
	begin(c *tablefile.Chunk) error
	// next moves to the next row, and reports whether there is one.
	next() bool
	// encode appends the features of the row to the body of e. It returns why the row is bad, or "".
	encode(e *rowEncoder) (reason string)
	// line returns the line of the row; 0 in formats without lines.
	line() int64
	// key returns the value of a column as text; "" if it has none.
	key(column int) string
}

func newRowEncoder(o *TableOptions, columns *tableColumns, rows tableRows) *rowEncoder {
	e := &rowEncoder{o: o, columns: columns, rows: rows}
	e.makeFeatures()
	return e
}

// makeFeatures builds the constant parts of the features.
func (e *rowEncoder) makeFeatures() {
	e.features = make([]featureEncoder, len(e.columns.features))
	for i := range e.features {
		f := &e.features[i]
		f.tableFeature = &e.columns.features[i]
		f.key = binary.AppendUvarint([]byte{tagFeature}, uint64(len(f.Key)))
		f.key = append(append(f.key, f.Key...), tagValue)
		for _, t := range f.Texts {
			rule, _ := t.rule() // which was checked
			f.rules = append(f.rules, rule)
		}
		longest := maxVarint
		if f.Type == TypeFloat {
			longest = 4
		}
		if f.Type != TypeBytes && !f.Vector && !f.List {
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

// appendBytes appends a feature of bytes values, given as encoded fields of a
// BytesList.
func (f *featureEncoder) appendBytes(dst, values []byte) []byte {
	list := len(values)
	feature := tagLen(list) + list
	dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(f.key)+varintLen(feature)+feature))
	dst = binary.AppendUvarint(append(dst, f.key...), uint64(feature))
	dst = binary.AppendUvarint(append(dst, tagBytesList), uint64(list))
	return append(dst, values...)
}

// appendList appends a feature of any number of values, given as they are in its list on the wire.
func (f *featureEncoder) appendList(dst, values []byte) []byte {
	switch {
	case f.Type == TypeBytes:
		return f.appendBytes(dst, values)
	case len(values) > 0:
		return append(f.begin(dst, len(values)), values...)
	}
	tag := byte(tagInt64List)
	if f.Type == TypeFloat {
		tag = tagFloatList
	}
	dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(f.key)+3))
	return append(append(dst, f.key...), 2, tag, 0)
}

// zeros are 0 and the empty string as they are in lists on the wire.
var zeros = map[ColumnType][]byte{TypeInt64: {0}, TypeFloat: {0, 0, 0, 0}, TypeBytes: {tagFeature, 0}}

// appendZeros appends n zeros of a type.
func appendZeros(dst []byte, t ColumnType, n int) []byte {
	for range n {
		dst = append(dst, zeros[t]...)
	}
	return dst
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

// begin moves before the first row of a chunk that was read.
func (e *rowEncoder) begin(c *tablefile.Chunk) error { return e.rows.begin(c) }

// row encodes the row into e.body. It returns why the row is bad, or "".
func (e *rowEncoder) row() (reason string) {
	e.body, e.label = e.body[:0], labels.Unlabelled
	return e.rows.encode(e)
}

// appendMissing appends what Missing stores for a missing value. The error is for the ledger.
func (e *rowEncoder) appendMissing(body []byte, f *featureEncoder, column string) ([]byte, string) {
	switch {
	case e.o.Missing == MissingDrop && e.isLabel(f):
		return body, fmt.Sprintf("column %q: the row has no label", column)
	case e.o.Missing == MissingDrop:
		return body, ""
	case e.o.Missing == MissingError:
		return body, isMissing(column)
	case f.List:
		e.values = appendZeros(e.values[:0], f.Type, f.Zeros)
		return f.appendList(body, e.values), ""
	case f.Label:
		return f.appendInt64(body, labels.Unlabelled), ""
	case f.Type == TypeBytes:
		return f.appendText(body, nil), ""
	case f.Type == TypeInt64:
		return f.appendInt64(body, 0), ""
	}
	return f.appendFloat(body, 0), ""
}

// isLabel reports whether a feature is the label, which a record has unless MissingDefault is
// given.
func (e *rowEncoder) isLabel(f *featureEncoder) bool {
	return !f.Vector && f.Columns[0] == e.columns.label
}

func isMissing(column string) string {
	return fmt.Sprintf("column %q: the value is missing", column)
}

// appendLabel appends the id of a label. If missing is set, it is a missing value unless the
// vocabulary has it.
func (e *rowEncoder) appendLabel(body []byte, f *featureEncoder, column string, label []byte, missing bool) ([]byte, string) {
	id, ok := e.columns.vocab.id(label)
	switch {
	case !ok && missing:
		return e.appendMissing(body, f, column)
	case !ok:
		return body, fmt.Sprintf("column %q: %.40q is not in the vocabulary", column, label)
	}
	if e.columns.labels != nil {
		e.label = int32(id)
	}
	return f.appendInt64(body, id), ""
}

// appendFrame appends the last encoded row as a framed record.
func (e *rowEncoder) appendFrame(dst []byte) []byte {
	dst, mark := tfrecord.BeginFrame(dst)
	dst = binary.AppendUvarint(append(dst, tagFeature), uint64(len(e.body)))
	dst = append(dst, e.body...)
	return tfrecord.EndFrame(dst, mark)
}

// bad returns a ledger entry for the row, which has a number in its file, from 0.
func (e *rowEncoder) bad(f *tablefile.File, row int64, reason string) setdir.BadSample {
	key := ""
	if e.columns.key >= 0 {
		key = e.rows.key(e.columns.key)
	}
	line := e.rows.line()
	if key == "" {
		key = fmt.Sprintf("%s:%09d", f.As, cmp.Or(line, row+1))
	}
	return setdir.BadSample{
		Key: jsontext.Readable(key), Source: jsontext.Readable(f.As), Line: line, Stage: "parse", Reason: reason,
	}
}
