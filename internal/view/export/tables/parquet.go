package tables

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/tfrec/tfrec/tfrecord"
)

// rowGroup is about how many bytes of values a row group has: it is collected in memory, since its
// columns are stored one after another.
const rowGroup = 32 << 20

// maxBound is the longest value, in bytes, up to which the smallest and the largest of each page
// are stored with it. Whole images there would double the file.
const maxBound = 256

// parquetTable writes Apache Parquet, compressed with Snappy. Columns are INT64, FLOAT, and
// BYTE_ARRAY, which is a STRING where all of its values are UTF-8; a LIST of them where records
// have several values, and optional where some records do not have the feature.
type parquetTable struct {
	w      *parquet.GenericWriter[any]
	s      *inputScan
	size   int64 // of the values in the row group
	row1   [1]parquet.Row
	ints   []int64
	floats []float32
	bytes  [][]byte
}

func newParquet(w io.Writer, s *inputScan) (*parquetTable, error) {
	group := parquet.Group{} // in the order of the names, as the survey
	options := []parquet.WriterOption{parquet.Compression(&parquet.Snappy)}
	for _, c := range s.columns {
		var node parquet.Node
		switch {
		case c.kind == tfrecord.KindInt64:
			node = parquet.Leaf(parquet.Int64Type)
		case c.kind == tfrecord.KindFloat:
			node = parquet.Leaf(parquet.FloatType)
		case c.text:
			node = parquet.String()
		default:
			node = parquet.Leaf(parquet.ByteArrayType)
		}
		path := []string{c.key}
		if !c.single() {
			node = parquet.List(node)
			path = append(path, "list", "element")
		}
		if c.longest > maxBound {
			options = append(options, parquet.SkipPageBounds(path...), parquet.SkipPageStatistics(path...))
		}
		if c.records < s.records {
			node = parquet.Optional(node)
		}
		group[c.key] = node
	}
	options = append(options, parquet.NewSchema("examples", group))
	return &parquetTable{w: parquet.NewGenericWriter[any](w, options...), s: s}, nil
}

func (t *parquetTable) row(cells []tfrecord.Feature) error {
	row := t.row1[0][:0]
	for i, f := range cells {
		row = t.append(row, i, f)
	}
	t.row1[0] = row
	if _, err := t.w.WriteRows(t.row1[:]); err != nil {
		return err
	}
	if t.size < rowGroup {
		return nil
	}
	t.size = 0
	return t.w.Flush()
}

// append appends the values of a column with their levels: the definition level
// counts the optional and the repeated nodes that are there, the repetition
// level is 1 for all values of a list but the first.
func (t *parquetTable) append(row parquet.Row, i int, f tfrecord.Feature) parquet.Row {
	c := t.s.columns[i]
	t.size += 16
	if f.Kind() == tfrecord.KindNone {
		return append(row, parquet.NullValue().Level(0, 0, i))
	}
	defined, repeated := 0, 0
	if c.records < t.s.records {
		defined = 1
	}
	if !c.single() {
		if f.Len() == 0 {
			return append(row, parquet.NullValue().Level(0, defined, i))
		}
		defined, repeated = defined+1, 1
	}
	add := func(n int, v parquet.Value) {
		row = append(row, v.Level(min(n, repeated), defined, i))
	}
	switch f.Kind() {
	case tfrecord.KindInt64:
		t.ints = f.AppendInt64s(t.ints[:0])
		for n, v := range t.ints {
			add(n, parquet.Int64Value(v))
		}
	case tfrecord.KindFloat:
		t.floats = f.AppendFloats(t.floats[:0])
		for n, v := range t.floats {
			add(n, parquet.FloatValue(v))
		}
	case tfrecord.KindBytes:
		t.bytes = f.AppendBytes(t.bytes[:0])
		for n, v := range t.bytes {
			add(n, parquet.ByteArrayValue(v))
			t.size += int64(len(v))
		}
	}
	t.size += 8 * int64(f.Len())
	return row
}

func (t *parquetTable) close() error { return t.w.Close() }
