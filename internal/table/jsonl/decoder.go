package jsonl

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// decoder decodes chunks into batches. It is not safe for concurrent use.
type decoder struct {
	columns []table.Column
	index   map[string]int
	parser  *parser
	maxRow  int
	b       *table.Batch
	touched []int  // columns with values in the row
	has     []bool // of each column, in the row
	starts  []lengths
}

// lengths are the lengths of a column's values before the row.
type lengths struct{ ints, floats, data, ends int }

func newDecoder(columns []table.Column, maxRow int, skip func(name string) bool) *decoder {
	d := &decoder{columns: slices.Clone(columns), index: make(map[string]int, len(columns)), maxRow: maxRow, has: make([]bool, len(columns)), starts: make([]lengths, len(columns))}
	for i, c := range columns {
		d.index[c.Name] = i
	}
	d.parser = newParser(d, skip)
	return d
}

// decode replaces the content of b with the rows of a text that begins on a line.
func (d *decoder) decode(text []byte, line int64, b *table.Batch) {
	d.reset(b)
	for len(text) > 0 {
		row := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			row, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		if !isBlank(row) {
			reason := ""
			if len(row) > d.maxRow {
				reason = tooLong(d.maxRow)
			} else {
				reason = d.parser.parse(row)
			}
			d.endRow(line, reason)
		}
		line++
	}
	d.end()
}

// isBlank reports whether a line is blank.
func isBlank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// reset empties a batch.
func (d *decoder) reset(b *table.Batch) {
	d.b = b
	b.Rows, b.Bad, b.Lines = 0, b.Bad[:0], b.Lines[:0]
	b.Columns = slices.Grow(b.Columns[:0], len(d.columns))[:len(d.columns)]
	for i, c := range d.columns {
		b.Columns[i].Reset(c.Kind)
		if c.List {
			b.Columns[i].Splits = append(b.Columns[i].Splits, 0)
		}
	}
}

// end leaves out Present where all rows have a value.
func (d *decoder) end() {
	for i := range d.b.Columns {
		if v := &d.b.Columns[i]; !slices.Contains(v.Present, false) {
			v.Present = v.Present[:0]
		}
	}
}

// endRow ends a row, whose values are taken back if it is bad.
func (d *decoder) endRow(line int64, reason string) {
	b := d.b
	if reason != "" {
		b.Bad = append(b.Bad, table.BadRow{Row: b.Rows, Reason: reason})
		for _, i := range d.touched {
			v, start := &b.Columns[i], d.starts[i]
			v.Ints, v.Floats, v.Data, v.Ends = v.Ints[:start.ints], v.Floats[:start.floats], v.Data[:start.data], v.Ends[:start.ends]
			d.has[i] = false
		}
	}
	for i := range b.Columns {
		v, has := &b.Columns[i], d.has[i]
		d.has[i] = false
		v.Present = append(v.Present, has)
		switch {
		case d.columns[i].List:
			v.Splits = append(v.Splits, int32(v.Len()))
		case !has:
			v.AppendZero()
		}
	}
	d.touched = d.touched[:0]
	b.Lines = append(b.Lines, line)
	b.Rows++
}

// column implements sink.
func (d *decoder) column(name string) int {
	if i, ok := d.index[name]; ok {
		return i
	}
	return -1
}

// begin implements sink.
func (d *decoder) begin(c *column, s shape) string {
	if s == shapeNull {
		return ""
	}
	if s == shapeList && !d.columns[c.index].List {
		return fmt.Sprintf("column %s: a list in a column without lists", jsonscan.Quoted([]byte(c.name)))
	}
	v := &d.b.Columns[c.index]
	d.starts[c.index] = lengths{len(v.Ints), len(v.Floats), len(v.Data), len(v.Ends)}
	d.touched = append(d.touched, c.index)
	d.has[c.index] = true
	return ""
}

// value implements sink.
func (d *decoder) value(c *column, k class, text []byte) string {
	return appendValue(&d.b.Columns[c.index], c.name, k, text)
}

// appendValue appends a value to v. It returns why it does not fit, or "".
func appendValue(v *table.Values, column string, k class, text []byte) string {
	switch v.Kind {
	case table.Int64:
		switch k {
		case classTrue:
			v.Ints = append(v.Ints, 1)
			return ""
		case classFalse:
			v.Ints = append(v.Ints, 0)
			return ""
		case classInt, classText:
			if x, ok := csvscan.ParseInt64(text); ok {
				v.Ints = append(v.Ints, x)
				return ""
			}
		}
	case table.Float:
		switch k {
		case classTrue:
			v.Floats = append(v.Floats, 1)
			return ""
		case classFalse:
			v.Floats = append(v.Floats, 0)
			return ""
		case classInt, classFloat, classText:
			if x, ok := csvscan.ParseFloat64(text); ok {
				if math.IsInf(float64(float32(x)), 0) && k != classText {
					return fmt.Sprintf("column %s: %s is outside of the range of a 32-bit float", jsonscan.Quoted([]byte(column)), text)
				}
				v.Floats = append(v.Floats, float32(x))
				return ""
			}
		}
	default:
		v.Data = append(v.Data, text...)
		v.Ends = append(v.Ends, int32(len(v.Data)))
		return ""
	}
	return fmt.Sprintf("column %s: %s is not of type %s", jsonscan.Quoted([]byte(column)), jsonscan.Quoted(text), v.Kind)
}
