package csvscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/optname"
)

const (
	toParquet = ": write it as Parquet or CSV, for example with pandas"
	pickled   = "a pickle of Python" + toParquet
)

// refuse returns an error for the beginning of a file that is not text, or of what it holds
// compressed.
func refuse(head []byte) error {
	useImages := fmt.Sprintf(": %s takes images", optname.ConvertImages)
	useTable := fmt.Sprintf(": %s takes it", optname.ConvertTable)
	const noTable = ", which has no table: check the path"
	const toCSV = ": save its tables as CSV"
	for _, f := range []struct{ magic, is string }{
		{"PK\x03\x04", zipped(head, useTable)},
		{"BZh", "compressed with bzip2: unpack it with bunzip2"},
		{"\xfd7zXZ\x00", "compressed with xz: unpack it with unxz"},
		{"PAR1", "Parquet" + useTable},
		{"\xd0\xcf\x11\xe0", "an old Office document" + toCSV},
		{"%PDF-", "a PDF" + toCSV},
		{"\xff\xd8\xff", "a JPEG image" + useImages},
		{"\x89PNG\r\n\x1a\n", "a PNG image" + useImages},
		{"GIF8", "a GIF image" + useImages},
		{"RIFF", "a WebP image or another RIFF file" + useImages},
		{"II*\x00", "a TIFF image" + useImages},
		{"MM\x00*", "a TIFF image" + useImages},
		{"\x93NUMPY", "a NumPy array" + useTable},
		{"ARROW1\x00\x00", "an Arrow file" + useTable},
		{"SQLite format 3\x00", "an SQLite database: export a table as CSV"},
		{"\x89HDF\r\n\x1a\n", "HDF5: export its arrays with h5py and numpy.savez"},
		{"Obj\x01", "Avro" + toParquet},
		{"ORC", "ORC" + toParquet},
		{"\x80\x02", pickled},
		{"\x80\x03", pickled},
		{"\x80\x04", pickled},
		{"\x80\x05", pickled},
		{"\x7fELF", "a program" + noTable},
		{"MZ\x90\x00", "a program" + noTable},
		{"\xcf\xfa\xed\xfe", "a program" + noTable},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return fmt.Errorf("%w but %s", ErrFormat, f.is)
		}
	}
	return nil
}

// zipped describes the kind of a zip file by its first members, with advice.
func zipped(head []byte, useTable string) string {
	for rest := head; ; {
		const signature, size, name = "PK\x03\x04", 26, 30
		i := bytes.Index(rest, []byte(signature))
		if i < 0 || len(rest) < i+name {
			return "a zip archive: unpack it"
		}
		rest = rest[i:]
		member := rest[name:min(len(rest), name+int(binary.LittleEndian.Uint16(rest[size:])))]
		switch {
		case bytes.HasPrefix(member, []byte("xl/")):
			return "a spreadsheet of Excel: save it as CSV"
		case string(member) == "mimetype" && bytes.Contains(rest[:min(len(rest), 200)], []byte("opendocument.spreadsheet")):
			return "an OpenDocument spreadsheet: save it as CSV"
		case bytes.HasSuffix(member, []byte(".npy")):
			return "NumPy arrays" + useTable
		}
		rest = rest[len(signature):]
	}
}

// checkEncoding returns an error for text in an encoding that does not include ASCII as single
// bytes, and otherwise the length of a UTF-8 byte order mark.
func checkEncoding(head []byte, name string) (int, error) {
	is := ""
	const iconv = "convert it with: iconv -f %s -t UTF-8 %q > utf8.csv"
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return 3, nil
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return 0, fmt.Errorf("%w: it is UTF-32: "+iconv, ErrEncoding, "UTF-32", name)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return 0, fmt.Errorf("%w: it is UTF-16: "+iconv, ErrEncoding, "UTF-16", name)
	case len(head) >= 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		is = "UTF-16LE"
	case len(head) >= 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		is = "UTF-16BE"
	default:
		return 0, nil
	}
	return 0, fmt.Errorf("%w: it is %s: "+iconv+"; %s takes it as a table", ErrEncoding, is, is, name, optname.ConvertTable.With(optname.CSVOptionsEncoding))
}

// refuseControl returns an error if the first row of a table has control characters that no text has:
// C0, DEL and C1. Bell to carriage return and escape are accepted, as some names have the colours of a
// terminal, and so are the marks that right-to-left scripts need: package printable keeps them all from
// the terminal.
func refuseControl(sample []byte, delim byte) error {
	row := sample
	if end := bytes.IndexAny(sample, "\r\n"); end >= 0 {
		row = sample[:end]
	}
	for i := 0; i < len(row); {
		r, n := utf8.DecodeRune(row[i:])
		if accepted := '\a' <= r && r <= '\r' || r == 0x1b || r == rune(delim); unicode.IsControl(r) && !accepted {
			return fmt.Errorf("%w but binary: its first row has the control character %#02x at byte %d: %s takes Parquet, Arrow and NumPy", ErrFormat, r, i, optname.ConvertTable)
		}
		i += n
	}
	return nil
}
