package csvscan

import (
	"errors"
	"fmt"
)

// Errors that a caller may want to distinguish; all are wrapped in an *Error.
var (
	// ErrEmpty means that the file has neither header nor rows.
	ErrEmpty = errors.New("the file is empty: no header and no rows")
	// ErrEncoding means that the text is UTF-16 or UTF-32.
	ErrEncoding = errors.New("not UTF-8 or another encoding that contains ASCII")
	// ErrFormat means that the file is a binary format, not a table of text.
	ErrFormat = errors.New("not a CSV file")
	// ErrHeader means that the column names can't be used.
	ErrHeader = errors.New("bad header")
	// ErrOpenQuote means that a quote was never closed.
	ErrOpenQuote = errors.New("a quote opens here and is never closed")
	// ErrRowTooLong means that a row is longer than Options.MaxRow.
	ErrRowTooLong = errors.New("row too long")
	// ErrChanged means that a chunk no longer holds the bytes that Scan saw.
	ErrChanged = errors.New("the file changed while it was being read")
	// ErrDistinct means that a column has too many different values to list.
	ErrDistinct = errors.New("too many different values")
	// ErrRagged means that a row has too few or too many fields.
	ErrRagged = errors.New("wrong number of fields")
	// ErrAfterQuote means that text follows a closing quote.
	ErrAfterQuote = errors.New("text after a closing quote")
)

// Error locates a fault in a table.
type Error struct {
	Name string // the file; empty for one found by a Tokenizer on its own
	Line int64  // the line, from 1; 0 when the whole file is meant
	Err  error
}

// Error returns the position and the fault: "trips.csv: line 7: ...".
func (e *Error) Error() string {
	switch {
	case e.Name == "":
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	case e.Line == 0:
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s: line %d: %v", e.Name, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
