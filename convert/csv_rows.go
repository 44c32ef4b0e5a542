package convert

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/setdir"
)

// attach implements source.
func (s *csvSource) attach(dir *setdir.Dir) { s.dir = dir }

// remember implements source: it saves the results of scanning the input.
func (s *csvSource) remember() {
	if len(s.tables.scanned.Files) > 0 {
		// Without it the next run takes longer, which is no reason to fail.
		_ = s.dir.PutState(scanFile, s.tables.scanned)
	}
}

// place implements source. The saved state of tables has their paths.
func (s *csvSource) place() string { return "" }

// known implements source. Scanning has hashed all chunks, so it reads nothing.
func (s *csvSource) known(_ context.Context, job int) (identity []byte, read bool, err error) {
	return s.outline(job), false, nil
}

// keys implements source.
func (s *csvSource) keys(int) []string { return nil }

// files implements source.
func (s *csvSource) files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range s.tables.files {
			if !yield(f.src.Name()) {
				return
			}
		}
	}
}

// outline implements source: the plan includes the content of tables.
func (s *csvSource) outline(job int) (identity []byte) {
	if s.shuffle != nil {
		return s.shuffle.identity()
	}
	for p := range s.parts(s.ranges[job]) {
		identity = s.identityOf(identity, p)
	}
	return identity
}

// inputs implements source: for tables, remember saves what is known.
func (s *csvSource) inputs(int) []setdir.Input { return nil }

// prepare implements source.
func (s *csvSource) prepare(ctx context.Context, jobs []int, _ bool) error {
	if s.shuffle == nil {
		return nil
	}
	return s.shuffle.prepare(ctx, jobs)
}

// rest implements source. The results of prepare are kept for another attempt.
func (s *csvSource) rest() {}

// tasks implements source: there is one task per chunk.
func (s *csvSource) tasks(ctx context.Context, job int) iter.Seq2[task, error] {
	if s.shuffle != nil {
		return s.shuffle.tasks(job)
	}
	return func(yield func(task, error) bool) {
		for p := range s.parts(s.ranges[job]) {
			c := s.nextChunk(p.chunk)
			if err := c.readAhead(ctx); err != nil {
				yield(nil, err)
				return
			}
			if !yield(func(out *piece) error { return s.makeRows(ctx, c, p, out) }, nil) {
				return
			}
		}
	}
}

// close releases what a failed run still holds.
func (s *csvSource) close() {
	if s.shuffle != nil && s.shuffle.spill != nil {
		_ = s.shuffle.spill.Close() // nobody will read it
	}
}

// openChunk is a chunk being read.
type openChunk struct {
	*csvChunk
	f      *csvFile
	buffer *[]byte // nil until it is read
}

// nextChunk returns a chunk, to be read after those requested before. It is called from one
// goroutine.
func (s *csvSource) nextChunk(n int) *openChunk {
	c := &s.chunks[n]
	f := s.tables.files[c.file]
	if s.reading != nil && s.reading != f {
		s.reading.src.Close() // its chunks were read, or are of a plain file
	}
	s.reading = f
	return &openChunk{csvChunk: c, f: f}
}

// chunkBuffers holds buffers for chunks, as *[]byte.
var chunkBuffers = sync.Pool{New: func() any { return new([]byte) }}

// putChunkBuffer keeps a buffer for reuse, unless a long row has grown it.
func putChunkBuffer(b *[]byte) {
	if cap(*b) <= keepFrames {
		chunkBuffers.Put(b)
	}
}

// readAhead reads the chunk of a sequential file; workers read those of plain files on disk.
func (c *openChunk) readAhead(ctx context.Context) error {
	if !c.f.src.InOrder() {
		return nil
	}
	return c.read(ctx)
}

// read reads the chunk unless it was already read.
func (c *openChunk) read(ctx context.Context) error {
	if c.buffer != nil {
		return nil
	}
	c.buffer = chunkBuffers.Get().(*[]byte)
	data, err := c.f.src.ReadChunk(ctx, *c.buffer, c.Chunk)
	if errors.Is(err, csvscan.ErrChanged) {
		return fmt.Errorf("%w; do not change it during the conversion, and run again", err)
	}
	if err == nil {
		*c.buffer = data
	}
	return err
}

// done releases the buffer.
func (c *openChunk) done() {
	putChunkBuffer(c.buffer)
	c.buffer = nil
}

// makeRows makes the records of the rows of a part.
func (s *csvSource) makeRows(ctx context.Context, c *openChunk, part part, out *piece) error {
	if err := c.read(ctx); err != nil {
		return err
	}
	defer c.done()
	e := s.encoder(c.f)
	defer s.encoders.Put(e)
	out.identity = s.identityOf(out.identity, part)
	out.bytesIn = c.Len * (part.to - part.from) / c.Rows
	row, n := c.row-1, int64(0)
	for e.tok.Reset(*c.buffer, c.FirstLine); n < part.to && e.tok.Next(); {
		row++
		if s.pick.split(c.f, row) != part.split {
			continue
		}
		if n++; n <= part.from {
			continue
		}
		out.samples++
		if reason := e.row(); reason != "" {
			out.bad = append(out.bad, e.bad(c.f, reason))
			continue
		}
		start := len(out.frames)
		out.frames = e.appendFrame(out.frames)
		out.sizes = append(out.sizes, len(out.frames)-start)
		if e.label != noLabel {
			out.labels = append(out.labels, e.label)
		}
	}
	return nil
}

// encoder returns an encoder for the files' common columns, with a tokenizer
// for the dialect of one of them.
func (s *csvSource) encoder(f *csvFile) *rowEncoder {
	e := s.encoders.Get().(*rowEncoder)
	if d := f.src.Dialect(); e.tok == nil || e.dialect != d {
		e.tok, e.dialect = csvscan.NewTokenizer(d, len(s.tables.header())), d
	}
	return e
}
