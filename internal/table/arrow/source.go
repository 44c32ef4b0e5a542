package arrow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/input"
)

// Source is an open file or stream. It keeps where messages are in memory, and no file open between
// calls.
type Source struct {
	*input.File

	mu     sync.Mutex // guards the fields below
	dir    *directory
	all    []leaf
	cached *cached // the record batch that was cut into chunks last
}

// cached is a record batch that several chunks are rows of.
type cached struct {
	batch  int
	once   sync.Once
	record arrow.RecordBatch
	err    error
}

var _ table.Source = (*Source)(nil)

// Open opens a file or stream and reads its schema.
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
	_, _, err = s.messages(ctx, r)
	if err != nil {
		return nil, f.Located(err)
	}
	return s, nil
}

// messages returns where the messages are, which are looked for unless that is known.
func (s *Source) messages(ctx context.Context, r storage.File) (*directory, []leaf, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == nil {
		d, err := walk(ctx, r, s.Size())
		if err != nil {
			return nil, nil, err
		}
		session, err := newSession(r, d)
		if err != nil {
			return nil, nil, fmt.Errorf("schema at offset %d: %w", d.schema.at, err)
		}
		schema := session.reader.Schema()
		if s.all, err = leaves(schema); err != nil {
			return nil, nil, err
		}
		if value, ok := schema.Metadata().GetValue(table.HuggingFaceKey); ok {
			d.classes = table.HuggingFaceClasses([]byte(value))
		}
		s.dir = d
	}
	return s.dir, s.all, nil
}

// InOrder returns false: record batches are read in parallel.
func (s *Source) InOrder() bool { return false }

// Close gives back memory. The Source can be used on; it then looks for the messages again.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir, s.all, s.cached = nil, nil, nil
	return nil
}

// record returns a record batch. If it has more rows than the chunk, it is kept for the next one.
func (s *Source) record(r storage.File, d *directory, i int, part bool) (arrow.RecordBatch, error) {
	if !part {
		return readOne(r, d, i)
	}
	s.mu.Lock()
	c := s.cached
	if c == nil || c.batch != i {
		c = &cached{batch: i}
		s.cached = c
	}
	s.mu.Unlock()
	c.once.Do(func() {
		if c.record, c.err = readOne(r, d, i); c.err != nil {
			s.mu.Lock()
			s.cached = nil
			s.mu.Unlock()
		}
	})
	return c.record, c.err
}

// readOne reads a record batch with the dictionaries before it.
func readOne(r storage.File, d *directory, i int) (arrow.RecordBatch, error) {
	session, err := newSession(r, d)
	if err != nil {
		return nil, err
	}
	return session.read(d, i)
}

// Read reads rows of a record batch.
func (s *Source) Read(ctx context.Context, c table.Chunk, columns []table.Column, b *table.Batch) error {
	return s.Located(s.read(ctx, c, columns, b))
}

func (s *Source) read(ctx context.Context, c table.Chunk, columns []table.Column, b *table.Batch) error {
	r, err := s.File.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	d, all, err := s.messages(ctx, r)
	if err != nil {
		return err
	}
	// Batches without rows come before the one with the row.
	i := sort.Search(len(d.batches), func(i int) bool { return d.batches[i].first > c.FirstRow }) - 1
	if i < 0 || c.Rows < 0 || c.Rows > table.MaxChunkRows || c.FirstRow+c.Rows > d.batches[i].first+d.batches[i].rows {
		return table.ErrChanged
	}
	record, err := s.record(r, d, i, c.Rows < d.batches[i].rows)
	if err != nil {
		return d.placed(i, err)
	}
	byName := make(map[string]*leaf, len(all))
	for j := range all {
		byName[all[j].name] = &all[j]
	}
	b.Rows, b.Bad, b.Lines = int(c.Rows), b.Bad[:0], b.Lines[:0]
	b.Columns = slices.Grow(b.Columns[:0], len(columns))[:len(columns)]
	first := int(c.FirstRow - d.batches[i].first)
	for j, want := range columns {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := byName[want.Name]
		if l == nil {
			missing(&b.Columns[j], want, b.Rows)
			continue
		}
		kind, err := l.kindAs(want.Kind)
		switch {
		case err != nil:
			return err
		case l.unfit != "":
			return fmt.Errorf("column %q: %s", l.name, l.unfit)
		}
		bad, err := d.column(i, l, &b.Columns[j], record, kind, want.List, first, first+b.Rows)
		if err != nil {
			return err
		}
		b.AddLost(&b.Columns[j], l.name)
		for _, row := range bad {
			b.Bad = append(b.Bad, table.BadRow{Row: row, Reason: fmt.Sprintf("column %q: a null inside a list, which a feature cannot hold", l.name)})
		}
	}
	b.SortBad()
	return nil
}

// missing makes rows without a value, of a column that another file has.
func missing(v *table.Values, c table.Column, rows int) {
	v.Reset(c.Kind)
	v.Present = append(v.Present, make([]bool, rows)...)
	v.Splits = append(v.Splits, make([]int32, rows+1)...)
}

// column reads rows of a column, and puts the place before errors.
func (d *directory) column(i int, l *leaf, v *table.Values, record arrow.RecordBatch, kind table.Kind, list bool, first, end int) (bad []int, err error) {
	func() {
		defer recovered(&err)
		bad, err = l.rows(v, record, kind, list, first, end, nil)
	}()
	if e := (*tooLarge)(nil); errors.As(err, &e) {
		return nil, fmt.Errorf("column %q: row %d: %w; as bytes it is stored as text", l.name, d.batches[i].first+int64(e.index), err)
	}
	if err != nil {
		return nil, d.placed(i, fmt.Errorf("column %q: %w", l.name, err))
	}
	return bad, nil
}

// placed puts the record batch before an error.
func (d *directory) placed(i int, err error) error {
	return fmt.Errorf("record batch %d at offset %d: %w", i, d.batches[i].at, err)
}
