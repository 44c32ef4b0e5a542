package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs, by their number in the file.
const (
	codecNone      = 0
	codecSnappy    = 1
	codecGzip      = 2
	codecBrotli    = 4
	codecLZ4Hadoop = 5 // as Hadoop frames it or, by early versions of parquet-cpp, not at all
	codecZstd      = 6
	codecLZ4       = 7
)

// stepSize is the memory that a page gets before its bytes arrive.
const stepSize = 8 << 20

var (
	zstdReaders = sync.Pool{New: func() any {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
		return r
	}}
	gzipReaders sync.Pool
)

// maxWindow is the largest window of zstd that is accepted.
const maxWindow = 128 << 20

// decompress returns the size bytes that src holds, in dst if its capacity is enough. A source that
// has any other number of them is an error, and takes no more memory than it has bytes.
func decompress(codec int, dst, src []byte, size int64) (plain []byte, err error) {
	// The codecs are third-party code, and their input is not validated.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the codec failed: %v", r)
		}
	}()
	if size == 0 && len(src) == 0 {
		return dst[:0], nil
	}
	switch codec {
	case codecNone:
		if int64(len(src)) != size {
			return nil, wrongSize(int64(len(src)), size)
		}
		return src, nil
	case codecSnappy:
		n, err := snappy.DecodedLen(src)
		if err != nil {
			return nil, err
		}
		// No element of Snappy makes more than 64 bytes of 2.
		if int64(n) != size || size > 32*int64(len(src))+64 {
			return nil, wrongSize(int64(n), size)
		}
		return snappy.Decode(grown(dst, size), src)
	case codecLZ4, codecLZ4Hadoop:
		if size > 256*int64(len(src))+64 {
			return nil, wrongSize(256*int64(len(src)), size)
		}
		dst = grown(dst, size)
		if codec == codecLZ4Hadoop && hadoop(dst, src) {
			return dst, nil
		}
		n, err := lz4.UncompressBlock(src, dst)
		if err == nil && int64(n) != size {
			err = wrongSize(int64(n), size)
		}
		return dst, err
	case codecZstd:
		r, ok := zstdReaders.Get().(*zstd.Decoder)
		if !ok {
			return nil, fmt.Errorf("no zstd")
		}
		defer zstdReaders.Put(r)
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		return fill(dst, r, size)
	case codecGzip:
		r, _ := gzipReaders.Get().(*gzip.Reader)
		if r == nil {
			r = new(gzip.Reader)
		}
		defer gzipReaders.Put(r)
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		return fill(dst, r, size)
	case codecBrotli:
		return fill(dst, brotli.NewReader(bytes.NewReader(src)), size)
	}
	return nil, fmt.Errorf("compression codec %d: want none, Snappy, gzip, Brotli, zstd or LZ4", codec)
}

// hadoop decompresses blocks of LZ4 that each follow their sizes, uncompressed and compressed, in big
// endian. It reports whether they fill dst.
func hadoop(dst, src []byte) bool {
	for len(src) >= 8 {
		size, packed := int64(binary.BigEndian.Uint32(src)), int64(binary.BigEndian.Uint32(src[4:]))
		if src = src[8:]; size > int64(len(dst)) || packed > int64(len(src)) {
			return false
		}
		if n, err := lz4.UncompressBlock(src[:packed], dst[:size]); err != nil || int64(n) != size {
			return false
		}
		dst, src = dst[size:], src[packed:]
	}
	return len(dst) == 0 && len(src) == 0
}

func wrongSize(got, want int64) error {
	return fmt.Errorf("%d bytes where the page header claims %d", got, want)
}

func grown(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		b = make([]byte, n)
	}
	return b[:n]
}

// fill reads size bytes, which must be all, with memory that grows as they arrive.
func fill(dst []byte, r io.Reader, size int64) ([]byte, error) {
	for have := int64(0); have < size; {
		next := min(size, max(2*have, stepSize))
		if int64(cap(dst)) < next {
			more := make([]byte, next)
			copy(more, dst[:have])
			dst = more
		}
		dst = dst[:next]
		n, err := io.ReadFull(r, dst[have:])
		have += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, wrongSize(have, size)
		}
		if err != nil {
			return nil, err
		}
	}
	var one [1]byte
	if n, err := io.ReadFull(r, one[:]); n > 0 {
		return nil, fmt.Errorf("more than the %d bytes that the page header claims", size)
	} else if err != io.EOF {
		return nil, err
	}
	return dst[:size], nil
}
