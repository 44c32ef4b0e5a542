package tables

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// Attach implements plan.Source.
func (s *tableSource) Attach(dir *setdir.Dir) { s.dir = dir }

// Remember implements plan.Source: it saves the results of scanning the input, unless it has.
func (s *tableSource) Remember() {
	for _, f := range s.tables.files {
		if result, ok := f.confirm(s.dir.Context()); ok {
			s.tables.scanned.Files[f.path()], f.fresh = result, nil
		}
	}
	if n := len(s.tables.scanned.Files); n > s.saved {
		// Without it the next run takes longer, which is no reason to fail.
		_ = s.dir.PutState(scanFile, s.tables.scanned)
		s.saved = n
	}
}

// Recall implements plan.Source.
func (s *tableSource) Recall([]int) *setdir.Recall { return nil }

// Place implements plan.Source. The saved state of tables has their paths.
func (s *tableSource) Place() string { return "" }

// Known implements plan.Source. Scanning has hashed all chunks, so it reads nothing.
func (s *tableSource) Known(_ context.Context, job int, bad []setdir.BadSample) (identity []byte, now []setdir.BadSample, read bool, err error) {
	return s.Outline(job), bad, false, nil
}

// Keys implements plan.Source.
func (s *tableSource) Keys(int) []string { return nil }

// Files implements plan.Source.
func (s *tableSource) Files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range s.tables.files {
			if !yield(f.Name()) {
				return
			}
		}
	}
}

// Outline implements plan.Source: the plan includes the content of tables.
func (s *tableSource) Outline(job int) (identity []byte) {
	if s.shuffle != nil {
		return s.shuffle.identity()
	}
	for p := range s.parts(s.ranges[job]) {
		identity = s.identityOf(identity, p)
	}
	return identity
}

// Inputs implements plan.Source: for tables, remember saves what is known.
func (s *tableSource) Inputs(int) []setdir.Input { return nil }

// Prepare implements plan.Source.
func (s *tableSource) Prepare(ctx context.Context, jobs []int, _ bool) error {
	if s.shuffle == nil {
		return nil
	}
	return s.shuffle.prepare(ctx, jobs)
}

// Rest implements plan.Source. The results of prepare are kept for another attempt.
func (s *tableSource) Rest() {}

// Pieces implements plan.Source, with a piece for each chunk.
func (s *tableSource) Pieces(ctx context.Context, job int) iter.Seq2[plan.Fill, error] {
	if s.shuffle != nil {
		return s.shuffle.tasks(job)
	}
	return func(yield func(plan.Fill, error) bool) {
		for p := range s.parts(s.ranges[job]) {
			c := s.nextChunk(p.chunk)
			if err := c.readAhead(ctx); err != nil {
				yield(nil, err)
				return
			}
			if !yield(func(out *plan.Piece) error { return s.makeRows(ctx, c, p, out) }, nil) {
				return
			}
		}
	}
}

// AnyOrder implements plan.Source: a file is closed where the chunks of the next one begin.
func (s *tableSource) AnyOrder() bool {
	return s.shuffle != nil || len(s.tables.files) == 1 && !s.tables.files[0].InOrder()
}

// close releases what a failed run still holds.
func (s *tableSource) close() {
	if s.shuffle != nil && s.shuffle.spill != nil {
		_ = s.shuffle.spill.Close() // it is not read again
	}
}

// openChunk is a chunk being read.
type openChunk struct {
	*rowChunk
	f *tableFile
	// One of these is set once it is read: the bytes of a format that is text, which workers
	// decode, or the rows.
	text *[]byte
	rows *table.Batch
}

// nextChunk returns a chunk, to be read after those requested before. It is called from one
// goroutine.
func (s *tableSource) nextChunk(n int) *openChunk {
	c := &s.chunks[n]
	f := s.tables.files[c.file]
	if s.reading != nil && s.reading != f {
		s.reading.Close() // its chunks were read, or are of a plain file
	}
	s.reading = f
	return &openChunk{rowChunk: c, f: f}
}

// chunkBuffers holds buffers for chunks, as *[]byte.
var chunkBuffers = sync.Pool{New: func() any { return new([]byte) }}

// putChunkBuffer keeps a buffer for reuse, unless a long row has grown it.
func putChunkBuffer(b *[]byte) {
	if cap(*b) <= plan.KeepFrames {
		chunkBuffers.Put(b)
	}
}

// rowBatches holds the rows of chunks, as *table.Batch.
var rowBatches = sync.Pool{New: func() any { return new(table.Batch) }}

// readAhead reads the chunk of a sequential file; workers read those of plain files on disk.
func (c *openChunk) readAhead(ctx context.Context) error {
	if !c.f.InOrder() {
		return nil
	}
	return c.read(ctx)
}

// read reads the chunk unless it was already read.
func (c *openChunk) read(ctx context.Context) error {
	if c.text != nil || c.rows != nil {
		return nil
	}
	err := storage.Reread(ctx, c.f.Name(), func(ctx context.Context) error { return c.f.read(ctx, c) })
	if (errors.Is(err, csvscan.ErrChanged) || errors.Is(err, table.ErrChanged)) && !errors.Is(err, storage.ErrChanged) && c.f.Version() != "" {
		return fmt.Errorf("%s: rows are not what they were when the table was scanned, and it is the same version: some of its bytes changed in transit then: %w", c.f.Name(), table.ErrChanged)
	}
	if errors.Is(err, csvscan.ErrChanged) || errors.Is(err, table.ErrChanged) {
		return fmt.Errorf("%w; do not change it during the conversion, and run again", err)
	}
	return err
}

// done releases the memory.
func (c *openChunk) done() {
	if c.text != nil {
		putChunkBuffer(c.text)
	}
	if c.rows != nil {
		rowBatches.Put(c.rows)
	}
	c.text, c.rows = nil, nil
}

// makeRows makes the records of the rows of a part.
func (s *tableSource) makeRows(ctx context.Context, c *openChunk, part part, out *plan.Piece) error {
	if err := c.read(ctx); err != nil {
		return err
	}
	defer c.done()
	e := s.encoders.Get().(*rowEncoder)
	defer s.encoders.Put(e)
	if err := e.begin(c); err != nil {
		return err
	}
	out.Identity = s.identityOf(out.Identity, part)
	out.BytesIn = c.bytes * (part.to - part.from) / c.rowChunk.rows
	row, n := c.row-1, int64(0)
	for n < part.to && e.rows.next() {
		row++
		if s.pick.split(c.f, row) != part.split {
			continue
		}
		if n++; n <= part.from {
			continue
		}
		out.Samples++
		if reason := e.row(); reason != "" {
			out.Bad = append(out.Bad, e.bad(c.f, row, reason))
			continue
		}
		start := len(out.Frames)
		out.Frames = e.appendFrame(out.Frames)
		out.Sizes = append(out.Sizes, len(out.Frames)-start)
		if e.columns.labels != nil {
			out.Labels = append(out.Labels, e.label)
		}
	}
	return nil
}
