package csvscan

import (
	"bytes"
	"fmt"
)

// refuse returns an error for the first bytes of a file that is not text, compressed or not.
func refuse(head []byte) error {
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
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return fmt.Errorf("%w but %s", ErrFormat, f.is)
		}
	}
	return nil
}

const (
	useImages = ": convert.Images takes images"
	useTable  = ": convert.Table takes it"
)

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
