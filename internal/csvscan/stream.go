package csvscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/storage"
)

// Compression of a file, inferred from its first bytes.
type Compression string

// The compressions that are read.
const (
	None Compression = "none"
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// maxWindow bounds the memory that a zstd stream may ask for.
const maxWindow = 128 << 20

// detect tells the compression from the first bytes of a file, and refuses what is not text under
// any of them.
func detect(head []byte) (Compression, error) {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd, nil
	}
	for _, f := range []struct{ magic, is string }{
		{"PK\x03\x04", "a zip archive or a spreadsheet: unpack it, or save it as CSV"},
		{"BZh", "compressed with bzip2: unpack it with bunzip2"},
		{"\xfd7zXZ\x00", "compressed with xz: unpack it with unxz"},
		{"PAR1", "Parquet: export it as CSV"},
		{"\xd0\xcf\x11\xe0", "an old Office document: save it as CSV"},
		{"%PDF-", "a PDF"},
		{"\xff\xd8\xff", "a JPEG image" + useImages},
		{"\x89PNG\r\n\x1a\n", "a PNG image" + useImages},
		{"GIF8", "a GIF image" + useImages},
		{"RIFF", "a WebP image or another RIFF file" + useImages},
		{"II*\x00", "a TIFF image" + useImages},
		{"MM\x00*", "a TIFF image" + useImages},
		{"\x93NUMPY", "a NumPy array: save it as CSV"},
		{"ARROW1\x00\x00", "an Arrow file: save it as CSV"},
		{"SQLite format 3\x00", "an SQLite database: export a table as CSV"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return None, fmt.Errorf("%w but %s", ErrFormat, f.is)
		}
	}
	return None, nil
}

const useImages = ": convert.Images takes images"

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

// stream is the uncompressed content of a file from its start on.
type stream struct {
	io.Reader
	file  storage.File // that it was opened from, by a Source
	close func()
}

// newStream decompresses r. The stream's close frees the decompressor.
func newStream(r io.Reader, c Compression) (*stream, error) {
	switch c {
	case Gzip:
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", noEOF(err))
		}
		return &stream{Reader: wholeReader{z}, close: func() {}}, nil
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", noEOF(err))
		}
		return &stream{Reader: wholeReader{z}, close: z.Close}, nil
	}
	return &stream{Reader: r, close: func() {}}, nil
}

// errShort is what io.ReadFull says at the end of a stream; a decompressor's
// own io.ErrUnexpectedEOF must not be taken for it.
var errShort = io.ErrUnexpectedEOF

// errTruncated stands for a decompressor's io.ErrUnexpectedEOF. It doesn't
// unwrap to that, so that io.ReadFull's stays the only one.
var errTruncated = errors.New("the compressed file is cut short")

// wholeReader marks a compressed stream that ends too early, which
// io.ReadFull would pass off as a short but whole one.
type wholeReader struct{ r io.Reader }

func (w wholeReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("decompressing: %w", noEOF(err))
	}
	return n, err
}

// noEOF replaces an end of input inside a compressed stream.
func noEOF(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return errTruncated
	}
	return err
}
