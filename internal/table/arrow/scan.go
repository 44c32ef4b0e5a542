package arrow

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// Scan finds columns and chunks. It reads all record batches once.
func (s *Source) Scan(ctx context.Context, o table.ScanOptions) (*table.Table, error) {
	t := new(table.Table)
	if err := s.scan(ctx, o, t); err != nil {
		return nil, s.Located(err)
	}
	return t, nil
}

func (s *Source) scan(ctx context.Context, o table.ScanOptions, t *table.Table) error {
	r, err := s.File.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	d, all, err := s.messages(ctx, r)
	if err != nil {
		return err
	}
	for i := range all {
		l := &all[i]
		kind, err := l.kindAs(o.Kinds[l.name])
		if err != nil && o.Wants(l.name) {
			return err
		}
		t.Columns = append(t.Columns, table.Column{Name: l.name, Kind: kind, List: l.list, Length: 1, Unfit: l.unfit, Wide: l.wide})
	}
	v := &survey{d: d, all: all, columns: t.Columns, wants: o.Wants, distinct: o.Distinct, stats: make([]table.ColumnStats, len(all)), sizes: make([]int64, len(d.batches))}
	if err := v.run(ctx, r, o.Workers); err != nil {
		return err
	}
	if t.Distinct = v.summarize(t.Columns); len(t.Distinct) > table.MaxDistinct {
		return fmt.Errorf("column %q: %w", o.Distinct, table.ErrDistinct)
	}
	t.Rows, t.Classes = d.rows, d.classes
	return s.cut(ctx, t, d, v.sizes)
}

// survey looks at all record batches.
type survey struct {
	d        *directory
	all      []leaf
	columns  []table.Column
	wants    func(name string) bool
	distinct string

	mu    sync.Mutex // guards the fields below
	stats []table.ColumnStats
	sizes []int64 // bytes of the values, by batch
	next  int
	err   error
	errAt int // the batch
}

// run looks with several workers, each of which has a session of its own and takes the batches in
// order, so that dictionaries are read once by each.
func (v *survey) run(ctx context.Context, r storage.File, workers int) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	v.errAt = len(v.d.batches)
	var group errgroup.Group
	for range min(workers, len(v.d.batches)) {
		group.Go(func() error {
			v.work(ctx, r)
			return nil
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return v.err
}

func (v *survey) work(ctx context.Context, r storage.File) {
	stats := make([]table.ColumnStats, len(v.all))
	session, err := newSession(r, v.d)
	for {
		i := v.take()
		if i < 0 || ctx.Err() != nil {
			break
		}
		size := int64(0)
		if err == nil {
			size, err = v.batch(session, i, stats)
		}
		if err != nil {
			v.fail(i, err)
			break
		}
		v.mu.Lock()
		v.sizes[i] = size
		v.mu.Unlock()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range stats {
		v.stats[i].Merge(&stats[i])
	}
}

// take returns the next batch, -1 after the last one or the first that failed.
func (v *survey) take() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.next >= v.errAt {
		return -1
	}
	v.next++
	return v.next - 1
}

// fail keeps the error of the first batch that has one.
func (v *survey) fail(i int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i < v.errAt {
		v.err, v.errAt = err, i
	}
}

// batch looks at a record batch, and returns the size of its values.
func (v *survey) batch(s *session, i int, stats []table.ColumnStats) (size int64, err error) {
	record, err := s.read(v.d, i)
	if err != nil {
		return 0, v.d.placed(i, err)
	}
	var b table.Values
	rows := int(record.NumRows())
	// A row may be as large as the batch, and larger if it refers to a dictionary.
	for first, step := 0, 16; first < rows; {
		end, before := min(first+step, rows), size
		for j := range v.all {
			l := &v.all[j]
			if l.unfit != "" || !v.wants(l.name) {
				continue
			}
			if _, err := v.d.column(i, l, &b, record, v.columns[j].Kind, false, first, end); err != nil {
				return 0, err
			}
			if err := stats[j].Add(&b, end-first, l.text, l.name == v.distinct); err != nil {
				return 0, fmt.Errorf("column %q: %w", l.name, err)
			}
			size += int64(len(b.Data) + 4*len(b.Ends) + 8*len(b.Ints) + 4*len(b.Floats) + 4*len(b.Splits))
		}
		switch first = end; {
		case size-before > table.ChunkBytes:
			step = max(step/2, 1)
		case size-before < table.ChunkBytes/4:
			step = min(2*step, 1024)
		}
	}
	return size, nil
}

// summarize puts what was found into the columns, and returns the different values.
func (v *survey) summarize(columns []table.Column) (distinct []string) {
	for i := range columns {
		c, found := &columns[i], &v.stats[i]
		c.Missing = found.Missing
		c.Text = v.all[i].text && !found.NotText || v.all[i].kind != table.Bytes && c.Kind == table.Bytes
		if c.List {
			c.Length = found.Length()
		}
		if c.Name == v.distinct {
			distinct = slices.Sorted(maps.Keys(found.Distinct))
		}
	}
	return distinct
}

// cut makes chunks of record batches.
func (s *Source) cut(ctx context.Context, t *table.Table, d *directory, sizes []int64) error {
	for i, m := range d.batches {
		t.Bytes += sizes[i]
		if m.rows == 0 {
			continue
		}
		parts := max(sizes[i]/table.ChunkBytes, (m.rows-1)/table.MaxChunkRows) + 1
		per := (m.rows-1)/min(parts, m.rows) + 1
		for first := int64(0); first < m.rows; first += per {
			if len(t.Chunks) == table.MaxChunks {
				return fmt.Errorf("%d rows are more than %d chunks", d.rows, table.MaxChunks)
			}
			n := min(per, m.rows-first)
			hash, err := s.ChunkHash(ctx, m.first+first, n)
			if err != nil {
				return err
			}
			t.Chunks = append(t.Chunks, table.Chunk{
				Index: len(t.Chunks), FirstRow: m.first + first, Rows: n, Offset: m.at, Bytes: sizes[i] / m.rows * n, Hash: hash,
			})
		}
	}
	return nil
}
