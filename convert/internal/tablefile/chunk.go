package tablefile

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// Chunk is a chunk of the rows of a file, to be read.
type Chunk struct {
	table.Chunk
	f *File
	// One of these is set once it is read: the bytes of a format that is text, which workers
	// decode, or the rows.
	text *[]byte
	rows *table.Batch
}

// Chunk returns one of Chunks, to be read.
func (f *File) Chunk(of table.Chunk) *Chunk { return &Chunk{Chunk: of, f: f} }

// buffers holds buffers for chunks, as *[]byte.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// GetBuffer returns a buffer of the size of a chunk, to be given back with PutBuffer.
func GetBuffer() *[]byte { return buffers.Get().(*[]byte) }

// PutBuffer keeps a buffer for reuse, unless a long row has grown it.
func PutBuffer(b *[]byte) {
	if cap(*b) <= plan.KeepFrames {
		buffers.Put(b)
	}
}

// rowBatches holds the rows of chunks, as *table.Batch.
var rowBatches = sync.Pool{New: func() any { return new(table.Batch) }}

// ReadAhead reads the chunk if its file is read in order. Workers read the chunks of other files.
func (c *Chunk) ReadAhead(ctx context.Context) error {
	if !c.f.InOrder() {
		return nil
	}
	return c.Read(ctx)
}

// Read reads the chunk unless it was already read.
func (c *Chunk) Read(ctx context.Context) error {
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

// readText reads a chunk of text into a buffer.
func (c *Chunk) readText(read func(buffer []byte) ([]byte, error)) error {
	buffer := GetBuffer()
	data, err := read(*buffer)
	if err == nil {
		*buffer, c.text = data, buffer
	}
	return err
}

// Text returns the text of a chunk of CSV that was read, and its dialect.
func (c *Chunk) Text() ([]byte, csvscan.Dialect) { return *c.text, c.f.reader.(*csvFile).Dialect() }

// Batch returns the rows of a chunk of another format that was read. They may be in b.
func (c *Chunk) Batch(b *table.Batch) (*table.Batch, error) {
	return c.f.reader.(*typedFile).decode(c, b)
}

// Done releases the memory.
func (c *Chunk) Done() {
	if c.text != nil {
		PutBuffer(c.text)
	}
	if c.rows != nil {
		rowBatches.Put(c.rows)
	}
	c.text, c.rows = nil, nil
}
