package jsonl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/store/textfile"
	"github.com/tfrec/tfrec/internal/table"
)

// scanner is one run of Scan.
type scanner struct {
	*Source
	jobs chan job
	free chan []byte // buffers to use again; nil ones are still to be made

	mu    sync.Mutex // guards the fields below
	table table.Table
	lines []int64 // in each chunk
	total *inferrer
}

// job is a chunk on its way to a worker.
type job struct {
	index int
	chunk
}

// Scan implements table.Source.
func (s *Source) Scan(ctx context.Context, o table.ScanOptions) (*table.Table, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	r := &scanner{Source: s, jobs: make(chan job), free: make(chan []byte, o.Workers+1), total: newInferrer(o, s.skip)}
	for range cap(r.free) {
		r.free <- nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(r.jobs)
		return r.cut(ctx)
	})
	for range o.Workers {
		group.Go(func() error { return r.work(ctx, o) })
	}
	err := group.Wait()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	if err != nil {
		return nil, s.located(err)
	}
	t := &r.table
	line := int64(1)
	for i := range t.Chunks {
		c := &t.Chunks[i]
		c.Index, c.FirstLine, c.FirstRow = i, line, t.Rows
		t.Rows += c.Rows
		line += r.lines[i]
	}
	if t.Columns, err = r.total.result(t.Chunks); err != nil {
		return nil, s.located(err)
	}
	t.Skipped = slices.Sorted(maps.Keys(r.total.parser.skipped))
	if o.Distinct != "" {
		t.Distinct = slices.Sorted(maps.Keys(r.total.distinct))
	}
	// A chunk of blank lines has no rows to read.
	t.Chunks = slices.DeleteFunc(t.Chunks, func(c table.Chunk) bool { return c.Rows == 0 })
	for i := range t.Chunks {
		t.Chunks[i].Index = i
	}
	return t, nil
}

// cut sends the chunks to the workers.
func (r *scanner) cut(ctx context.Context) error {
	in, err := r.Stream(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.CopyN(io.Discard, in, r.start); err == io.EOF {
		return textfile.ErrShort
	} else if err != nil {
		return err
	}
	c := &chunker{r: in, maxRow: r.maxRow, offset: r.start}
	for index := 0; ; index++ {
		var buf []byte
		select {
		case buf = <-r.free:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		found, err := c.next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.table.Chunks = append(r.table.Chunks, table.Chunk{Offset: found.offset, Bytes: found.bytes, Hash: found.hash})
		r.lines = append(r.lines, 0)
		r.table.Bytes += found.bytes
		r.mu.Unlock()
		select {
		case r.jobs <- job{index, found}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// work scans chunks until jobs is closed.
func (r *scanner) work(ctx context.Context, o table.ScanOptions) error {
	columns := newInferrer(o, r.skip)
	for j := range r.jobs {
		hash, rows, lines := j.hash, int64(1), int64(1)
		if len(j.data) > 0 {
			hash = xxh3.Hash128(j.data).Bytes()
			var err error
			if rows, lines, err = r.scanChunk(columns, j); err != nil {
				return err
			}
		}
		r.free <- j.data
		r.mu.Lock()
		c := &r.table.Chunks[j.index]
		c.Rows, c.Hash = rows, hash
		r.lines[j.index] = lines
		r.table.Blank += lines - rows
		r.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total.merge(columns)
}

// scanChunk takes in the rows of a chunk.
func (r *scanner) scanChunk(columns *inferrer, j job) (rows, lines int64, err error) {
	for text := j.data; len(text) > 0; lines++ {
		row := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			row, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		if isBlank(row) {
			continue
		}
		rows++
		if len(row) > r.maxRow {
			continue
		}
		if err := columns.scanRow(position{chunk: j.index, line: lines}, row); err != nil {
			return 0, 0, err
		}
	}
	return rows, lines, nil
}
