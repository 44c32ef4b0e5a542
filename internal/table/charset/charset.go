// Package charset reads tables that are not UTF-8, by the names of WHATWG's Encoding Standard
// (https://encoding.spec.whatwg.org).
package charset

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/tfrec/tfrec/internal/store/textfile"
)

// Charset is how the characters of a file are stored. The zero value is bytes as they are, and UTF-16
// for a file that begins with its byte order mark.
type Charset struct {
	name string
	of   encoding.Encoding
}

// Parse returns the charset of a name, such as latin1, cp1252, shift_jis or gbk. "" and utf-8 are the zero
// value. Latin-1 is Windows-1252 in the standard, which has characters in place of control codes.
func Parse(name string) (Charset, error) {
	if name == "" {
		return Charset{}, nil
	}
	of, err := htmlindex.Get(name)
	if err != nil {
		return Charset{}, fmt.Errorf("unknown encoding %q: want one of WHATWG's, such as utf-8, latin1, cp1252, utf-16le, shift_jis or gbk", name)
	}
	canonical, err := htmlindex.Name(of)
	if err != nil || canonical == "utf-8" {
		return Charset{}, err
	}
	return Charset{canonical, of}, nil
}

// String returns the name in the standard; "" for the zero value.
func (c Charset) String() string { return c.name }

// Decoder returns what reads files of the charset.
func (c Charset) Decoder() *textfile.Decoder {
	if c.of == nil {
		return &textfile.Decoder{Marks: marked, Reader: func(r io.Reader) io.Reader {
			return transform.NewReader(r, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder())
		}}
	}
	return &textfile.Decoder{Reader: func(r io.Reader) io.Reader {
		return &strictReader{r: transform.NewReader(r, c.of.NewDecoder()), charset: c}
	}}
}

// marked reports whether a text begins with the mark of UTF-16, and not of UTF-32.
func marked(head []byte) bool {
	return (bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))) && !bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00"))
}

// ErrCharacter means that bytes are no character of the charset.
var ErrCharacter = errors.New("bytes that are no character")

// strictReader reports bytes that are no characters, for which decoders give U+FFFD. Of the charsets
// that have names, those of UTF-16 alone have this character, and lone surrogates become it.
type strictReader struct {
	r       io.Reader
	charset Charset
	read    int64
	last    []byte // the last two bytes that were read
}

const replacement = "\uFFFD"

func (s *strictReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	at := bytes.Index(p[:n], []byte(replacement))
	if bytes.Contains(append(s.last, p[:min(n, 2)]...), []byte(replacement)) {
		at = 0
	}
	if at >= 0 {
		return 0, fmt.Errorf("%w of %s, after %d bytes of text", ErrCharacter, s.charset, s.read+int64(at))
	}
	s.last = append(s.last, p[max(0, n-2):n]...)
	s.last = append(s.last[:0], s.last[max(0, len(s.last)-2):]...)
	s.read += int64(n)
	return n, err
}
