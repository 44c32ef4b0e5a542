package csvscan

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// Chunk is a run of whole rows in a table.
type Chunk struct {
	Offset    int64 `json:"offset"` // in the uncompressed stream
	Len       int64 `json:"len"`    // in bytes
	FirstLine int64 `json:"line"`   // on which it starts, from 1
	Rows      int64 `json:"rows"`   // bad ones included, blank lines not
	Hash      Hash  `json:"hash"`   // of its bytes
}

// Hash is the 128-bit XXH3 of some bytes. Its text is hexadecimal.
type Hash [16]byte

func hashOf(data []byte) Hash { return xxh3.Hash128(data).Bytes() }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("hash %q: want %d hexadecimal digits", text, hex.EncodedLen(len(h)))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Table is the result of a scan.
type Table struct {
	Chunks  []Chunk  // all rows, in order
	Columns []Column // what each column holds
	Rows    int64    // bad ones included
	Bad     int64    // rows that a Tokenizer calls Bad
	Blank   int64    // blank lines skipped
	Bytes   int64    // size of the uncompressed stream
	// Distinct are the different values of the columns in ScanOptions.Distinct, sorted, without the
	// empty one. Other missing values are among them, since a label may be called NA.
	Distinct [][]string
}

// MaxDistinct is the maximum number of different values for ScanOptions.Distinct.
const MaxDistinct = 1 << 17

// ScanOptions configure a scan.
type ScanOptions struct {
	// Workers is the number of goroutines that process rows; 0 means one a core. The result is the
	// same for any number. Memory is some ChunkSize for each, or the length of the longest row if
	// that is more.
	Workers int
	// Missing recognises missing values; nil means DefaultMissing.
	Missing *Missing
	// Distinct are columns, by number, whose different values are wanted. More
	// than MaxDistinct of them are ErrDistinct.
	Distinct []int
	// Progress, if not nil, is called from one goroutine with the number of bytes of the uncompressed
	// stream that were read so far.
	Progress func(bytes int64)
}

// job is a chunk on its way to a worker.
type job struct {
	index int
	data  []byte
}

// scanner is one run of Scan.
type scanner struct {
	*Source
	opts ScanOptions
	jobs chan job
	free chan []byte // buffers to use again; nil ones are still to be made

	mu    sync.Mutex // guards the fields below
	table Table
	lines []int64 // line ends in each chunk
	total *inferrer
	sets  []map[string]struct{} // the values of Distinct
}

// Scan reads the whole table once. Bad rows are counted and left out of the
// columns; a quote that is never closed, a row that is too long and an input
// that can't be read or decompressed are errors.
func (s *Source) Scan(ctx context.Context, opts ScanOptions) (*Table, error) {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.Missing == nil {
		opts.Missing = NewMissing(DefaultMissing)
	}
	r := &scanner{
		Source: s,
		opts:   opts,
		jobs:   make(chan job),
		free:   make(chan []byte, opts.Workers+1),
		total:  newInferrer(len(s.header), opts.Missing),
		sets:   newSets(len(opts.Distinct)),
	}
	for range cap(r.free) {
		r.free <- nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(r.jobs)
		return r.cut(ctx)
	})
	for range opts.Workers {
		group.Go(r.work)
	}
	err := group.Wait()

	line := s.startLine
	for i := range r.table.Chunks {
		r.table.Chunks[i].FirstLine = line
		line += r.lines[i]
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil, err
	case err != nil:
		return nil, s.located(err, line-1)
	}
	r.table.Columns = r.total.result(s.Name(), r.table.Chunks)
	for _, set := range r.sets {
		r.table.Distinct = append(r.table.Distinct, slices.Sorted(maps.Keys(set)))
	}
	return &r.table, nil
}

// cut sends the chunks to the workers.
func (r *scanner) cut(ctx context.Context) error {
	in, err := r.Stream(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.CopyN(io.Discard, in, r.start); err == io.EOF {
		return ErrChanged
	} else if err != nil {
		return err
	}
	c := &chunker{r: in, delim: r.dialect.Delimiter, size: ChunkSize, maxRow: r.maxRow, offset: r.start}
	for index := 0; ; index++ {
		var buf []byte
		select {
		case buf = <-r.free:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		data, offset, err := c.next(buf)
		if err == io.EOF {
			r.table.Bytes = c.offset
			return nil
		}
		if err != nil {
			return err
		}
		if r.opts.Progress != nil {
			r.opts.Progress(c.offset)
		}
		r.mu.Lock()
		r.table.Chunks = append(r.table.Chunks, Chunk{Offset: offset, Len: int64(len(data))})
		r.lines = append(r.lines, 0)
		r.mu.Unlock()
		select {
		case r.jobs <- job{index, data}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// work scans chunks until jobs is closed.
func (r *scanner) work() error {
	columns := newInferrer(len(r.header), r.opts.Missing)
	sets := newSets(len(r.opts.Distinct))
	t := NewTokenizer(r.dialect, len(r.header))
	var rows, bad, blank int64
	for j := range r.jobs {
		hash := hashOf(j.data)
		columns.begin(j.index, j.data)
		n := int64(0)
		for t.Reset(j.data, 0); t.Next(); n++ {
			if t.Bad() {
				bad++
				continue
			}
			columns.row(t)
			for i, c := range r.opts.Distinct {
				if err := r.addDistinct(sets[i], c, t.Field(c)); err != nil {
					return err
				}
			}
		}
		rows += n
		blank += t.Blank()
		r.free <- j.data
		r.mu.Lock()
		c := &r.table.Chunks[j.index]
		c.Rows, c.Hash = n, hash
		r.lines[j.index] = t.Line()
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.table.Rows += rows
	r.table.Bad += bad
	r.table.Blank += blank
	r.total.merge(columns)
	for i, set := range sets {
		for value := range set {
			if err := r.addDistinct(r.sets[i], r.opts.Distinct[i], []byte(value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addDistinct adds a value of a column to a set, unless it is empty.
func (r *scanner) addDistinct(set map[string]struct{}, column int, value []byte) error {
	if _, ok := set[string(value)]; ok || len(value) == 0 {
		return nil
	}
	if len(set) == MaxDistinct {
		return fmt.Errorf("column %q: %w: more than %d", r.header[column], ErrDistinct, MaxDistinct)
	}
	set[string(value)] = struct{}{}
	return nil
}

func newSets(n int) []map[string]struct{} {
	sets := make([]map[string]struct{}, n)
	for i := range sets {
		sets[i] = map[string]struct{}{}
	}
	return sets
}
