package csvscan

import (
	"errors"
	"io"
	"testing"
)

// plainRow is a row as the plain reader sees it.
type plainRow struct {
	line   int64
	fields []string
	fault  fault
}

// plainRows reads text one byte at a time: the reference implementation of Tokenizer. A blank line
// is not a row, unless there is one column.
func plainRows(text []byte, delim byte, columns int) (rows []plainRow, blank int64) {
	const (
		atStart  = iota // of a field
		bare            // in a field without quotes
		quoted          // in a quoted field
		atQuote         // after a quote in a quoted field
		trailing        // in text after a closing quote
	)
	state, line := atStart, int64(1)
	row, field := plainRow{line: 1}, []byte{}
	started := false // the row has a byte
	endField := func() {
		row.fields = append(row.fields, string(field))
		field, state = field[:0], atStart
	}
	endRow := func() {
		if !started && columns != 1 {
			blank++
		} else {
			endField()
			rows = append(rows, row)
		}
		row, started, state = plainRow{line: line}, false, atStart
	}
	for i, c := range text {
		if c == '\n' && i > 0 && text[i-1] == '\r' && state != quoted && !started {
			continue // it belongs to the \r
		}
		lineEnd := c == '\n' || c == '\r'
		if c == '\n' && i > 0 && text[i-1] == '\r' {
			lineEnd = false // was counted with the \r
		}
		if lineEnd {
			line++
		}
		if state == quoted {
			if c == '"' {
				state = atQuote
			} else {
				field = append(field, c)
			}
			continue
		}
		switch {
		case c == '"' && state == atQuote:
			field, state = append(field, c), quoted
		case c == '\n' || c == '\r':
			endRow()
		case c == delim:
			started = true
			endField()
		case c == '"' && state == atStart:
			started, state = true, quoted
		case state == atQuote:
			state = trailing
			if row.fault == faultNone {
				row.fault = faultAfterQuote
			}
		case state == trailing:
		default:
			started, state = true, bare
			field = append(field, c)
		}
	}
	if state == quoted {
		if row.fault == faultNone {
			row.fault = faultOpenQuote
		}
	}
	if started {
		endRow()
	}
	return rows, blank
}

// tokenRows reads text with a Tokenizer.
func tokenRows(text []byte, delim byte, columns int, line int64) (rows []plainRow, blank, next int64) {
	t := NewTokenizer(Dialect{Delimiter: delim}, columns)
	for t.Reset(text, line); t.Next(); {
		row := plainRow{line: t.Line(), fault: t.fault}
		for i := range t.Len() {
			if columns == 0 || i < columns {
				row.fields = append(row.fields, string(t.Field(i)))
			} else {
				row.fields = append(row.fields, "?")
			}
		}
		rows = append(rows, row)
	}
	return rows, t.Blank(), t.Line()
}

// sameRows compares rows; fields past the columns are only counted.
func sameRows(t *testing.T, what string, got, want []plainRow) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
		}
		g, w := got[i], want[i]
		if g.line != w.line || g.fault != w.fault || len(g.fields) != len(w.fields) {
			t.Fatalf("%s: row %d is %+v, want %+v", what, i, g, w)
		}
		for j := range g.fields {
			if g.fields[j] != w.fields[j] && g.fields[j] != "?" && g.fault == faultNone {
				t.Fatalf("%s: row %d, field %d is %q, want %q", what, i, j, g.fields[j], w.fields[j])
			}
		}
	}
}

// chunks cuts a stream with spans of size bytes.
func chunks(r io.Reader, delim byte, size, maxRow int) (all [][]byte, offsets []int64, err error) {
	c := &chunker{r: r, delim: delim, size: size, maxRow: maxRow}
	for {
		data, offset, err := c.next(nil)
		if err == io.EOF {
			return all, offsets, nil
		}
		if err != nil {
			return all, offsets, err
		}
		all, offsets = append(all, data), append(offsets, offset)
	}
}

// checkText holds the Tokenizer and the chunker to the plain reader.
func checkText(t *testing.T, text []byte, delim byte, columns, size int) {
	want, wantBlank := plainRows(text, delim, columns)
	got, blank, _ := tokenRows(text, delim, columns, 1)
	sameRows(t, "whole", got, want)
	if blank != wantBlank {
		t.Fatalf("%d blank lines, want %d", blank, wantBlank)
	}
	open := len(want) > 0 && want[len(want)-1].fault == faultOpenQuote
	all, offsets, err := chunks(&byteReader{text}, delim, size, len(text)+size)
	if len(want) > 0 && want[len(want)-1].fault == faultAfterQuote {
		// The row may be both; then the end of the text decides.
		open = errors.Is(err, ErrOpenQuote)
	}
	if errors.Is(err, ErrOpenQuote) != open || err != nil && !open {
		t.Fatalf("chunks: %v, but open quote: %v", err, open)
	}
	var rows []plainRow
	line, offset := int64(1), int64(0)
	for i, data := range all {
		if offsets[i] != offset || len(data) == 0 {
			t.Fatalf("chunk %d: %d bytes at %d, want them at %d", i, len(data), offsets[i], offset)
		}
		part, _, next := tokenRows(data, delim, columns, line)
		rows = append(rows, part...)
		last := len(part) - 1
		if last >= 0 && offset/int64(size) != (offset+int64(len(data)-1))/int64(size) {
			// No row but the last may begin in another span.
			head, _, _ := chunks(&byteReader{data}, delim, 1, len(data)+1)
			begins := offset + int64(len(data)-len(head[len(head)-1]))
			if begins/int64(size) != offset/int64(size) {
				t.Fatalf("chunk %d at %d has a row that begins at %d: size %d", i, offset, begins, size)
			}
		}
		line, offset = next, offset+int64(len(data))
	}
	if !open {
		sameRows(t, "in chunks", rows, want)
		if offset != int64(len(text)) {
			t.Fatalf("the chunks have %d bytes of %d", offset, len(text))
		}
	} else {
		sameRows(t, "in chunks", rows, want[:len(rows)])
	}
}

// byteReader gives few bytes at a time, and never more than are left.
type byteReader struct{ text []byte }

func (r *byteReader) Read(p []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 3)], r.text)
	r.text = r.text[n:]
	return n, nil
}
