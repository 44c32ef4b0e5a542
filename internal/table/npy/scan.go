package npy

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/table"
)

// Scan finds columns and chunks. It reads strings, whose text must be UTF-8, unsigned integers of 64
// bits, splits, ScanOptions.Distinct, and all of a .npz, whose checksums it verifies.
func (s *Source) Scan(ctx context.Context, o table.ScanOptions) (*table.Table, error) {
	t := new(table.Table)
	if err := s.scan(ctx, o, t); err != nil {
		return nil, s.Located(err)
	}
	return t, nil
}

func (s *Source) scan(ctx context.Context, o table.ScanOptions, t *table.Table) error {
	if err := s.cut(ctx, t); err != nil {
		return err
	}
	features := slices.Clone(s.features)
	for i := range features {
		f := &features[i]
		f.blobs = f.blobs || o.Kinds[f.name] == table.Bytes && f.values.bytesOf()
		kind, err := f.kindAs(o.Kinds[f.name])
		if err != nil {
			return err
		}
		t.Columns = append(t.Columns, table.Column{Name: f.name, Kind: kind, List: f.list(), Length: 1, Wide: kind == table.Float && f.values.size > 4 || kind == table.Int64 && f.values.size > 2})
		if f.list() {
			t.Columns[i].Length = int(min(f.values.width(), math.MaxInt32))
			if shape := f.values.shape[1:]; len(shape) > 1 && t.Columns[i].Length > 0 && f.values.width() < math.MaxInt32 {
				for _, size := range shape {
					t.Columns[i].Shape = append(t.Columns[i].Shape, int(size))
				}
			}
		}
	}
	if s.zip {
		if err := s.verify(ctx); err != nil {
			return err
		}
	}
	stats := make([]table.ColumnStats, len(features))
	err := s.with(ctx, func(r *reader) error {
		var v table.Values
		for _, c := range t.Chunks {
			for i := range features {
				f := &features[i]
				distinct := f.name == o.Distinct
				if f.splits == nil && f.kind() != table.Bytes && !(f.values.code == 'u' && f.values.size == 8) && !distinct {
					continue
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := r.read(ctx, f, t.Columns[i].Kind, t.Columns[i].List, c.FirstRow, c.Rows, &v); err != nil {
					return err
				}
				if err := stats[i].Add(&v, int(c.Rows), true, distinct); err != nil {
					return fmt.Errorf("array %q: %w", f.name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range stats {
		summarize(&t.Columns[i], &stats[i], features[i].splits != nil)
		if features[i].name == o.Distinct {
			t.Distinct = slices.Sorted(maps.Keys(stats[i].Distinct))
		}
	}
	return nil
}

// cut cuts the rows into chunks.
func (s *Source) cut(ctx context.Context, t *table.Table) error {
	if len(s.features) == 0 {
		return nil
	}
	t.Rows = s.features[0].rows()
	for i := range s.features {
		t.Bytes += s.features[i].size()
	}
	if t.Rows == 0 {
		return nil
	}
	chunks := max(t.Bytes/table.ChunkBytes, (t.Rows-1)/table.MaxChunkRows) + 1
	per := (t.Rows-1)/min(chunks, t.Rows) + 1
	for first := int64(0); first < t.Rows; first += per {
		if len(t.Chunks) == table.MaxChunks {
			return fmt.Errorf("%d rows are more than %d chunks of %d", t.Rows, table.MaxChunks, per)
		}
		rows := min(per, t.Rows-first)
		hash, err := s.ChunkHash(ctx, first, rows)
		if err != nil {
			return err
		}
		share := t.Bytes / t.Rows
		t.Chunks = append(t.Chunks, table.Chunk{Index: len(t.Chunks), FirstRow: first, Rows: rows, Offset: first * share, Bytes: rows * share, Hash: hash})
	}
	return nil
}

// verify compares the members of a zip with their checksums.
func (s *Source) verify(ctx context.Context) error {
	r, err := s.File.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	z, err := zip.NewReader(r, s.Size())
	if err != nil {
		return err
	}
	for _, m := range z.File {
		if err := verifyMember(ctx, m); err != nil {
			return fmt.Errorf("member %.200q: %w", m.Name, err)
		}
	}
	return nil
}

func verifyMember(ctx context.Context, m *zip.File) error {
	in, err := m.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, in, 1<<20); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// summarize puts what was found into a column.
func summarize(c *table.Column, found *table.ColumnStats, ragged bool) {
	c.Missing = found.Missing
	c.Text = c.Kind == table.Bytes && !found.NotText
	if !ragged {
		return
	}
	c.List = found.Seen && (found.Fewest != 1 || found.Most != 1)
	if c.List {
		c.Length = found.Length()
	}
}
