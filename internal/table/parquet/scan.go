package parquet

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// scanRows is how many rows a scan looks at together.
const scanRows = 1024

// finding is what a scan finds in a column of a row group.
type finding struct {
	table.ColumnStats
	bytes   int64 // of the values
	largest int64 // page, uncompressed
}

// Scan finds columns and chunks. It decodes the columns of which the footer does not say enough:
// lists, for their lengths, text, which must be UTF-8, optional columns whose nulls are not counted,
// bytes in dictionaries of unknown size, and ScanOptions.Distinct.
func (s *Source) Scan(ctx context.Context, o table.ScanOptions) (*table.Table, error) {
	t, err := s.scan(ctx, o)
	if err != nil {
		return nil, s.Located(err)
	}
	return t, nil
}

func (s *Source) scan(ctx context.Context, o table.ScanOptions) (*table.Table, error) {
	r, err := s.File.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m, leaves, err := s.footer(r)
	if err != nil {
		return nil, err
	}
	t := &table.Table{Rows: m.rows, Classes: m.classes}
	for i := range leaves {
		l := &leaves[i]
		kind, err := kindOf(l, o.Kinds[l.name])
		if err != nil && o.Wants(l.name) {
			return nil, err
		}
		t.Columns = append(t.Columns, table.Column{Name: l.name, Kind: kind, List: l.list, Length: 1, Text: l.text || l.form == formDecimal && kind == table.Bytes, Unfit: l.problem})
	}
	found, err := s.findAll(ctx, r, m, leaves, t.Columns, o)
	if err != nil {
		return nil, err
	}
	for i := range t.Columns {
		distinct, err := summarize(&t.Columns[i], found[i])
		if err != nil {
			return nil, err
		}
		if leaves[i].name == o.Distinct {
			t.Distinct = slices.Sorted(maps.Keys(distinct))
		}
	}
	return t, s.cut(ctx, t, m, found)
}

// findAll looks at the columns of all row groups: the result is by leaf, then by row group.
func (s *Source) findAll(ctx context.Context, r storage.File, m *metadata, leaves []leaf, columns []table.Column, o table.ScanOptions) ([][]finding, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	found, errs := make([][]finding, len(leaves)), make([]error, len(leaves))
	var group errgroup.Group
	group.SetLimit(o.Workers)
	for i := range leaves {
		found[i] = make([]finding, len(m.groups))
		if leaves[i].problem != "" || !o.Wants(leaves[i].name) {
			continue
		}
		group.Go(func() error {
			for g := range m.groups {
				if errs[i] = s.find(ctx, r, m, &leaves[i], g, columns[i].Kind, leaves[i].name == o.Distinct, &found[i][g]); errs[i] != nil {
					errs[i] = s.placed(errs[i], &leaves[i], g)
					return nil
				}
			}
			return nil
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// find looks at a column of a row group.
func (s *Source) find(ctx context.Context, r storage.File, m *metadata, l *leaf, group int, kind table.Kind, distinct bool, f *finding) error {
	p, rows := &m.groups[group].pieces[l.index], m.groups[group].rows
	if !l.list && p.values != rows {
		return fmt.Errorf("%d values of %d rows", p.values, rows)
	}
	f.bytes = max(p.uncompressed, p.unencoded)
	if l.kind != table.Bytes {
		f.bytes = max(f.bytes, 8*p.values)
	}
	f.Missing = max(p.nulls, 0)
	sized := l.physical != typeBytes || !p.dictionary || p.unencoded >= 0
	counted := l.def == 0 || p.nulls >= 0
	if !l.list && !l.text && sized && counted && !distinct {
		if l.def == 0 {
			f.Missing = 0
		}
		if p.uncompressed <= table.ChunkBytes {
			return nil
		}
		c := s.column(r, m, l, group, kind)
		if err := c.locate(ctx); err != nil {
			return err
		}
		f.measure(c)
		s.keep(c, group)
		return nil
	}
	f.Missing = 0
	c := s.column(r, m, l, group, kind)
	var v table.Values
	var part rowValues
	total := int64(0)
	for first := int64(0); first < rows; first += scanRows {
		part.reset(&v, kind, l.list)
		if err := c.read(ctx, first, min(first+scanRows, rows), &part); err != nil {
			return err
		}
		if err := f.Add(&v, part.count, l.text, distinct); err != nil {
			return err
		}
		total += int64(len(v.Data) + 4*len(v.Ends) + 8*len(v.Ints) + 4*len(v.Floats))
	}
	f.bytes = max(f.bytes, total)
	f.measure(c)
	s.keep(c, group)
	return nil
}

// measure finds the largest page.
func (f *finding) measure(c *column) {
	for _, p := range c.pages {
		f.largest = max(f.largest, p.size)
	}
}

// summarize puts what was found in the row groups into a column, and returns the different values.
func summarize(c *table.Column, found []finding) (distinct map[string]struct{}, err error) {
	var all table.ColumnStats
	for i := range found {
		all.Merge(&found[i].ColumnStats)
		if found[i].Distinct = nil; len(all.Distinct) > table.MaxDistinct {
			return nil, fmt.Errorf("column %q: %w", c.Name, table.ErrDistinct)
		}
	}
	c.Missing = all.Missing
	c.Text = c.Text && !all.NotText
	if c.List {
		c.Length = all.Length()
	}
	return all.Distinct, nil
}

// cut cuts the row groups into chunks. One that is in large pages is cut less often, since each
// chunk decompresses the pages that it touches.
func (s *Source) cut(ctx context.Context, t *table.Table, m *metadata, found [][]finding) error {
	for i := range m.groups {
		g := &m.groups[i]
		size, target := int64(0), int64(table.ChunkBytes)
		for _, f := range found {
			size += f[i].bytes
			target = max(target, f[i].largest/2)
		}
		t.Bytes += size
		if g.rows == 0 {
			continue
		}
		pieces := max(size/target, (g.rows-1)/table.MaxChunkRows) + 1
		per := (g.rows-1)/min(pieces, g.rows) + 1
		offset := int64(0)
		if len(g.pieces) > 0 {
			offset = g.pieces[0].start
		}
		for first := int64(0); first < g.rows; first += per {
			if len(t.Chunks) == table.MaxChunks {
				return fmt.Errorf("%d rows are more than %d chunks of %d", m.rows, table.MaxChunks, per)
			}
			n := min(per, g.rows-first)
			hash, err := s.ChunkHash(ctx, g.first+first, n)
			if err != nil {
				return err
			}
			t.Chunks = append(t.Chunks, table.Chunk{
				Index: len(t.Chunks), FirstRow: g.first + first, Rows: n, Offset: offset, Bytes: size / g.rows * n, Hash: hash,
			})
		}
	}
	return nil
}
