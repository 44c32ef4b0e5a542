package textfile

import (
	"bufio"
	"io"
)

// Decoder reads text of another encoding as UTF-8.
type Decoder struct {
	// Marks reports whether a text that begins so, with four bytes if it has as many, is to be decoded.
	// Default: all texts are.
	Marks func(head []byte) bool
	// Reader returns the text of r in UTF-8.
	Reader func(r io.Reader) io.Reader
}

// markSize is how much of a text Decoder.Marks is given.
const markSize = 4

// decodes reports whether the texts of a file are, or may be, other bytes than those that are stored.
func (d *Decoder) decodes(head []byte) bool {
	return d != nil && (d.Marks == nil || d.Marks(head[:min(len(head), markSize)]))
}

// decode returns the text of r, which is compressed or not, in UTF-8.
func (d *Decoder) decode(r io.Reader) (io.Reader, error) {
	switch {
	case d == nil:
		return r, nil
	case d.Marks == nil:
		return d.Reader(r), nil
	}
	in := bufio.NewReaderSize(r, compressedBuffer)
	head, err := in.Peek(markSize)
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case d.Marks(head):
		return d.Reader(in), nil
	}
	return in, nil
}
