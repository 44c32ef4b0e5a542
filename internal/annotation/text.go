package annotation

import (
	"bytes"
	"errors"
	"iter"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// Text returns a file's text without its byte order mark. It is an error if it is not UTF-8.
func Text(data []byte) ([]byte, error) {
	text, err := TrimMark(data)
	if err == nil && !utf8.Valid(text) {
		err = errors.New("it is not UTF-8 text")
	}
	return text, err
}

// TrimMark returns a file's text without its byte order mark. It is an error if that is of UTF-16.
func TrimMark(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errors.New("it is UTF-16: save it as UTF-8")
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// Lines yields the lines of a text that are not blank, which end in LF or CRLF, with their numbers
// from 1 and without the blanks around them.
func Lines(text []byte) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		for n := int64(1); len(text) > 0; n++ {
			line := text
			if i := bytes.IndexByte(text, '\n'); i >= 0 {
				line, text = text[:i], text[i+1:]
			} else {
				text = nil
			}
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(n, line) {
				return
			}
		}
	}
}

// Side returns the width or height of an image, which a number in a file states; 0 if it is not one.
func Side(text []byte) int {
	if v, ok := csvscan.ParseFloat64(text); ok && v >= 1 && v <= math.MaxInt32 && v == math.Trunc(v) {
		return int(v)
	}
	return 0
}

// shorten cuts a reason that quotes much of a file.
func shorten(reason string) string {
	const most = 300
	if len(reason) <= most {
		return reason
	}
	return strings.ToValidUTF8(reason[:most], "") + "..."
}
