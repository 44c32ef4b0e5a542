package spill

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Sorter sorts rows by their bytes in bounded memory: an external merge sort. Rows
// that memory does not hold are in a file, as runs that are sorted already. Unlike
// the buckets of a Spill, it does not depend on how the rows are distributed: all of
// them may be equal.
//
// Add rows, then call Sort, then Next until io.EOF. Add may be called by several
// goroutines at a time.
type Sorter struct {
	create func() (File, error)
	memory int // bytes, of everything

	mu      sync.Mutex
	data    []byte // rows in memory, as AppendRow encodes them
	entries []sortEntry
	file    File
	runs    []extent // in file
	size    int64    // of file
	merge   *merge   // after Sort, of a Sorter with runs
	next    int      // after Sort, of one without: the entry that Next returns
}

// sortEntry is a row in memory: its first bytes, as a number in the same order, and
// where it is.
type sortEntry struct {
	prefix uint64
	at     uint32
}

const entrySize = 16

// Limits of a Sorter's parts, in bytes.
const (
	leastRun    = 64 << 10
	mostRun     = 1 << 30 // offsets in a run are 32-bit
	leastBuffer = 16 << 10
	mostBuffer  = 1 << 20
)

// NewSorter returns a Sorter that takes about memory bytes, at least some 256 KiB.
// create is called for each file that is needed: none while memory holds all rows,
// and for very many rows several, one after another. Sorter closes them.
func NewSorter(memory int64, create func() (File, error)) *Sorter {
	return &Sorter{create: create, memory: int(min(max(memory, 4*leastRun), 4*mostRun))}
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(rows) > 0 {
		row, n := cutRow(rows)
		// A quarter of the memory is for a run: growing it may take as much again, and
		// the collector lets the heap grow to twice of what is held.
		if len(s.data)+n+entrySize*(len(s.entries)+1) > s.memory/4 && len(s.entries) > 0 {
			if err := s.flush(); err != nil {
				return err
			}
		}
		s.entries = append(s.entries, sortEntry{prefix(row), uint32(len(s.data))})
		s.data = append(s.data, rows[:n]...)
		rows = rows[n:]
	}
	return nil
}

// prefix returns the first bytes of a row as a number.
func prefix(row []byte) uint64 {
	var b [8]byte
	copy(b[:], row)
	return binary.BigEndian.Uint64(b[:])
}

func (s *Sorter) row(e sortEntry) []byte {
	row, _ := cutRow(s.data[e.at:])
	return row
}

// sortRun sorts the rows in memory.
func (s *Sorter) sortRun() {
	slices.SortFunc(s.entries, func(a, b sortEntry) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return bytes.Compare(s.row(a), s.row(b))
	})
}

// flush moves the rows in memory to the file, as a run.
func (s *Sorter) flush() error {
	s.sortRun()
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return err
		}
		s.file = f
	}
	w := bufio.NewWriterSize(s.file, 64<<10)
	from := s.size
	for _, e := range s.entries {
		_, n := cutRow(s.data[e.at:])
		if _, err := w.Write(s.data[e.at : int(e.at)+n]); err != nil {
			return err
		}
		s.size += int64(n)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	s.runs = append(s.runs, extent{from, s.size - from})
	s.data, s.entries = s.data[:0], s.entries[:0]
	return nil
}

// Sort ends the adding of rows. With very many rows it takes a while, and stops when ctx is done.
func (s *Sorter) Sort(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		s.sortRun()
		return nil
	}
	if len(s.entries) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.data, s.entries = nil, nil // their memory is for the buffers
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
	if s.next == len(s.entries) {
		return nil, io.EOF
	}
	s.next++
	return s.row(s.entries[s.next-1]), nil
}

// Close closes the file, if there is one, and gives the memory back.
func (s *Sorter) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.entries, s.merge, s.next = nil, nil, nil, 0
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
	r.prefix = prefix(r.row)
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
