// Package printable keeps control characters that come from data and from file names away from
// terminals: an ESC or a C1 control can move the cursor, rename the window or answer on the user's
// behalf, and a bidirectional control can make text read as something else.
//
// Names go through [String] where they are put into a line of text. A [Writer] wraps standard
// output and standard error, so that nothing else can reach them.
package printable

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// IsControl reports whether r is a control character: of C0 or C1, DEL, or one that
// changes the direction of text.
func IsControl(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// String returns s with each control character and each byte that is not UTF-8 escaped as in a Go
// string. Backslashes are unchanged.
func String(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, IsControl) {
		return s
	}
	b, _ := appendEscaped(nil, []byte(s), "", true)
	return string(b)
}

// appendEscaped appends p with its control characters escaped, those in keep aside.
// Unless end is set, it leaves out bytes at the end of p that may begin a character,
// and returns them.
func appendEscaped(dst, p []byte, keep string, end bool) (escaped, rest []byte) {
	for len(p) > 0 {
		if !end && !utf8.FullRune(p) {
			return dst, p
		}
		r, n := utf8.DecodeRune(p)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = fmt.Appendf(dst, `\x%02x`, p[0])
		case !IsControl(r) || strings.ContainsRune(keep, r):
			dst = append(dst, p[:n]...)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r < ' ':
			dst = fmt.Appendf(dst, `\x%02x`, r)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		p = p[n:]
	}
	return dst, nil
}

// Writer writes text with its control characters escaped, but for newlines and
// tabs. JSON stays JSON with the same values: there, control characters of C0 are
// escaped already, and all others are in strings, where \u0085 means the same. A
// Writer may be used by several goroutines at a time.
type Writer struct {
	w io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of a character, of the last Write
	buf  []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.w }

// Write writes p, but for bytes at its end that may begin a character: those come
// with the next Write, or with Flush.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) == 0 && isPlain(p) {
		return w.w.Write(p)
	}
	w.rest = append(w.rest, p...)
	var rest []byte
	w.buf, rest = appendEscaped(w.buf[:0], w.rest, "\n\t", false)
	w.rest = append(w.rest[:0], rest...)
	if len(w.buf) > 0 {
		if _, err := w.w.Write(w.buf); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush writes the rest of an incomplete character.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) == 0 {
		return nil
	}
	w.buf, _ = appendEscaped(w.buf[:0], w.rest, "\n\t", true)
	w.rest = w.rest[:0]
	_, err := w.w.Write(w.buf)
	return err
}

// isPlain reports whether p is ASCII without control characters other than newlines
// and tabs, as nearly everything is.
func isPlain(p []byte) bool {
	for _, c := range p {
		if c-' ' >= 0x7f-' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}
