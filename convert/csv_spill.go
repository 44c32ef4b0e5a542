package convert

import (
	"bufio"
	"fmt"
	"io"
	"sync"
)

// spillFile is where a spill puts what memory does not hold.
type spillFile interface {
	io.ReaderAt
	io.Writer
	io.Closer
}

// spill keeps the rows of buckets until they are taken: in memory up to a
// limit, beyond that in one file.
type spill struct {
	limit  int64
	create func() (spillFile, error)

	mu      sync.Mutex
	buckets []spillBucket
	held    int64     // bytes in memory
	file    spillFile // nil before it is needed
	size    int64     // of file
	left    int       // buckets not taken yet
}

// spillBucket is one bucket: parts of the file, then what is in memory.
type spillBucket struct {
	extents []extent
	held    []byte
}

type extent struct{ offset, size int64 }

// newSpill makes a spill of so many buckets, of which left will be taken.
func newSpill(buckets, left int, limit int64, create func() (spillFile, error)) *spill {
	return &spill{limit: limit, create: create, buckets: make([]spillBucket, buckets), left: left}
}

// spillBatch collects rows for several buckets.
type spillBatch struct {
	data []byte
	rows []batchRow
}

type batchRow struct{ bucket, from, to int }

var spillBatches = sync.Pool{New: func() any { return new(spillBatch) }}

func (b *spillBatch) reset() { b.data, b.rows = b.data[:0], b.rows[:0] }

// begin starts a row: its payload is to be appended to data.
func (b *spillBatch) begin() {
	b.rows = append(b.rows, batchRow{from: len(b.data)})
	b.data = append(b.data, make([]byte, spilledHeader)...)
}

// end ends the row.
func (b *spillBatch) end(bucket int, s spilled) {
	r := &b.rows[len(b.rows)-1]
	r.bucket, r.to = bucket, len(b.data)
	s.put(b.data[r.from:], r.to-r.from-spilledHeader)
}

// add puts the rows of a batch into their buckets.
func (s *spill) add(batch *spillBatch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range batch.rows {
		b := &s.buckets[r.bucket]
		b.held = append(b.held, batch.data[r.from:r.to]...)
	}
	s.held += int64(len(batch.data))
	if s.held > s.limit {
		return s.flush()
	}
	return nil
}

// flush moves all that is in memory to the file.
func (s *spill) flush() error {
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return fmt.Errorf("shuffle: %w", err)
		}
		s.file = f
	}
	w := bufio.NewWriterSize(s.file, 1<<20)
	for i := range s.buckets {
		b := &s.buckets[i]
		if len(b.held) == 0 {
			continue
		}
		if _, err := w.Write(b.held); err != nil {
			return fmt.Errorf("shuffle: %w", err)
		}
		b.extents = append(b.extents, extent{s.size, int64(len(b.held))})
		s.size += int64(len(b.held))
		b.held = nil
	}
	s.held = 0
	if err := w.Flush(); err != nil {
		return fmt.Errorf("shuffle: %w", err)
	}
	return nil
}

// take returns the rows of a bucket, and forgets them. The last one that is
// taken closes the file.
func (s *spill) take(bucket int) ([]byte, error) {
	s.mu.Lock()
	b := s.buckets[bucket]
	s.buckets[bucket] = spillBucket{}
	file := s.file
	s.mu.Unlock()

	data := b.held
	if len(b.extents) > 0 {
		size := len(b.held)
		for _, e := range b.extents {
			size += int(e.size)
		}
		data = make([]byte, 0, size)
		for _, e := range b.extents {
			part := data[len(data) : len(data)+int(e.size)]
			if _, err := file.ReadAt(part, e.offset); err != nil {
				return nil, err
			}
			data = data[:len(data)+int(e.size)]
		}
		data = append(data, b.held...)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left == 0 {
		return data, s.close()
	}
	return data, nil
}

// close closes the file, if there is one.
func (s *spill) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
