package tables

import (
	"bytes"
	"encoding/base64"
	"io"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/view/export/jsonvalue"
	"github.com/tfrec/tfrec/tfrecord"
)

// csvTable writes RFC 4180 with lines that end in a newline. A cell is empty where the record does
// not have the feature. Where records have several values of a feature, or where an empty text
// would look like a missing one, all of its cells are JSON arrays.
type csvTable struct {
	w     io.Writer
	s     *inputScan
	lists []bool // by column
	safe  bool   // as in Options
	value jsonvalue.Value
	cell  []byte
	line  []byte
}

func newCSV(w io.Writer, s *inputScan, safe bool) (*csvTable, error) {
	names, err := textNames(s)
	if err != nil {
		return nil, err
	}
	t := &csvTable{w: w, s: s, safe: safe}
	for i, c := range s.columns {
		ambiguous := c.records < s.records && c.kind == tfrecord.KindBytes && c.shortest == 0
		t.lists = append(t.lists, !c.single() || ambiguous)
		t.addCell(i, t.escape([]byte(names[i])))
	}
	return t, t.endLine()
}

func (t *csvTable) row(cells []tfrecord.Feature) error {
	for i, f := range cells {
		var err error
		t.cell, err = t.appendCell(t.cell[:0], i, f)
		if err != nil {
			return err
		}
		if f.Kind() == tfrecord.KindBytes {
			t.cell = t.escape(t.cell)
		}
		t.addCell(i, t.cell)
	}
	return t.endLine()
}

func (t *csvTable) close() error { return nil }

// appendCell appends the text of a cell, without quotes.
func (t *csvTable) appendCell(b []byte, i int, f tfrecord.Feature) ([]byte, error) {
	if f.Kind() == tfrecord.KindNone {
		return b, nil
	}
	if t.lists[i] {
		return t.value.Append(b, f, t.s.columns[i].text, true)
	}
	switch f.Kind() {
	case tfrecord.KindInt64:
		n, _ := f.Int64()
		b = strconv.AppendInt(b, n, 10)
	case tfrecord.KindFloat:
		x, _ := f.Float()
		if special := jsonvalue.SpecialFloat(x); special != "" {
			return append(b, special...), nil
		}
		b = jsonvalue.AppendFloat(b, x)
	default:
		s, _ := f.Bytes()
		if t.s.columns[i].text {
			return append(b, s...), nil
		}
		b = base64.StdEncoding.AppendEncode(b, s)
	}
	return b, nil
}

// formulas are what spreadsheets take text for a formula by, or skip before it, after OWASP's page on
// CSV injection.
var formulas = []string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"}

// escape puts an apostrophe before a cell that spreadsheets would take for a formula, if t is safe.
func (t *csvTable) escape(cell []byte) []byte {
	if t.safe && slices.ContainsFunc(formulas, func(f string) bool { return bytes.HasPrefix(cell, []byte(f)) }) {
		return slices.Insert(cell, 0, '\'')
	}
	return cell
}

// addCell adds a cell to the line, in quotes where it needs them: a line of one
// empty cell would be taken for no line at all.
func (t *csvTable) addCell(i int, cell []byte) {
	if i > 0 {
		t.line = append(t.line, ',')
	}
	alone := len(cell) == 0 && len(t.s.columns) == 1
	if !alone && !bytes.ContainsAny(cell, ",\"\r\n") && !bytes.HasPrefix(cell, []byte(" ")) && !bytes.HasPrefix(cell, []byte("\ufeff")) {
		t.line = append(t.line, cell...)
		return
	}
	t.line = append(t.line, '"')
	for _, c := range cell {
		if c == '"' {
			t.line = append(t.line, '"')
		}
		t.line = append(t.line, c)
	}
	t.line = append(t.line, '"')
}

func (t *csvTable) endLine() error {
	_, err := t.w.Write(append(t.line, '\n'))
	t.line = t.line[:0]
	return err
}
