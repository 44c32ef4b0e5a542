package csvscan

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// skipBlank reads blank lines, and returns how many bytes and lines they are. More than
// limit bytes of them are an error: a compressed file may hold any number.
func skipBlank(in *bufio.Reader, limit int) (size, lines int64, err error) {
	for {
		head, err := in.Peek(1)
		if err == io.EOF || err == nil && head[0] != '\n' && head[0] != '\r' {
			return size, lines, nil
		}
		if err != nil {
			return 0, 0, err
		}
		if size >= int64(limit) {
			return 0, 0, &Error{Line: lines + 1, Err: fmt.Errorf("%w: more than %d bytes of blank lines before it; %s raises the limit", ErrHeader, limit, optname.CSVOptionsMaxRow)}
		}
		end := 1
		if head[0] == '\r' {
			if two, err := in.Peek(2); err == nil && two[1] == '\n' {
				end = 2
			}
		}
		if _, err := in.Discard(end); err != nil {
			return 0, 0, err
		}
		size, lines = size+int64(end), lines+1
	}
}

// skipComment reads a line that is a comment with its end, and returns its length in bytes; 0 if
// the next line is not one, or too long.
func skipComment(in *bufio.Reader, isComment func(line []byte) bool) (int64, error) {
	sample, err := in.Peek(in.Size())
	if err != nil && err != io.EOF {
		return 0, err
	}
	end := bytes.IndexAny(sample, "\r\n")
	size := end + 1
	switch {
	case end < 0 && err == nil:
		return 0, nil
	case end < 0:
		end, size = len(sample), len(sample)
	case sample[end] == '\r' && size < len(sample) && sample[size] == '\n':
		size++
	}
	if size == 0 || !isComment(sample[:end]) {
		return 0, nil
	}
	_, err = in.Discard(size)
	return int64(size), err
}

// IndexName is the name of a first column without one, which is the index of the rows of a table as
// pandas writes it. pandas reads it under this name.
const IndexName = "Unnamed: 0"

// nameIndex names the first column if all others have a name.
func nameIndex(names []string) {
	if len(names) > 1 && names[0] == "" && !slices.Contains(names[1:], "") && !slices.Contains(names, IndexName) {
		names[0] = IndexName
	}
}

// readHeader reads the first row, which is not blank. It returns the names without blanks around them,
// and the offset and the line after it. The row is on the given line.
func readHeader(c *chunker, line int64) (names []string, offset, next int64, err error) {
	row, _, err := c.next(nil)
	if err != nil {
		var e *Error
		switch {
		case err == io.EOF:
			err = ErrEmpty
		case errors.As(err, &e):
			e.Line += line - 1
		}
		return nil, 0, 0, err
	}
	t := NewTokenizer(Dialect{Delimiter: c.delim}, 0)
	t.Reset(row, line)
	t.Next()
	if t.Bad() {
		return nil, 0, 0, t.Err()
	}
	if t.Len() > maxColumns {
		return nil, 0, 0, &Error{Line: line, Err: fmt.Errorf("%w: %d columns, more than %d", ErrHeader, t.Len(), maxColumns)}
	}
	for i := range t.Len() {
		names = append(names, string(trimBlanks(t.Field(i))))
	}
	return names, c.offset, t.line, nil
}

// maxName is the longest name of a column in bytes: every record has it.
const maxName = 64 << 10

// checkNames returns an error with all problems of the column names, and how to solve them.
func checkNames(names []string) error {
	var faults []string
	at := make(map[string][]int, len(names))
	for i, name := range names {
		at[name] = append(at[name], i+1)
	}
	for i, name := range names {
		columns := at[name]
		if columns[0] != i+1 {
			continue
		}
		switch {
		case len(name) > maxName:
			faults = append(faults, fmt.Sprintf("%s with a name of %d bytes, more than %d", numbered(columns), len(name), maxName))
		case name == "":
			faults = append(faults, numbered(columns)+" without a name")
		case len(columns) > 1:
			faults = append(faults, fmt.Sprintf("%s all named %s", numbered(columns), quoted(name)))
		case !utf8.ValidString(name):
			faults = append(faults, fmt.Sprintf("%s named %s, which is not UTF-8", numbered(columns), quoted(name)))
		}
	}
	if faults == nil {
		return nil
	}
	if len(faults) > 10 {
		faults = append(faults[:10], fmt.Sprintf("%d more", len(faults)-10))
	}
	return fmt.Errorf("%w: %s; name the %s with %s", ErrHeader, strings.Join(faults, "; "), plural.Of(len(names), "column"), optname.CSVOptionsColumns)
}

// quoted is a name for an error: the start of a long one.
func quoted(name string) string {
	const shown = 40
	if len(name) > shown {
		return fmt.Sprintf("%q...", name[:shown])
	}
	return fmt.Sprintf("%q", name)
}

// numbered lists column numbers: "column 1" or "columns 1, 3".
func numbered(columns []int) string {
	if len(columns) == 1 {
		return fmt.Sprintf("column %d", columns[0])
	}
	s := strings.Trim(fmt.Sprint(columns[:min(len(columns), 10)]), "[]")
	s = "columns " + strings.ReplaceAll(s, " ", ", ")
	if len(columns) > 10 {
		s += ", ..."
	}
	return s
}

// candidates are the delimiters that sniff knows, the likeliest first.
var candidates = []byte{',', ';', '\t', '|'}

// sniff infers the delimiter from the first bytes of a table. It chooses the one that cuts most
// rows into as many fields as the first row, which must be two or more; among equals the one that
// gives more fields. If none does, the table has one column, and the delimiter is a comma. whole
// means that sample is the whole table; otherwise its last row is ignored if there are others.
func sniff(sample []byte, whole bool) byte {
	best, bestShare, bestColumns := candidates[0], 0.0, 1
	for _, delim := range candidates {
		t := NewTokenizer(Dialect{Delimiter: delim}, 0)
		t.Reset(sample, 1)
		var rows, same, columns int
		for t.Next() {
			if !whole && t.pos == len(sample) && rows > 0 {
				break
			}
			rows++
			if rows == 1 {
				columns = t.Len()
			}
			if t.Len() == columns && !t.Bad() {
				same++
			}
		}
		if columns < 2 {
			continue
		}
		share := float64(same) / float64(rows)
		if bestColumns == 1 || share > bestShare || share == bestShare && columns > bestColumns {
			best, bestShare, bestColumns = delim, share, columns
		}
	}
	return best
}
