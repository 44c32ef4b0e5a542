package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/tfrec/tfrec/internal/printable"
)

// terminalOf returns the terminal that a command writes to; nil if it is none.
func terminalOf(w io.Writer) *os.File {
	if r, ok := w.(*ResultWriter); ok {
		w = r.w
	}
	if p, ok := w.(*printable.Writer); ok {
		w = p.Unwrap()
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// columnsOf returns the width of a terminal in columns, or otherwise if it does not have one.
func columnsOf(f *os.File, otherwise int) int {
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return otherwise
}
