package stated

import (
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// Features encodes the columns that ImageOptions.Features name, row by row.
type Features struct {
	Described []manifest.Feature // optional once a row has no value
	columns   []table.Column

	builder tfrecord.Builder
	texts   [][]byte
	example []byte
	block   []byte // of encoded Examples
}

// NewFeatures returns an encoder of columns.
func NewFeatures(columns []table.Column) Features {
	e := Features{columns: columns}
	for _, c := range columns {
		e.Described = append(e.Described, DescribeColumn(c))
	}
	return e
}

// DescribeColumn describes the feature that a column becomes. One without any value is bytes.
func DescribeColumn(c table.Column) manifest.Feature {
	f := manifest.Feature{Key: c.Name, Kind: string(tables.TypeBytes), Class: manifest.ClassScalar}
	if c.Kind != table.Unknown {
		f.Kind = c.Kind.String()
	}
	switch {
	case c.List && c.Length > 0:
		f.Class, f.Shape = manifest.ClassVector, []int{c.Length}
	case c.List:
		f.Class, f.Shape = manifest.ClassVector, []int{-1}
	case f.Kind == string(tables.TypeBytes):
		f.Class = manifest.ClassText
	}
	return f
}

// blockSize is the size of the blocks that hold encoded features.
const blockSize = 1 << 20

// Any reports whether there are columns to encode.
func (e *Features) Any() bool { return len(e.columns) > 0 }

// Encode encodes a row as an Example. Value returns the values of a column: those from first up to
// end, if the row has any.
func (e *Features) Encode(value func(column int) (v *table.Values, first, end int, ok bool)) []byte {
	b := &e.builder
	b.Reset()
	for i, c := range e.columns {
		v, first, end, ok := value(i)
		if !ok {
			e.Described[i].Optional = true
			continue
		}
		switch v.Kind {
		case table.Int64:
			b.Int64(c.Name, v.Ints[first:end]...)
		case table.Float:
			b.Float(c.Name, v.Floats[first:end]...)
		default:
			e.texts = e.texts[:0]
			for k := first; k < end; k++ {
				e.texts = append(e.texts, v.Byte(k))
			}
			b.Bytes(c.Name, e.texts...)
		}
	}
	e.example = b.Append(e.example[:0])
	if cap(e.block)-len(e.block) < len(e.example) {
		e.block = make([]byte, 0, max(blockSize, len(e.example)))
	}
	begin := len(e.block)
	e.block = append(e.block, e.example...)
	return e.block[begin:len(e.block):len(e.block)]
}
