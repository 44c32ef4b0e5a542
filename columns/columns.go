package columns

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// Columns are the features of a batch of records, each in one contiguous slice. Refilling reuses
// their memory. The zero Columns are empty and ready for a [Parser].
type Columns struct {
	// Rows is the number of records.
	Rows int
	// Columns has a column for each field of the schema, in its order.
	Columns []Column
}

// Column is one feature of a batch of records. Its slices belong to the batch and are valid as long
// as it is; a tensor library may use them without a copy.
type Column struct {
	// Key and Kind of the [Field].
	Key  string
	Kind tfrecord.Kind
	// Shape is the shape of the batch: rows first, then the shape of the field; {rows, -1} if
	// ragged. For sequences it is {rows, steps, shape of the field...}, with -1 steps unless they
	// are padded, and {rows, -1, -1} if the steps are ragged.
	Shape []int
	// Int64s are the values of KindInt64, record after record.
	Int64s []int64
	// Floats are the values of KindFloat, record after record.
	Floats []float32
	// Bytes holds the values of KindBytes, concatenated: value i is Bytes[Offsets[i]:Offsets[i+1]].
	Bytes   []byte
	Offsets []int64
	// Splits delimits the records' values of a ragged feature: record r has values Splits[r] up to,
	// not including, Splits[r+1]. Of sequences it delimits steps; of padded ones, the steps before
	// padding. Other features have none.
	Splits []int64
	// StepSplits delimits the values of ragged steps: step s of the batch has values StepSplits[s]
	// up to, not including, StepSplits[s+1]. Other features have none.
	StepSplits []int64

	count int // values per record; -1: see Splits
	step  int // values per element of Splits; -1: see StepSplits

	width   int // of a padded column: its length so far, at least 1,
	longest int // and the row that has so many steps; -1: none
}

// Clone returns a copy that stays valid.
func (c *Columns) Clone() Columns {
	d := Columns{Rows: c.Rows, Columns: slices.Clone(c.Columns)}
	for i := range d.Columns {
		col := &d.Columns[i]
		col.Shape, col.Int64s, col.Floats = slices.Clone(col.Shape), slices.Clone(col.Int64s), slices.Clone(col.Floats)
		col.Bytes, col.Offsets = slices.Clone(col.Bytes), slices.Clone(col.Offsets)
		col.Splits, col.StepSplits = slices.Clone(col.Splits), slices.Clone(col.StepSplits)
	}
	return d
}

// Get returns the column with that key; nil if the schema has none. Column, Int64s and Floats
// return an error instead.
func (c *Columns) Get(key string) *Column {
	for i := range c.Columns {
		if c.Columns[i].Key == key {
			return &c.Columns[i]
		}
	}
	return nil
}

// Column returns the column with that key and kind. It returns an error if the column does not
// exist or its values are of another kind.
func (c *Columns) Column(key string, kind tfrecord.Kind) (*Column, error) {
	col := c.Get(key)
	if col == nil {
		keys := make([]string, len(c.Columns))
		for i := range c.Columns {
			keys[i] = c.Columns[i].Key
		}
		return nil, fmt.Errorf("columns: no column %q: the schema has %s", key, plural.Quoted(keys, 20))
	}
	if col.Kind != kind {
		return nil, fmt.Errorf("columns: the values of column %q are %v, not %v", key, col.Kind, kind)
	}
	return col, nil
}

// Int64s returns the values of an int64 column, as in [Column.Int64s], with the errors of
// [Columns.Column].
func (c *Columns) Int64s(key string) ([]int64, error) {
	col, err := c.Column(key, tfrecord.KindInt64)
	if err != nil {
		return nil, err
	}
	return col.Int64s, nil
}

// Floats returns the values of a float column, as in [Column.Floats], with the errors of
// [Columns.Column].
func (c *Columns) Floats(key string) ([]float32, error) {
	col, err := c.Column(key, tfrecord.KindFloat)
	if err != nil {
		return nil, err
	}
	return col.Floats, nil
}

// Len returns the total number of values.
func (c *Column) Len() int {
	switch c.Kind {
	case tfrecord.KindInt64:
		return len(c.Int64s)
	case tfrecord.KindFloat:
		return len(c.Floats)
	default:
		return len(c.Offsets) - 1
	}
}

// Value returns value i of KindBytes, counted over the whole column.
func (c *Column) Value(i int) []byte {
	to := c.Offsets[i+1]
	return c.Bytes[c.Offsets[i]:to:to]
}

// Row returns the range of a record's values: indexes into Int64s or Floats, or arguments for
// Value.
func (c *Column) Row(row int) (from, to int) {
	if c.count >= 0 {
		return row * c.count, (row + 1) * c.count
	}
	return c.first(int(c.Splits[row])), c.first(int(c.Splits[row+1]))
}

// real returns the range of a record's values before padding.
func (c *Column) real(row int) (from, to int) {
	from, to = c.Row(row)
	if c.padded() {
		to = from + int(c.Splits[row+1]-c.Splits[row])*c.step
	}
	return from, to
}

// padded reports whether Finish padded the column.
func (c *Column) padded() bool { return c.count >= 0 && len(c.Splits) > 0 }

// first returns the index of the first value of an element of Splits.
func (c *Column) first(element int) int {
	if c.step < 0 {
		return int(c.StepSplits[element])
	}
	return element * c.step
}

// elements returns the number of elements that Splits may delimit.
func (c *Column) elements() int {
	if c.step < 0 {
		return len(c.StepSplits) - 1
	}
	return c.Len() / c.step
}

// reset empties the columns and sets the fields of a schema.
func (c *Columns) reset(s Schema) {
	c.Rows = 0
	c.Columns = slices.Grow(c.Columns[:0], len(s))[:len(s)]
	for i := range s {
		col, f := &c.Columns[i], &s[i]
		col.Key, col.Kind, col.count, col.step, col.width = f.Key, f.Kind, f.count(), f.size(), 1
		col.longest = -1
		col.Shape = append(col.Shape[:0], 0)
		if f.Steps != NoSteps {
			col.Shape = append(col.Shape, -1)
		}
		if f.Ragged {
			col.Shape = append(col.Shape, -1)
		}
		col.Shape = append(col.Shape, f.Shape...)
		col.Int64s, col.Floats, col.Bytes = emptied(col.Int64s), emptied(col.Floats), emptied(col.Bytes)
		col.Offsets, col.Splits, col.StepSplits = emptied(col.Offsets), col.Splits[:0], emptied(col.StepSplits)
		if f.Kind == tfrecord.KindBytes {
			col.Offsets = append(col.Offsets, 0)
		}
		if col.count < 0 {
			col.Splits = append(col.Splits, 0)
		}
		if f.Ragged && f.Steps != NoSteps {
			col.step, col.StepSplits = -1, append(col.StepSplits, 0)
		}
	}
}

// maxIdle is the capacity in bytes up to which emptied keeps memory regardless of its use.
const maxIdle = 8 << 20

// emptied returns s without elements; without its memory if that is large and the elements used less
// than a quarter of it.
func emptied[T any](s []T) []T {
	var v T
	if uintptr(cap(s))*unsafe.Sizeof(v) > maxIdle && len(s) < cap(s)/4 {
		return nil
	}
	return s[:0]
}

// closeRow ends the row whose values were appended.
func (c *Columns) closeRow() {
	c.Rows++
	for i := range c.Columns {
		col := &c.Columns[i]
		col.Shape[0] = c.Rows
		if col.count < 0 {
			col.Splits = append(col.Splits, int64(col.elements()))
		}
	}
}

// dropOpenRow removes what was appended since the last closeRow.
func (c *Columns) dropOpenRow() {
	for i := range c.Columns {
		col := &c.Columns[i]
		if col.count < 0 {
			col.truncate(int(col.Splits[c.Rows]))
		} else {
			col.truncateValues(c.Rows * col.count)
		}
	}
}

// truncate removes all but the first n elements of a column with Splits.
func (c *Column) truncate(n int) {
	c.truncateValues(c.first(n))
	if c.step < 0 {
		c.StepSplits = c.StepSplits[:n+1]
	}
}

// truncateValues removes all but the first n values, if there are more.
func (c *Column) truncateValues(n int) {
	switch c.Kind {
	case tfrecord.KindInt64:
		c.Int64s = c.Int64s[:min(n, len(c.Int64s))]
	case tfrecord.KindFloat:
		c.Floats = c.Floats[:min(n, len(c.Floats))]
	default:
		c.Offsets = c.Offsets[:min(n+1, len(c.Offsets))]
		c.Bytes = c.Bytes[:c.Offsets[len(c.Offsets)-1]]
	}
}

// appendBytes appends one value of KindBytes.
func (c *Column) appendBytes(v []byte) {
	c.Bytes = append(c.Bytes, v...)
	c.Offsets = append(c.Offsets, int64(len(c.Bytes)))
}
