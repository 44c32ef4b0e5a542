package archive

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/codec/inflate"
)

// compression of a tar file.
type compression int

const (
	none compression = iota
	gzipped
	zstandard
)

// compressionOf recognises a compression by the first bytes of a file.
func compressionOf(head []byte) compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzipped
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstandard
	}
	return none
}

const (
	// compressedBuffer is the size of reads of a gzip file.
	compressedBuffer = 128 << 10
	// maxWindow bounds the memory that a zstd stream may require.
	maxWindow = 128 << 20
	// A file may expand to maxRatio times its size, plus maxExpanded bytes. Beyond that it is
	// made to exhaust resources: gzip cannot do more than 1032 times.
	maxRatio    = 1032
	maxExpanded = 1 << 30
)

// decompress returns the content of the file in, and a function that frees the decompressor.
func (a *Archive) decompress(in io.Reader) (io.Reader, func(), error) {
	var r io.Reader = in
	done := func() {}
	switch a.compression {
	case gzipped:
		file := &inflate.File{Buffer: make([]byte, compressedBuffer)}
		file.Reset(in)
		z := new(inflate.Reader)
		z.Reset(file, inflate.Gzip)
		r = z
	case zstandard:
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		r, done = z, z.Close
	}
	return &expanding{r: r, left: maxExpanded + maxRatio*min(a.size, 1<<40)}, done, nil
}

// expanding ends a stream that expands to too much.
type expanding struct {
	r    io.Reader
	left int64
}

func (e *expanding) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, fmt.Errorf("the archive expands to more than %d times its size", maxRatio)
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.ErrUnexpectedEOF { // which io.ReadFull would take for its own
		err = errCut
	}
	return n, err
}
