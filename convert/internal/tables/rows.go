package tables

import (
	"context"
	"iter"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Attach implements plan.Source.
func (s *tableSource) Attach(dir *setdir.Dir) { s.dir = dir }

// Remember implements plan.Source: it saves the results of scanning the input, unless it has.
func (s *tableSource) Remember() { s.tables.Save(s.dir) }

// Recall implements plan.Source.
func (s *tableSource) Recall([]int) *setdir.Recall { return nil }

// Place implements plan.Source. The saved state of tables has their paths.
func (s *tableSource) Place() string { return "" }

// Known implements plan.Source. Scanning has hashed all chunks, so it reads nothing.
func (s *tableSource) Known(_ context.Context, shard int, bad []setdir.BadSample) (identity []byte, now []setdir.BadSample, read bool, err error) {
	return s.Outline(shard), bad, false, nil
}

// Keys implements plan.Source.
func (s *tableSource) Keys(int) []string { return nil }

// Files implements plan.Source.
func (s *tableSource) Files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range s.tables.Files {
			if !yield(f.Name()) {
				return
			}
		}
	}
}

// Outline implements plan.Source: the plan includes the content of tables.
func (s *tableSource) Outline(shard int) (identity []byte) {
	if s.shuffle != nil {
		return s.shuffle.identity()
	}
	for p := range s.parts(s.ranges[shard]) {
		identity = s.identityOf(identity, p)
	}
	return identity
}

// Inputs implements plan.Source. Remember saves the state of tables.
func (s *tableSource) Inputs(int) []setdir.Input { return nil }

// Prepare implements plan.Source.
func (s *tableSource) Prepare(ctx context.Context, shards []int, _ bool) error {
	if s.shuffle == nil {
		return nil
	}
	return s.shuffle.prepare(ctx, shards)
}

// Rest implements plan.Source. The results of prepare are kept for another attempt.
func (s *tableSource) Rest() {}

// Pieces implements plan.Source, with a piece for each chunk.
func (s *tableSource) Pieces(ctx context.Context, shard int) iter.Seq2[plan.Fill, error] {
	if s.shuffle != nil {
		return s.shuffle.tasks(shard)
	}
	return func(yield func(plan.Fill, error) bool) {
		for p := range s.parts(s.ranges[shard]) {
			c := s.nextChunk(p.chunk)
			if err := c.ReadAhead(ctx); err != nil {
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
	return s.shuffle != nil || len(s.tables.Files) == 1 && !s.tables.Files[0].InOrder()
}

// close releases the resources of a failed run.
func (s *tableSource) close() {
	if s.shuffle != nil && s.shuffle.spill != nil {
		_ = s.shuffle.spill.Close() // it is not read again
	}
}

// openChunk is a chunk being read.
type openChunk struct {
	*tablefile.Chunk
	f *inputFile
}

// nextChunk returns a chunk, to be read after those requested before. It is called from one
// goroutine.
func (s *tableSource) nextChunk(n int) *openChunk {
	c := &s.chunks[n]
	f := &s.files[c.file]
	if s.reading != nil && s.reading != f {
		s.reading.Close() // its chunks were read, or are of a plain file
	}
	s.reading = f
	return &openChunk{f.Chunk(c.Chunk), f}
}

// newRows returns the rows of tables, before any chunk.
func newRows(t *tablefile.Tables) tableRows {
	if t.Format == tablefile.CSV {
		missing, _ := t.Missing()
		return &csvRows{absent: missing, header: t.Header()}
	}
	return &typedRows{header: t.Header()}
}

// makeRows makes the records of the rows of a part.
func (s *tableSource) makeRows(ctx context.Context, c *openChunk, part part, out *plan.Piece) error {
	if err := c.Read(ctx); err != nil {
		return err
	}
	defer c.Done()
	e := s.encoders.Get().(*rowEncoder)
	defer s.encoders.Put(e)
	if err := e.begin(c.Chunk); err != nil {
		return err
	}
	out.Identity = s.identityOf(out.Identity, part)
	out.BytesIn = c.Bytes * (part.to - part.from) / c.Rows
	row, n := c.FirstRow-1, int64(0)
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
			out.Bad = append(out.Bad, e.bad(c.f.File, row, reason))
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
