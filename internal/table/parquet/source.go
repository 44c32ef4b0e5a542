package parquet

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/input"
)

// Source is an open Parquet file. It keeps the footer in memory, and no file open between calls.
type Source struct {
	*input.File

	mu    sync.Mutex // guards the fields below
	meta  *metadata
	all   []leaf
	pages map[[2]int][]pageRef // by row group and leaf

	shared sharedPages
}

var _ table.Source = (*Source)(nil)

// Open opens a file and reads its footer.
func Open(ctx context.Context, location storage.Location) (*Source, error) {
	f, err := input.Look(ctx, location)
	if err != nil {
		return nil, err
	}
	s := &Source{File: f}
	r, err := f.Open(ctx)
	if err != nil {
		return nil, f.Located(err)
	}
	defer r.Close()
	_, _, err = s.footer(r)
	if err != nil {
		return nil, f.Located(err)
	}
	return s, nil
}

// footer returns the footer, which is read unless it is in memory.
func (s *Source) footer(r storage.File) (*metadata, []leaf, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.meta == nil {
		m, err := readFooter(r, s.Size())
		if err != nil {
			return nil, nil, err
		}
		if s.all, err = m.leaves(); err != nil {
			return nil, nil, err
		}
		s.meta, s.pages = m, map[[2]int][]pageRef{}
	}
	return s.meta, s.all, nil
}

// InOrder returns false: row groups are read in parallel.
func (s *Source) InOrder() bool { return false }

// Close gives back the footer and large pages. The Source can be used on; it then reads it again.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meta, s.all, s.pages = nil, nil, nil
	s.shared.drop()
	return nil
}

// column returns a column of a row group for reading.
func (s *Source) column(r storage.File, m *metadata, l *leaf, group int, kind table.Kind) *column {
	g := &m.groups[group]
	p := &g.pieces[l.index]
	ahead := aheadLocal
	if s.Remote() {
		ahead = aheadRemote
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &column{
		leaf: l, piece: p, rows: g.rows, kind: kind, current: -1, pages: s.pages[[2]int{group, l.index}],
		w: window{r: r, end: p.start + p.compressed, ahead: ahead}, group: group, shared: &s.shared,
	}
}

// keep remembers where the pages of a column are.
func (s *Source) keep(c *column, group int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages != nil {
		s.pages[[2]int{group, c.leaf.index}] = c.pages
	}
}

// kindOf returns the kind in which a leaf is read if the caller wants a kind.
func kindOf(l *leaf, want table.Kind) (table.Kind, error) {
	switch {
	case l.problem != "":
		return table.Unknown, nil
	case want == table.Unknown || want == l.kind || l.kind == table.Unknown:
		return max(want, l.kind), nil
	case want == table.Float && l.kind == table.Int64, want == table.Bytes && (l.form == formDecimal || l.kind == table.Int64):
		return want, nil
	}
	return 0, fmt.Errorf("column %q: %s values cannot be read as %s", l.name, l.kind, want)
}

// Read reads rows of a row group. Only the wanted columns are read and decoded.
func (s *Source) Read(ctx context.Context, c table.Chunk, columns []table.Column, b *table.Batch) error {
	return s.Located(s.read(ctx, c, columns, b))
}

func (s *Source) read(ctx context.Context, c table.Chunk, columns []table.Column, b *table.Batch) error {
	r, err := s.File.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	m, leaves, err := s.footer(r)
	if err != nil {
		return err
	}
	group := sort.Search(len(m.groups), func(i int) bool { return m.groups[i].first > c.FirstRow }) - 1
	if group < 0 || c.Rows < 0 || c.Rows > table.MaxChunkRows || c.FirstRow+c.Rows > m.groups[group].first+m.groups[group].rows {
		return table.ErrChanged
	}
	first := c.FirstRow - m.groups[group].first
	byName := make(map[string]*leaf, len(leaves))
	for i := range leaves {
		byName[leaves[i].name] = &leaves[i]
	}
	b.Rows, b.Bad, b.Lines = int(c.Rows), b.Bad[:0], b.Lines[:0]
	b.Columns = slices.Grow(b.Columns[:0], len(columns))[:len(columns)]
	var out rowValues
	for i, want := range columns {
		l := byName[want.Name]
		if l == nil {
			out.reset(&b.Columns[i], want.Kind, want.List)
			out.missing(b.Rows)
			continue
		}
		kind, err := kindOf(l, want.Kind)
		switch {
		case err != nil:
			return err
		case l.problem != "":
			return fmt.Errorf("column %q: %s", l.name, l.problem)
		}
		out.reset(&b.Columns[i], kind, want.List || l.list)
		if err := s.readColumn(ctx, r, m, l, group, first, first+c.Rows, &out); err != nil {
			return err
		}
		b.AddLost(out.Values, l.name)
		for _, row := range out.bad {
			b.Bad = append(b.Bad, table.BadRow{Row: row, Reason: fmt.Sprintf("column %q: a null inside a list, which a feature cannot hold", l.name)})
		}
	}
	b.SortBad()
	return nil
}

// readColumn reads rows first up to end of a row group.
func (s *Source) readColumn(ctx context.Context, r storage.File, m *metadata, l *leaf, group int, first, end int64, out *rowValues) error {
	c := s.column(r, m, l, group, out.Kind)
	err := c.read(ctx, first, end, out)
	if err == nil && l.form == formUnsigned && out.Kind == table.Int64 {
		if row, v := out.tooLarge(); row >= 0 {
			err = fmt.Errorf("row %d: %d is above the largest int64; as bytes it is stored as text", m.groups[group].first+first+int64(row), v)
			return fmt.Errorf("column %q: %w", l.name, err)
		}
	}
	if err != nil {
		return s.placed(err, l, group)
	}
	s.keep(c, group)
	return nil
}

// placed puts the row group and the column before an error.
func (s *Source) placed(err error, l *leaf, group int) error {
	return fmt.Errorf("row group %d: column %q: %w", group, l.name, err)
}
