package tfrecord

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ForeignError is the error in record 0 of a file without any records, whose first bytes identify
// another format. An [Error] unwraps to it.
type ForeignError struct {
	// Kind is the format of the file: jpeg, png, gif, bmp, webp, tiff, zip, tar, csv, json,
	// parquet, arrow, npy, npz, hdf5, lmdb, sqlite, pdf, xz, bzip2, 7z or text.
	Kind string
	// Compression is the file's compression, detected or requested.
	Compression Compression
	// Err is the error of reading the file as records.
	Err error
}

// Unwrap returns Err.
func (e *ForeignError) Unwrap() error { return e.Err }

// Error describes the type of the file: "a JPEG image, not a TFRecord file".
func (e *ForeignError) Error() string {
	name := e.Kind
	for _, f := range foreign {
		if f.kind == e.Kind {
			name = f.name
		}
	}
	if e.Compression != CompressionNone {
		name += " compressed with " + e.Compression.String()
	}
	return name + ", not a TFRecord file"
}

// foreign are the recognized formats, in the order in which they are tried: those with magic bytes
// first.
var foreign = []struct {
	kind, name string
	is         func(head []byte) bool
}{
	{"jpeg", "a JPEG image", magic(0, "\xff\xd8\xff")},
	{"png", "a PNG image", magic(0, "\x89PNG\r\n\x1a\n")},
	{"gif", "a GIF image", func(h []byte) bool { return magic(0, "GIF87a")(h) || magic(0, "GIF89a")(h) }},
	{"bmp", "a BMP image", func(h []byte) bool {
		return magic(0, "BM")(h) && magic(6, "\x00\x00\x00\x00")(h) && magic(15, "\x00\x00\x00")(h)
	}},
	{"webp", "a WebP image", func(h []byte) bool { return magic(0, "RIFF")(h) && magic(8, "WEBP")(h) }},
	{"tiff", "a TIFF image", func(h []byte) bool { return magic(0, "II*\x00")(h) || magic(0, "MM\x00*")(h) }},
	{"npz", "a NumPy .npz archive", isNPZ},
	{"zip", "a zip archive", func(h []byte) bool { return magic(0, "PK\x03\x04")(h) || magic(0, "PK\x05\x06")(h) }},
	{"tar", "a tar archive", magic(257, "ustar")},
	{"parquet", "a Parquet file", magic(0, "PAR1")},
	{"arrow", "an Arrow file", magic(0, "ARROW1\x00\x00")},
	{"npy", "a NumPy .npy array", magic(0, "\x93NUMPY")},
	{"hdf5", "an HDF5 file", magic(0, "\x89HDF\r\n\x1a\n")},
	{"lmdb", "an LMDB database", magic(16, "\xde\xc0\xef\xbe")},
	{"sqlite", "an SQLite database", magic(0, "SQLite format 3\x00")},
	{"pdf", "a PDF document", magic(0, "%PDF-")},
	{"xz", "an xz file", magic(0, "\xfd7zXZ\x00")},
	{"bzip2", "a bzip2 file", func(h []byte) bool { return magic(0, "BZh")(h) && magic(4, "1AY&SY")(h) }},
	{"7z", "a 7z archive", magic(0, "7z\xbc\xaf\x27\x1c")},
	{"json", "JSON text", func(h []byte) bool { return isText(h) && isJSON(h) }},
	{"csv", "a CSV table", func(h []byte) bool { return isText(h) && isCSV(h) }},
	{"text", "text", isText},
}

// recognizeSize is the maximum number of bytes that recognize examines.
const recognizeSize = 16 << 10

// recognize returns the format of a file without records, by its first bytes; "" if unknown.
func recognize(head []byte) (kind string) {
	head = head[:min(len(head), recognizeSize)]
	for _, f := range foreign {
		if f.is(head) {
			return f.kind
		}
	}
	return ""
}

func magic(at int, bytes string) func(head []byte) bool {
	return func(head []byte) bool {
		return len(head) >= at+len(bytes) && string(head[at:at+len(bytes)]) == bytes
	}
}

// isNPZ reports whether the first member of a zip archive is an array.
func isNPZ(head []byte) bool {
	const header = 30
	if !magic(0, "PK\x03\x04")(head) || len(head) < header {
		return false
	}
	name := head[header:]
	return strings.HasSuffix(string(name[:min(len(name), int(binary.LittleEndian.Uint16(head[26:])))]), ".npy")
}

// minText is the minimum length of text: with fewer bytes, damaged files could pass for text.
const minText = 8

// isText reports whether head is UTF-8 without control characters. Its last character may be cut
// off.
func isText(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if len(head) < minText {
		return false
	}
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		switch {
		case r == utf8.RuneError && n == 1:
			return !utf8.FullRune(head)
		case unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f", r):
			return false
		}
		head = head[n:]
	}
	return true
}

// isJSON reports whether text begins like a JSON object or array.
func isJSON(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	d := json.NewDecoder(bytes.NewReader(text))
	for i := range 3 {
		token, err := d.Token()
		if _, opens := token.(json.Delim); i == 0 && !opens {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
	return true
}

// isCSV reports whether the first two lines of text have the same number of fields, more than one.
func isCSV(text []byte) bool {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	second, _, whole := bytes.Cut(rest, []byte("\n"))
	for _, delimiter := range ",\t;|" {
		n := delimiters(first, delimiter)
		if m := delimiters(second, delimiter); n > 0 && (m == n || m < n && m > 0 && !whole) {
			return true
		}
	}
	return false
}

// delimiters counts the delimiters in a line, except those in quotes.
func delimiters(line []byte, delimiter rune) (n int) {
	quoted := false
	for _, r := range string(line) {
		switch r {
		case '"':
			quoted = !quoted
		case delimiter:
			if !quoted {
				n++
			}
		}
	}
	return n
}
