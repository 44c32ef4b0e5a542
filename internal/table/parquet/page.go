package parquet

import (
	"fmt"
	"hash/crc32"
	"io"
)

// Limits of pages, as their headers claim them.
const (
	maxPage       = 1 << 30  // bytes, compressed and not
	maxPageValues = 1 << 24  // nulls included
	maxHeader     = 16 << 20 // bytes
)

// Kinds of pages.
const (
	pageData       = 0
	pageIndex      = 1
	pageDictionary = 2
	pageDataV2     = 3
)

// Encodings.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingBitPacked       = 4
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

// pageHeader is the header of a page.
type pageHeader struct {
	kind                     int
	uncompressed, compressed int64
	values                   int64
	encoding                 int
	repEncoding, defEncoding int   // of version 1
	nulls, rows              int64 // of version 2
	repBytes, defBytes       int64 // of version 2
	plain                    bool  // of version 2: the values are not compressed
	crc                      int64 // of the page, if hasCRC
	hasCRC                   bool
}

// parsePageHeader reads the header at the beginning of b and returns its length.
func parsePageHeader(b []byte) (pageHeader, int, error) {
	h, t := pageHeader{kind: -1}, &thrift{b: b}
	fields := func(to map[int64]*int64) func(int64, byte) bool {
		return func(id int64, kind byte) bool {
			v := to[id]
			if v == nil || kind != thriftI32 {
				return false
			}
			*v = t.int()
			return true
		}
	}
	var kind, encoding, rep, def int64 = -1, 0, encodingRLE, encodingRLE
	t.structure(func(id int64, k byte) bool {
		switch {
		case id == 1 && k == thriftI32:
			kind = t.int()
		case id == 2 && k == thriftI32:
			h.uncompressed = t.int()
		case id == 3 && k == thriftI32:
			h.compressed = t.int()
		case id == 4 && k == thriftI32:
			h.crc, h.hasCRC = t.int(), true
		case id == 5 && k == thriftStruct:
			t.structure(fields(map[int64]*int64{1: &h.values, 2: &encoding, 3: &def, 4: &rep}))
		case id == 7 && k == thriftStruct:
			t.structure(fields(map[int64]*int64{1: &h.values, 2: &encoding}))
		case id == 8 && k == thriftStruct:
			next := fields(map[int64]*int64{1: &h.values, 2: &h.nulls, 3: &h.rows, 4: &encoding, 5: &h.defBytes, 6: &h.repBytes})
			t.structure(func(id int64, k byte) bool {
				if id == 7 {
					h.plain = k == thriftFalse
				}
				return next(id, k)
			})
		default:
			return false
		}
		return true
	})
	h.kind, h.encoding, h.repEncoding, h.defEncoding = int(kind), int(encoding), int(rep), int(def)
	return h, t.pos, t.err
}

// check returns an error for a header with invalid numbers.
func (h *pageHeader) check(left int64) error {
	switch {
	case h.kind < pageData || h.kind > pageDataV2:
		return fmt.Errorf("a page of type %d", h.kind)
	case h.compressed < 0 || h.compressed > left:
		return fmt.Errorf("a page of %d bytes, of which the column has %d left", h.compressed, left)
	case h.uncompressed < 0 || h.uncompressed > maxPage || h.compressed > maxPage:
		return fmt.Errorf("a page of %d bytes, %d uncompressed: at most %d are read", h.compressed, h.uncompressed, maxPage)
	case h.values < 0 || h.values > maxPageValues:
		return fmt.Errorf("a page of %d values: at most %d are read", h.values, maxPageValues)
	case h.nulls < 0 || h.nulls > h.values || h.rows < 0 || h.rows > h.values:
		return fmt.Errorf("a page of %d values with %d nulls and %d rows", h.values, h.nulls, h.rows)
	case h.repBytes < 0 || h.defBytes < 0 || h.repBytes+h.defBytes > min(h.compressed, h.uncompressed):
		return fmt.Errorf("a page of %d bytes with levels of %d and %d", h.compressed, h.repBytes, h.defBytes)
	}
	return nil
}

// verify compares a page with its checksum, if it has one.
func (h *pageHeader) verify(page []byte) error {
	if got := crc32.ChecksumIEEE(page); h.hasCRC && got != uint32(h.crc) {
		return fmt.Errorf("the checksum is %08x where the page header says %08x: the page is damaged", got, uint32(h.crc))
	}
	return nil
}

// window reads ranges of a column from a file, with read-ahead.
type window struct {
	r     io.ReaderAt
	end   int64 // of the column
	ahead int   // bytes read at a time at least
	first int64 // offset of buf
	buf   []byte
}

// bytes returns n bytes at an offset, fewer at the end of the column. They are valid until the next
// call.
func (w *window) bytes(offset, n int64) ([]byte, error) {
	n = min(n, w.end-offset)
	if n <= 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if at := offset - w.first; at >= 0 && at+n <= int64(len(w.buf)) {
		return w.buf[at : at+n], nil
	}
	size := int(min(max(n, int64(w.ahead)), w.end-offset))
	if cap(w.buf) < size {
		w.buf = make([]byte, size)
	}
	w.first, w.buf = offset, w.buf[:size]
	got, err := w.r.ReadAt(w.buf, offset)
	if got < size {
		w.buf = w.buf[:0]
		if err == io.EOF || err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return w.buf[:n], nil
}

// release gives up the memory of what was read.
func (w *window) release() { w.buf = nil }

// page returns a page and verifies it.
func (w *window) page(h *pageHeader, offset int64) ([]byte, error) {
	if h.compressed == 0 {
		return nil, h.verify(nil)
	}
	b, err := w.bytes(offset, h.compressed)
	if err != nil {
		return nil, err
	}
	return b, h.verify(b)
}

// header reads the page header at an offset, and returns the offset of the page after it.
func (w *window) header(offset int64) (pageHeader, int64, error) {
	for size := int64(1 << 10); ; size *= 8 {
		b, err := w.bytes(offset, size)
		if err != nil {
			return pageHeader{}, 0, err
		}
		h, n, err := parsePageHeader(b)
		if err == errThriftShort && int64(len(b)) == size && size < maxHeader {
			continue
		}
		if err != nil {
			return pageHeader{}, 0, fmt.Errorf("page header: %w", err)
		}
		at := offset + int64(n)
		return h, at, h.check(w.end - at)
	}
}
