package parquet

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// scanRows is the maximum number of rows that a scan reads at a time.
const scanRows = 1024

// finding is the result of a scan for a column of a row group.
type finding struct {
	table.ColumnStats
	bytes   int64  // of the values
	largest int64  // page, uncompressed
	marks   []mark // of columns that were read
}

// mark is the size in bytes of the values of all rows before a row.
type mark struct{ row, bytes int64 }

// before returns the size of the values before a row of a row group with this number of rows.
// Between marks it interpolates.
func (f *finding) before(row, rows int64) int64 {
	i := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].row >= row })
	from, to := mark{}, mark{rows, f.bytes}
	if i > 0 {
		from = f.marks[i-1]
	}
	if i < len(f.marks) {
		to = f.marks[i]
	}
	if from.row == to.row {
		return to.bytes
	}
	return from.bytes + int64(float64(to.bytes-from.bytes)*(float64(row-from.row)/float64(to.row-from.row)))
}

// Scan finds columns and chunks. It decodes the columns for which the footer is not sufficient:
// lists, for their lengths, text, which must be UTF-8, optional columns whose nulls are not
// counted, bytes in dictionaries of unknown size, and ScanOptions.Distinct.
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
		t.Columns = append(t.Columns, table.Column{Name: l.name, Kind: kind, List: l.list, Length: 1, Text: l.text || kind == table.Bytes && l.kind != table.Bytes, Unfit: l.problem,
			Wide: l.form == formDecimal || l.physical == typeDouble || l.physical >= typeInt32 && l.physical <= typeInt96})
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
		f.markPages(c)
		s.keep(c, group)
		return nil
	}
	f.Missing = 0
	c := s.column(r, m, l, group, kind)
	var v table.Values
	part := rowValues{look: func(value []byte) error { return f.AddValue(value, l.text, distinct) }}
	total := int64(0)
	step := min(max(table.ChunkBytes*rows/max(f.bytes, 1), 1), scanRows)
	for first := int64(0); first < rows; first += step {
		part.reset(&v, kind, l.list)
		if err := c.read(ctx, first, min(first+step, rows), &part); err != nil {
			return err
		}
		if err := f.Add(&v, part.count, false, distinct && kind != table.Bytes); err != nil {
			return err
		}
		total += part.size + int64(4*len(v.Ends)+8*len(v.Ints)+4*len(v.Floats))
		f.marks = append(f.marks, mark{min(first+step, rows), total})
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

// markPages adds a mark at the end of each page, as if the size of a page were the size of its
// values.
func (f *finding) markPages(c *column) {
	total := int64(0)
	for i, p := range c.pages {
		end := c.rows
		if i+1 < len(c.pages) {
			end = c.pages[i+1].before
		}
		total += p.size
		if n := len(f.marks); n > 0 && f.marks[n-1].row == end {
			f.marks = f.marks[:n-1]
		}
		f.marks = append(f.marks, mark{end, total})
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

// cut cuts the row groups into chunks. One of several columns in pages that are too large to be kept
// together is cut less often, since each chunk decodes the pages that it touches.
func (s *Source) cut(ctx context.Context, t *table.Table, m *metadata, found [][]finding) error {
	for i := range m.groups {
		g := &m.groups[i]
		size, target := int64(0), int64(table.ChunkBytes)
		var large []int64 // pages
		for _, f := range found {
			size += f[i].bytes
			if f[i].largest > largePage {
				large = append(large, f[i].largest)
			}
		}
		if len(large) > 1 && sum(large) > keptPages {
			target = slices.Max(large) / 2
		}
		t.Bytes += size
		if g.rows == 0 {
			continue
		}
		pieces := max(size/target, (g.rows-1)/table.MaxChunkRows) + 1
		per := (g.rows-1)/min(pieces, g.rows) + 1
		before := func(row int64) (bytes int64) {
			for _, f := range found {
				bytes += f[i].before(row, g.rows)
			}
			return bytes
		}
		offset := int64(0)
		if len(g.pieces) > 0 {
			offset = g.pieces[0].start
		}
		for first := int64(0); first < g.rows; {
			if len(t.Chunks) == table.MaxChunks {
				return fmt.Errorf("%d rows are more than %d chunks of %d", m.rows, table.MaxChunks, per)
			}
			n := min(per, g.rows-first)
			for n > 1 && before(first+n)-before(first) > 4*target { // rows that are larger than others
				n /= 2
			}
			hash, err := s.ChunkHash(ctx, g.first+first, n)
			if err != nil {
				return err
			}
			t.Chunks = append(t.Chunks, table.Chunk{
				Index: len(t.Chunks), FirstRow: g.first + first, Rows: n, Offset: offset, Bytes: size / g.rows * n, Hash: hash,
			})
			first += n
		}
	}
	return nil
}

func sum(of []int64) (total int64) {
	for _, n := range of {
		total += n
	}
	return total
}
