package jsonl

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// errDistinct means that a column has too many different values to list.
var errDistinct = errors.New("too many different values")

// errNames means that a table has too many names of members.
var errNames = fmt.Errorf("the table has more than %d names of members: names that differ from row to row are values, such as a list of names and one of values", maxMembers)

// maxCells bounds the rows of a chunk times the columns of its table, each of which takes memory.
const maxCells = 1 << 25

// inferrer infers the contents of columns from some of the chunks of a table, in their order.
// Several inferrers can be merged, with the same result however the chunks were divided between
// them.
type inferrer struct {
	opts     table.ScanOptions
	columns  []*inferred
	index    map[string]int // of columns by name
	good     int64          // rows that are not bad
	distinct map[string]struct{}
	parser   *parser

	at      position // of the row
	touched []int    // columns in the row
	unfit   string   // the column with a value that does not fit, in the row
	inList  bool     // that value is in a list
	label   []byte   // value of the column opts.Distinct in the row
	labeled bool
	fitting table.Values // scratch
}

// position is the position of a member: a line of a chunk, both from 0, and the number of the value
// there.
type position struct {
	chunk int
	line  int64
	nth   int
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.chunk, q.chunk), cmp.Compare(p.line, q.line), cmp.Compare(p.nth, q.nth))
}

// spellings are sets of what values may be.
type spellings uint8

const (
	spelledInt spellings = 1 << iota // or a boolean
	spelledFloat
	spelledText
	spelledWord // "NaN", "Infinity" and "-Infinity"
	spelledBytes
	spelledList // which may be empty

	spelledNumber = spelledInt | spelledFloat
)

// inferred is the inferred state of a column. Only rows that are not bad count.
type inferred struct {
	name  string
	given table.Kind // Unknown: to be inferred
	found spellings
	rows  int64    // with a value
	first position // in which it occurs, even as null
	// The first number, and the first text, if there are any.
	number, text position
	least, most  int  // values in a row, where rows is not 0
	known        bool // first is set
	// A bad row has a number in it that is beyond the range of a float, such a row has it in a list.
	beyond, beyondList bool
	rounded            bool // digits of a number would get lost in a float

	// The same in the row that is being read.
	row      spellings
	rowShape shape
	count    int
	nth      int
}

func newInferrer(o table.ScanOptions, skip func(name string) bool) *inferrer {
	f := &inferrer{opts: o, index: map[string]int{}, distinct: map[string]struct{}{}}
	f.parser = newParser(f, skip)
	return f
}

// scanRow takes in a row. It returns the error that ends the scan, if any.
func (f *inferrer) scanRow(at position, row []byte) error {
	f.at, f.touched, f.unfit, f.labeled = at, f.touched[:0], "", false
	before := len(f.columns)
	if f.parser.parse(row) != "" {
		for _, i := range f.columns[before:] {
			delete(f.index, i.name)
		}
		f.columns = f.columns[:before]
		if f.parser.full {
			return errNames
		}
		if f.unfit != "" { // it is a column, or the row could be read without it
			i := f.columns[f.column(f.unfit)]
			i.beyondList = i.beyondList || f.inList
			if i.beyond = true; !i.known {
				i.first, i.known = at, true
			}
		}
		return nil
	}
	f.good++
	for _, i := range f.touched {
		f.columns[i].endRow(at)
	}
	if f.labeled {
		return f.addDistinct(f.label)
	}
	return nil
}

func (f *inferrer) addDistinct(value []byte) error {
	if _, ok := f.distinct[string(value)]; ok {
		return nil
	}
	if len(f.distinct) == table.MaxDistinct {
		return fmt.Errorf("column %q: %w: more than %d", f.opts.Distinct, errDistinct, table.MaxDistinct)
	}
	f.distinct[string(value)] = struct{}{}
	return nil
}

// column implements sink.
func (f *inferrer) column(name string) int {
	i, ok := f.index[name]
	if !ok {
		i = len(f.columns)
		f.index[name] = i
		f.columns = append(f.columns, &inferred{name: name, given: f.opts.Kinds[name]})
	}
	return i
}

// begin implements sink.
func (f *inferrer) begin(c *column, s shape) string {
	i := f.columns[c.index]
	i.row, i.rowShape, i.count, i.nth = 0, s, 0, len(f.touched)
	f.touched = append(f.touched, c.index)
	return ""
}

// value implements sink.
func (f *inferrer) value(c *column, k class, text []byte) string {
	i := f.columns[c.index]
	i.count++
	switch k {
	case classInt, classTrue, classFalse:
		i.row |= spelledInt
	case classFloat:
		i.row |= spelledFloat
	case classBytes:
		i.row |= spelledBytes
	default:
		switch string(text) {
		case "NaN", "Infinity", "-Infinity":
			i.row |= spelledWord
		default:
			i.row |= spelledText
		}
	}
	if (k == classInt || k == classFloat) && !i.rounded {
		i.rounded = csvscan.Rounds(text)
	}
	if i.given != table.Unknown || k == classFloat {
		f.fitting.Reset(cmp.Or(i.given, table.Float))
		if reason := appendValue(&f.fitting, c.name, k, text); reason != "" {
			f.unfit, f.inList = c.name, i.rowShape == shapeList
			return reason
		}
	}
	if c.name == f.opts.Distinct && f.opts.Distinct != "" {
		f.label, f.labeled = i.appendLabel(f.label[:0], k, text), true
	}
	return ""
}

// appendLabel appends a value as the text that it has in a batch of the column's kind.
func (i *inferred) appendLabel(dst []byte, k class, text []byte) []byte {
	isInt := i.given == table.Int64 || i.given == table.Unknown && (k == classInt || k == classTrue || k == classFalse)
	switch {
	case isInt && k == classTrue:
		return append(dst, '1')
	case isInt && k == classFalse:
		return append(dst, '0')
	case isInt:
		if x, ok := csvscan.ParseInt64(text); ok {
			return strconv.AppendInt(dst, x, 10)
		}
	}
	return append(dst, text...)
}

// endRow adds the row to the inferred state.
func (i *inferred) endRow(at position) {
	at.nth = i.nth
	if !i.known {
		i.first, i.known = at, true
	}
	if i.rowShape == shapeNull {
		return
	}
	if i.row&spelledNumber != 0 && i.found&spelledNumber == 0 {
		i.number = at
	}
	if i.row&(spelledText|spelledBytes) != 0 && i.found&(spelledText|spelledBytes) == 0 {
		i.text = at
	}
	if i.rowShape == shapeList {
		i.row |= spelledList
	}
	i.found |= i.row
	if i.rows == 0 {
		i.least = i.count
	}
	i.least, i.most = min(i.least, i.count), max(i.most, i.count)
	i.rows++
}

// merge adds what another inferrer saw of the same table.
func (f *inferrer) merge(other *inferrer) error {
	f.good += other.good
	at := make(map[string]*inferred, len(f.columns))
	for _, i := range f.columns {
		at[i.name] = i
	}
	for _, o := range other.columns {
		i := at[o.name]
		switch {
		case i == nil:
			f.columns = append(f.columns, o)
		case !i.known:
			*i = *o
		case o.known:
			i.merge(o)
		}
	}
	maps.Copy(f.parser.skipped, other.parser.skipped)
	for value := range other.distinct {
		if err := f.addDistinct([]byte(value)); err != nil {
			return err
		}
	}
	return nil
}

// merge adds the state inferred from other rows.
func (i *inferred) merge(o *inferred) {
	earlier := func(a, b position) position {
		if b.compare(a) < 0 {
			return b
		}
		return a
	}
	i.first = earlier(i.first, o.first)
	switch {
	case i.found&spelledNumber == 0:
		i.number = o.number
	case o.found&spelledNumber != 0:
		i.number = earlier(i.number, o.number)
	}
	switch texts := spelledText | spelledBytes; {
	case i.found&texts == 0:
		i.text = o.text
	case o.found&texts != 0:
		i.text = earlier(i.text, o.text)
	}
	switch {
	case i.rows == 0:
		i.least, i.most = o.least, o.most
	case o.rows > 0:
		i.least, i.most = min(i.least, o.least), max(i.most, o.most)
	}
	i.found |= o.found
	i.rows += o.rows
	i.beyond = i.beyond || o.beyond
	i.beyondList = i.beyondList || o.beyondList
	i.rounded = i.rounded || o.rounded
}

// result returns the columns in the order in which they first occur in rows that are not bad.
func (f *inferrer) result(chunks []table.Chunk) ([]table.Column, error) {
	known := slices.DeleteFunc(f.columns, func(i *inferred) bool { return !i.known })
	slices.SortFunc(known, func(a, b *inferred) int { return a.first.compare(b.first) })
	if len(known) > maxMembers {
		return nil, errNames
	}
	for _, c := range chunks {
		if c.Rows*int64(len(known)) > maxCells {
			return nil, fmt.Errorf("line %d: the next %d rows have few of the table's %d names of members: names that differ from row to row are values, such as a list of names and one of values",
				c.FirstLine, c.Rows, len(known))
		}
	}
	columns := make([]table.Column, len(known))
	line := func(p position) int64 { return chunks[p.chunk].FirstLine + p.line }
	for n, i := range known {
		columns[n] = i.column(f.good)
		if i.given == table.Unknown && i.found&spelledNumber != 0 && i.found&(spelledText|spelledBytes) != 0 {
			columns[n].Kind = table.Unknown
			columns[n].Mixed = fmt.Sprintf("numbers, the first on line %d, and text, the first on line %d", line(i.number), line(i.text))
		}
	}
	return columns, nil
}

// column describes a column of a table in which good rows are not bad.
func (i *inferred) column(good int64) table.Column {
	c := table.Column{Name: i.name, Kind: i.given, List: i.found&spelledList != 0 || i.rows == 0 && i.beyondList, Length: 1, Missing: good - i.rows}
	if c.Kind == table.Unknown {
		c.Kind = i.kind()
	}
	if c.List {
		if c.Length = 0; i.least == i.most {
			c.Length = i.least
		}
	}
	c.Wide = c.Kind != table.Bytes && i.rounded
	c.Text = c.Kind == table.Bytes && i.found&spelledBytes == 0
	return c
}

// kind infers the kind.
func (i *inferred) kind() table.Kind {
	switch numbers := i.found&spelledNumber != 0; {
	case i.found&(spelledText|spelledBytes) != 0, i.found&spelledWord != 0 && !numbers:
		return table.Bytes
	case i.found&(spelledFloat|spelledWord) != 0:
		return table.Float
	case numbers:
		return table.Int64
	case i.rows == 0 && i.beyond:
		return table.Float
	}
	return table.Unknown
}
