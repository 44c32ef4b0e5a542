package table

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ErrChanged means that a file has changed since it was scanned.
var ErrChanged = errors.New("the file has changed since it was scanned")

// Batch is the rows of a chunk, column by column. Its memory belongs to it until the next Read.
type Batch struct {
	Rows    int
	Columns []Values
	// Bad are the rows that cannot be used, in order; their values mean nothing. Lines are the lines
	// of all rows, from 1; empty in formats without lines.
	Bad   []BadRow
	Lines []int64
}

// BadRow is a row that cannot be used, with the reason.
type BadRow struct {
	Row    int // in the batch, from 0
	Reason string
}

// Values are the values of one column. Only the slices of its kind are used.
type Values struct {
	Kind Kind
	// Present reports for each row whether it has a value; empty if all do. A missing row takes no
	// space in the other slices if Splits is set, and one unused element if it is empty.
	Present []bool
	// Splits has the index of the first value of each row, and at the end their number, as the row
	// splits of a ragged tensor; empty if every row has exactly one value.
	Splits []int32
	Ints   []int64
	Floats []float32
	// Value i of kind Bytes is Data[Ends[i-1]:Ends[i]], where Ends[-1] is 0.
	Data []byte
	Ends []int32
	// Lost are the values that do not fit, in order: their rows are in Batch.Bad.
	Lost []Lost
}

// Lost is a value that does not fit the kind of its column, with the reason.
type Lost struct {
	Value  int // index
	Reason string
}

// Reset empties v for values of a kind, and keeps its memory.
func (v *Values) Reset(kind Kind) {
	*v = Values{Kind: kind, Present: v.Present[:0], Splits: v.Splits[:0], Ints: v.Ints[:0], Floats: v.Floats[:0], Data: v.Data[:0], Ends: v.Ends[:0], Lost: v.Lost[:0]}
}

// Len is the number of values of all rows.
func (v *Values) Len() int {
	switch v.Kind {
	case Int64:
		return len(v.Ints)
	case Float:
		return len(v.Floats)
	}
	return len(v.Ends)
}

// AppendZero appends 0 or the empty string.
func (v *Values) AppendZero() {
	switch v.Kind {
	case Int64:
		v.Ints = append(v.Ints, 0)
	case Float:
		v.Floats = append(v.Floats, 0)
	case Bytes:
		v.Ends = append(v.Ends, int32(len(v.Data)))
	}
}

// Has reports whether a row has a value, or an empty list.
func (v *Values) Has(row int) bool { return len(v.Present) == 0 || v.Present[row] }

// Span returns the values of a row: those from first up to, not including, end.
func (v *Values) Span(row int) (first, end int) {
	if len(v.Splits) == 0 {
		return row, row + 1
	}
	return int(v.Splits[row]), int(v.Splits[row+1])
}

// Byte returns value i of kind Bytes. It aliases Data.
func (v *Values) Byte(i int) []byte {
	first := int32(0)
	if i > 0 {
		first = v.Ends[i-1]
	}
	return v.Data[first:v.Ends[i]]
}

// Text returns value i as text: numbers as Go writes them, bytes as they are.
func (v *Values) Text(i int) string {
	switch v.Kind {
	case Int64:
		return strconv.FormatInt(v.Ints[i], 10)
	case Float:
		return strconv.FormatFloat(float64(v.Floats[i]), 'g', -1, 32)
	}
	return string(v.Byte(i))
}

// AppendFloat64 appends a value of 64 bits to values of kind Float. A value beyond the range of 32
// bits is lost.
func (v *Values) AppendFloat64(x float64) {
	f, fits := Float32(x)
	if !fits {
		v.Lost = append(v.Lost, LostFloat(len(v.Floats), x))
	}
	v.Floats = append(v.Floats, f)
}

// Float32 rounds a value to 32 bits. It fits unless that makes it infinite.
func Float32(x float64) (f float32, fits bool) {
	f = float32(x)
	return f, f-f == 0 || x-x != 0 // infinities and NaN minus themselves are NaN
}

// maxExact is the smallest integer that a float of 32 bits may have rounded another one to.
const maxExact = 1 << 24

// Integer returns the integer that a float is. It reports an error if that has a fraction, or is so
// large that it may have been another integer.
func Integer(x float32) (int64, error) {
	switch n := int64(x); {
	case x != x || x >= 1<<62 || x <= -1<<62 || float32(n) != x:
		return 0, fmt.Errorf("%v is not an integer", x)
	case n >= maxExact || n <= -maxExact:
		return 0, fmt.Errorf("%d is a float of 32 bits, which are exact up to %d: store it as an integer or as text", n, maxExact-1)
	default:
		return n, nil
	}
}

// LostFloat is a value beyond the range of 32 bits.
func LostFloat(value int, x float64) Lost {
	return Lost{value, fmt.Sprintf("%g is outside of the range of a 32-bit float", x)}
}

// AddLost adds the rows with lost values of a column to the bad rows. SortBad is called after it.
func (b *Batch) AddLost(v *Values, column string) {
	row := 0
	for _, lost := range v.Lost {
		for ; row < b.Rows; row++ {
			if _, end := v.Span(row); lost.Value < end {
				break
			}
		}
		if row < b.Rows && v.Has(row) {
			b.Bad = append(b.Bad, BadRow{Row: row, Reason: fmt.Sprintf("column %q: %s", column, lost.Reason)})
		}
	}
}

// SortBad sorts the bad rows, and keeps the first reason of each.
func (b *Batch) SortBad() {
	slices.SortStableFunc(b.Bad, func(x, y BadRow) int { return x.Row - y.Row })
	b.Bad = slices.CompactFunc(b.Bad, func(x, y BadRow) bool { return x.Row == y.Row })
}
