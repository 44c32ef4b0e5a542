package spill

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Sorter sorts rows by their bytes in bounded memory: an external merge sort. Rows
// that memory does not hold are in a file, as runs that are sorted already. Unlike
// the buckets of a Spill, it does not depend on how the rows are distributed: all of
// them may be equal.
//
// Add rows, then call Sort, then Next until io.EOF. Add may be called by several
// goroutines at a time: each has a chunk of the memory to itself meanwhile.
type Sorter struct {
	create func() (File, error)
	memory int // bytes, of everything
	chunks []*sortChunk
	free   chan *sortChunk // those that no Add uses; in rotation, so that all fill evenly

	mu   sync.Mutex
	file File
	runs []extent // in file
	size int64    // of file, including writes in progress

	// After Sort.
	merge *merge      // of a Sorter with runs
	order []sortEntry // of one without
	next  int         // of order: what Next returns
}

// Limits of a Sorter's parts, in bytes.
const (
	leastRun    = 64 << 10
	leastChunk  = 1 << 20 // of several; less is one
	mostRun     = 1 << 30 // offsets in a run are 32-bit
	leastBuffer = 16 << 10
	mostBuffer  = 1 << 20
)

// NewSorter returns a Sorter that takes about memory bytes, at least some 256 KiB.
// create is called for each file that is needed: none while memory holds all rows,
// and for very many rows several, one after another. Sorter closes them.
func NewSorter(memory int64, create func() (File, error)) *Sorter {
	s := &Sorter{create: create, memory: int(min(max(memory, 4*leastRun), 4*mostRun))}
	n := min(max(s.memory/4/leastChunk, 1), runtime.GOMAXPROCS(0))
	s.free = make(chan *sortChunk, n)
	for range n {
		c := new(sortChunk)
		s.chunks = append(s.chunks, c)
		s.free <- c
	}
	return s
}

// AppendRow appends a row to dst in the form that Add takes.
func AppendRow(dst, row []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(row))), row...)
}

// cutRow returns the row that rows begin with, and how many bytes it takes there.
func cutRow(rows []byte) (row []byte, n int) {
	size, n := binary.Uvarint(rows)
	end := n + int(size)
	return rows[n:end:end], end
}

// Add adds rows, which AppendRow appended one after another.
func (s *Sorter) Add(rows []byte) error {
	c := <-s.free
	defer func() { s.free <- c }()
	// A quarter of the memory is for rows: growing the chunks may take as much again, and the
	// collector lets the heap grow to twice the live memory.
	most := s.memory / 4 / len(s.chunks)
	for len(rows) > 0 {
		row, n := cutRow(rows)
		if len(c.data)+n+entrySize*(len(c.entries)+1) > most && len(c.entries) > 0 {
			if err := s.flush(c); err != nil {
				return err
			}
		}
		c.add(row, rows[:n], most)
		rows = rows[n:]
	}
	return nil
}

// flush moves rows from memory to the file, as a run.
func (s *Sorter) flush(c *sortChunk) error {
	chunks := []*sortChunk{c}
	c.order = sortChunks(context.Background(), chunks, 1, c.order)
	file, at, err := s.reserve(int64(len(c.data)))
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(file, at), 64<<10)
	for _, e := range c.order {
		_, n := cutRow(c.data[e.at:])
		if _, err := w.Write(c.data[e.at : int(e.at)+n]); err != nil {
			return err
		}
	}
	c.data, c.entries = c.data[:0], c.entries[:0]
	return w.Flush()
}

// reserve adds a run of that size to the file, and returns where the caller has to write it.
func (s *Sorter) reserve(size int64) (File, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return nil, 0, err
		}
		s.file = f
	}
	at := s.size
	s.size += size
	s.runs = append(s.runs, extent{at, size})
	return s.file, at, nil
}

// Sort ends the adding of rows. With very many rows it takes a while, and stops when ctx is done.
func (s *Sorter) Sort(ctx context.Context) error {
	if s.file == nil {
		s.order = sortChunks(ctx, s.chunks, len(s.chunks), nil)
		for _, c := range s.chunks {
			c.entries = nil
		}
		return context.Cause(ctx)
	}
	var group errgroup.Group
	for _, c := range s.chunks {
		if len(c.entries) > 0 {
			group.Go(func() error { return s.flush(c) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	s.chunks, s.free = nil, nil // their memory is for the buffers
	most := s.memory / 2 / leastBuffer
	for len(s.runs) > most {
		if err := s.mergeRuns(ctx, most); err != nil {
			return err
		}
	}
	s.merge = newMerge(s.file, s.runs, s.memory/2)
	return nil
}

// mergeRuns merges groups of runs into one each, in a file that replaces theirs.
func (s *Sorter) mergeRuns(ctx context.Context, most int) (err error) {
	f, err := s.create()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	w := bufio.NewWriterSize(f, 64<<10)
	var runs []extent
	var size int64
	var buffer []byte
	for group := range slices.Chunk(s.runs, most) {
		m := newMerge(s.file, group, s.memory/2)
		from := size
		for n := 0; ; n++ {
			if n%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			row, err := m.row()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			buffer = AppendRow(buffer[:0], row)
			if _, err := w.Write(buffer); err != nil {
				return err
			}
			size += int64(len(buffer))
		}
		runs = append(runs, extent{from, size - from})
	}
	if err := w.Flush(); err != nil {
		return err
	}
	old := s.file
	s.file, s.runs = f, runs
	return old.Close()
}

// Next returns the next row in the order of their bytes, io.EOF after the last one.
// It is valid until the next call.
func (s *Sorter) Next() ([]byte, error) {
	if s.merge != nil {
		return s.merge.row()
	}
	if s.next == len(s.order) {
		return nil, io.EOF
	}
	s.next++
	e := s.order[s.next-1]
	return s.chunks[e.chunk].row(e.at), nil
}

// Close closes the file, if there is one, and gives the memory back.
func (s *Sorter) Close() error {
	s.chunks, s.free, s.order, s.merge, s.next = nil, nil, nil, nil, 0
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// merge merges runs of a file.
type merge struct {
	runs  []*run // a heap, by the rows that are next
	begun bool   // the first row of each run was read
}

// run is a run that is being read.
type run struct {
	in     *bufio.Reader
	left   int64 // bytes that were not read yet
	prefix uint64
	row    []byte // the next one
}

// newMerge merges runs of which none is empty, with buffers of about memory bytes.
func newMerge(file File, runs []extent, memory int) *merge {
	m := &merge{runs: make([]*run, 0, len(runs))}
	size := min(max(memory/len(runs), leastBuffer), mostBuffer)
	for _, e := range runs {
		in := bufio.NewReaderSize(io.NewSectionReader(file, e.offset, e.size), size)
		m.runs = append(m.runs, &run{in: in, left: e.size})
	}
	return m
}

// row returns the next row.
func (m *merge) row() ([]byte, error) {
	first := 0
	if !m.begun {
		m.begun, first = true, len(m.runs)-1
	}
	for i := first; i >= 0 && len(m.runs) > 0; i-- {
		if err := m.advance(i); err != nil {
			return nil, err
		}
	}
	if len(m.runs) == 0 {
		return nil, io.EOF
	}
	return m.runs[0].row, nil
}

// advance reads the next row of the i-th run, below which the others are a heap,
// and puts the run into its place. No run but the first is at its end.
func (m *merge) advance(i int) error {
	if r := m.runs[i]; r.left == 0 {
		last := len(m.runs) - 1
		m.runs[i] = m.runs[last]
		m.runs = m.runs[:last]
	} else if err := r.read(); err != nil {
		return fmt.Errorf("read back what was sorted: %w", err)
	}
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.runs); child++ {
			if m.runs[child].before(m.runs[least]) {
				least = child
			}
		}
		if least == i {
			return nil
		}
		m.runs[i], m.runs[least] = m.runs[least], m.runs[i]
		i = least
	}
}

// read reads the next row.
func (r *run) read() error {
	size, err := binary.ReadUvarint(r.in)
	if err == nil {
		r.row = slices.Grow(r.row[:0], int(size))[:size]
		_, err = io.ReadFull(r.in, r.row)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // the file is shorter than what was written
	}
	r.prefix = Prefix(r.row)
	var length [binary.MaxVarintLen64]byte
	r.left -= int64(binary.PutUvarint(length[:], size)) + int64(size)
	return err
}

func (r *run) before(q *run) bool {
	if r.prefix != q.prefix {
		return r.prefix < q.prefix
	}
	return bytes.Compare(r.row, q.row) < 0
}
