package png

import (
	"errors"
	"io"

	"github.com/tfrec/tfrec/internal/codec/inflate"
)

// Place is the position of the pixels of a row: Width pixels in row Y of the image, at X and every
// Step after it.
type Place struct{ X, Y, Step, Width int }

// passes are the starts of the passes of Adam7, and the distances of their pixels.
var passes = [7]struct{ x, y, dx, dy int }{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// Reader reads one file at a time. Its zero value is ready for [Reader.Reset].
type Reader struct {
	Header

	data  []byte
	at    int // how far data is read
	stage stage
	first []byte // the first chunk IDAT, until it is decompressed
	size  int    // of the chunk IDAT that is decompressed
	begun int64  // bytes in those before it

	inflate inflate.Reader
	pass7   int   // of Adam7, beginning with 0; 7: no rows are left
	next    Place // of the row
	dy      int   // from one row of the pass to the next
	rows    [2][]byte
	zeros   []byte
	above   []byte // the row before this one
	err     error
}

// Reset begins a file and reads everything before the pixels. Errors are [*Error]. It fills in the
// Header but allocates no memory for the pixels: the caller must check the size.
func (r *Reader) Reset(data []byte) error {
	r.data, r.at, r.stage, r.first, r.err = data, len(Signature), atStart, nil, nil
	r.Header = Header{}
	if len(data) < len(Signature) || string(data[:len(Signature)]) != Signature {
		r.err = faulty(0, "no signature")
		return r.err
	}
	c, err := r.walk("IDAT")
	if err != nil {
		r.err = err
		return err
	}
	r.first, r.size, r.begun = c.body, 0, 0
	r.inflate.Reset(r, inflate.Zlib)
	r.pass7, r.above = -1, nil
	if r.Interlaced {
		r.nextPass()
	} else {
		r.pass7, r.dy, r.next = 6, 1, Place{Step: 1, Width: r.Width}
	}
	return nil
}

// Release drops the file, and memory beyond the amount for small images.
func (r *Reader) Release() {
	r.data, r.first, r.above = nil, nil, nil
	r.inflate.Release()
	if len(r.zeros) > keptRow {
		r.zeros, r.rows = nil, [2][]byte{}
	}
}

// keptRow is the length of the longest rows whose memory is kept for other files, in bytes.
const keptRow = 1 << 20

// nextPass goes to the next pass of Adam7 that has pixels.
func (r *Reader) nextPass() {
	r.above = nil
	for r.pass7++; r.pass7 < len(passes); r.pass7++ {
		p := passes[r.pass7]
		if p.x < r.Width && p.y < r.Height {
			r.next, r.dy = Place{X: p.x, Y: p.y, Step: p.dx, Width: (r.Width - p.x + p.dx - 1) / p.dx}, p.dy
			return
		}
	}
}

// RowBytes returns the number of bytes in a row of n pixels.
func (h *Header) RowBytes(n int) int { return (n*h.bits() + 7) / 8 }

// Memory returns an upper bound on the bytes that a Reader needs for a file with rows of rowBytes
// bytes, in addition to the 256 KiB that it keeps for the next file.
func Memory(rowBytes int) int64 { return 5 * int64(rowBytes) }

// Next returns the stored samples of the next row, and the place of their pixels. It decodes them
// into dst if that is long enough (RowBytes), otherwise into its own memory. They must not be
// changed before the next call but one. After the last row it reads the rest of the file and
// returns io.EOF; any other error is an [*Error].
func (r *Reader) Next(dst []byte) ([]byte, Place, error) {
	if r.err != nil {
		return nil, Place{}, r.err
	}
	if r.pass7 == len(passes) {
		r.err = r.finish()
		return nil, Place{}, r.err
	}
	at := r.next
	n := r.RowBytes(at.Width)
	packed, err := r.inflate.Next(1 + n)
	if err != nil {
		r.err = r.fault(err)
		return nil, at, r.err
	}
	if len(dst) < n {
		dst = r.own(n)
	}
	dst = dst[:n]
	above := r.above
	if above == nil {
		r.reserve(n)
		above = r.zeros[:n]
	}
	if packed[0] > paeth {
		r.err = faulty(r.position(), "unknown filter %d of row %d", packed[0], at.Y)
		return nil, at, r.err
	}
	unfilter(packed[0], dst, packed[1:], above, max(1, r.bits()/8))
	r.above = dst
	if r.next.Y += r.dy; r.next.Y >= r.Height {
		if r.Interlaced {
			r.nextPass()
		} else {
			r.pass7 = len(passes)
		}
	}
	return dst, at, nil
}

// own returns memory for a row that does not overlap the row above.
func (r *Reader) own(n int) []byte {
	r.reserve(n)
	if r.above != nil && &r.above[0] == &r.rows[0][0] {
		return r.rows[1]
	}
	return r.rows[0]
}

// reserve makes room for rows, the longest of which the first one of a file need not be.
func (r *Reader) reserve(n int) {
	if len(r.zeros) >= n {
		return
	}
	n = r.RowBytes(r.Width)
	for _, p := range []*[]byte{&r.zeros, &r.rows[0], &r.rows[1]} {
		*p = make([]byte, n)
	}
}

// finish reads the file from the last row on.
func (r *Reader) finish() error {
	if extra, err := r.inflate.Next(1); len(extra) > 0 {
		return faulty(r.position(), "more pixel data than for %dx%d", r.Width, r.Height)
	} else if err != io.EOF {
		return r.fault(err)
	}
	if _, err := r.walk("IEND"); err != nil {
		return err
	}
	return io.EOF
}

// position returns the position in the file up to which the pixel data are decompressed.
func (r *Reader) position() int {
	used := int(r.inflate.Consumed() - r.begun)
	return r.at - 4 - r.size + max(0, min(used, r.size))
}

// fault returns the error for a fault in the pixel data.
func (r *Reader) fault(err error) error {
	var in *inflate.Error
	row := min(r.next.Y, r.Height-1)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return faulty(r.position(), "the pixel data end in row %d of %d", row, r.Height)
	case errors.As(err, &in) && in.Checksum:
		return faulty(r.position(), "wrong checksum (Adler-32) of the pixels")
	case errors.As(err, &in):
		return faulty(r.position(), "the pixel data of row %d have %s", row, in.Reason)
	}
	return err
}
