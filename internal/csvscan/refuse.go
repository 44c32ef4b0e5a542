package csvscan

import (
	"bytes"
	"fmt"

	"github.com/tfrec/tfrec/internal/optname"
)

// refuse returns an error for the first bytes of a file that is not text, or of what it holds
// compressed.
func refuse(head []byte) error {
	useImages := fmt.Sprintf(": %s takes images", optname.ConvertImages)
	useTable := fmt.Sprintf(": %s takes it", optname.ConvertTable)
	const toParquet = ": write it as Parquet or CSV, for example with pandas"
	for _, f := range []struct{ magic, is string }{
		{"PK\x03\x04", "a zip archive or a spreadsheet: unpack it, or save it as CSV"},
		{"BZh", "compressed with bzip2: unpack it with bunzip2"},
		{"\xfd7zXZ\x00", "compressed with xz: unpack it with unxz"},
		{"PAR1", "Parquet" + useTable},
		{"\xd0\xcf\x11\xe0", "an old Office document: save it as CSV"},
		{"%PDF-", "a PDF"},
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
		{"\x80\x02", "a pickle of Python" + toParquet},
		{"\x80\x03", "a pickle of Python" + toParquet},
		{"\x80\x04", "a pickle of Python" + toParquet},
		{"\x80\x05", "a pickle of Python" + toParquet},
		{"\x7fELF", "a program"},
		{"MZ\x90\x00", "a program"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return fmt.Errorf("%w but %s", ErrFormat, f.is)
		}
	}
	return nil
}

// checkEncoding refuses text that isn't made of single bytes where ASCII is
// meant, and returns the length of a UTF-8 byte order mark.
func checkEncoding(head []byte, name string) (int, error) {
	is := ""
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return 3, nil
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		is = "UTF-32"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		is = "UTF-16"
	case len(head) >= 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		is = "UTF-16LE"
	case len(head) >= 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		is = "UTF-16BE"
	default:
		return 0, nil
	}
	return 0, fmt.Errorf("%w: it is %s: convert it with: iconv -f %s -t UTF-8 %q > utf8.csv", ErrEncoding, is, is, name)
}

// refuseControl returns an error if the first row of a table has control characters that no text has.
// Escape is none of them: some names have the colours of a terminal.
func refuseControl(sample []byte, delim byte) error {
	row := sample
	if end := bytes.IndexAny(sample, "\r\n"); end >= 0 {
		row = sample[:end]
	}
	for i, c := range row {
		if (c < '\a' || c > '\r' && c < ' ' && c != 0x1b) && c != delim {
			return fmt.Errorf("%w but binary: its first row has the control character %#02x at byte %d", ErrFormat, c, i)
		}
	}
	return nil
}
