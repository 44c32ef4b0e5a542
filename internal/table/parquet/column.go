package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/tfrec/tfrec/internal/table"
)

// pageRef is where a data page is.
type pageRef struct {
	at     int64 // of the header
	before int64 // rows of the row group that begin before it
	size   int64 // uncompressed
}

// column reads a column of a row group. It is for one goroutine.
type column struct {
	leaf  *leaf
	piece *piece
	rows  int64 // of the row group
	kind  table.Kind
	w     window
	pages []pageRef // nil before they are needed

	dictionary *page
	page       *page // own, or one that is shared
	own        page
	current    int // of pages, that page holds; -1 for none

	group  int
	shared *sharedPages
}

// Bytes read at a time: from disk, and from a store, where each read is a request.
const (
	aheadLocal  = 64 << 10
	aheadRemote = 4 << 20
)

// at puts the offset of a page before an error.
func at(offset int64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("page at offset %d: %w", offset, err)
}

// locate finds the pages.
func (c *column) locate(ctx context.Context) error {
	if c.pages != nil {
		return nil
	}
	c.pages = []pageRef{}
	rows, values, offset := int64(0), int64(0), c.piece.start
	for values < c.piece.values {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, body, err := c.w.header(offset)
		if err != nil {
			return at(offset, err)
		}
		if h.kind == pageData || h.kind == pageDataV2 {
			c.pages = append(c.pages, pageRef{offset, rows, h.uncompressed})
			values += h.values
			n, err := c.countRows(&h, body)
			if err != nil {
				return at(offset, err)
			}
			rows += n
		}
		offset = body + h.compressed
	}
	if values != c.piece.values || rows != c.rows {
		return fmt.Errorf("the pages have %d rows with %d values, but the footer says %d with %d", rows, values, c.rows, c.piece.values)
	}
	return nil
}

// countRows returns how many rows begin in a page.
func (c *column) countRows(h *pageHeader, body int64) (rows int64, err error) {
	if !c.leaf.list {
		return h.values, nil
	}
	if h.kind == pageDataV2 {
		return h.rows, nil
	}
	src, err := c.w.page(h, body)
	if err != nil {
		return 0, err
	}
	if src, err = decompress(c.piece.codec, c.own.plain, src, h.uncompressed); err != nil {
		return 0, fmt.Errorf("decompressing: %w", err)
	}
	if c.piece.codec != codecNone {
		c.own.plain = src[:0]
	}
	c.own.rep, _, err = appendLevels(c.own.rep[:0], src, h.repEncoding, 1, int(h.values))
	for _, r := range c.own.rep {
		if r == 0 {
			rows++
		}
	}
	c.current = -1
	return rows, err
}

// load makes a page the current one. A large one is shared with other readers of the column.
func (c *column) load(i int) (err error) {
	if c.current == i {
		return nil
	}
	c.current = -1
	if size := c.pages[i].size; size > largePage {
		c.page, err = c.shared.page(c, i, size, func(p *page) error { return c.decode(p, i) })
	} else {
		c.page = &c.own
		err = c.decode(c.page, i)
	}
	if err == nil {
		c.current = i
	}
	return err
}

// decode decodes a page into p, which may share memory with the window.
func (c *column) decode(p *page, i int) error {
	p.leaf, p.kind = c.leaf, c.kind
	offset := c.pages[i].at
	h, body, err := c.w.header(offset)
	if err != nil {
		return at(offset, err)
	}
	if (h.encoding == encodingDictionary || h.encoding == encodingPlainDictionary) && c.dictionary == nil {
		if err := c.loadDictionary(); err != nil {
			return err
		}
	}
	src, err := c.w.page(&h, body)
	if err == nil {
		err = p.decode(&h, c.piece.codec, src, c.dictionary)
	}
	return at(offset, err)
}

// loadDictionary makes the dictionary, which is the first page, the one of the column. A large one is
// shared with other readers.
func (c *column) loadDictionary() error {
	h, body, err := c.w.header(c.piece.start)
	if err != nil {
		return at(c.piece.start, err)
	}
	if h.kind != pageDictionary {
		return at(c.piece.start, errors.New("want a dictionary, which later pages use"))
	}
	if h.uncompressed > largePage {
		c.dictionary, err = c.shared.page(c, theDictionary, h.uncompressed, func(p *page) error { return c.decodeDictionary(p, &h, body) })
		return err
	}
	d := new(page)
	if err := c.decodeDictionary(d, &h, body); err != nil {
		return err
	}
	if c.piece.codec == codecNone {
		d.inPlace = bytes.Clone(d.inPlace) // the window moves on
	}
	c.dictionary = d
	return nil
}

// decodeDictionary decodes the dictionary into p, which may share memory with the window.
func (c *column) decodeDictionary(p *page, h *pageHeader, body int64) error {
	src, err := c.w.page(h, body)
	if err != nil {
		return at(c.piece.start, err)
	}
	if src, err = decompress(c.piece.codec, nil, src, h.uncompressed); err != nil {
		return at(c.piece.start, fmt.Errorf("decompressing the dictionary: %w", err))
	}
	p.leaf, p.kind = c.leaf, c.kind
	p.reset(h)
	if err := p.plainValues(src, p.there); err != nil {
		return at(c.piece.start, fmt.Errorf("dictionary: %w", err))
	}
	return nil
}

// read appends rows of the row group, from first up to end, to v.
func (c *column) read(ctx context.Context, first, end int64, v *rowValues) error {
	if err := c.locate(ctx); err != nil {
		return err
	}
	if first == end {
		return nil
	}
	// Of the pages before which no more rows begin, the first row begins in the last one.
	i := sort.Search(len(c.pages), func(i int) bool { return c.pages[i].before > first }) - 1
	row := int64(-1)
	for ; i >= 0 && i < len(c.pages) && row < end; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.load(i); err != nil {
			return err
		}
		var err error
		before := c.pages[i].before
		if c.leaf.list {
			row, err = v.lists(c.page, before, first, end)
		} else {
			row = before + int64(c.page.n)
			err = v.scalars(c.page, int(max(first-before, 0)), int(min(end-before, int64(c.page.n))))
		}
		if err != nil {
			return at(c.pages[i].at, err)
		}
	}
	return v.finish(end - first)
}
