package convert

import (
	"bufio"
	"fmt"
	"io"
	"slices"
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
	create func() (spillFile, error)

	mu      sync.Mutex
	buckets []spillBucket
	block   int      // size of the blocks that memory is taken in
	free    [][]byte // blocks that hold nothing
	spare   int      // blocks that may still be made
	file    spillFile
	size    int64 // of file
	left    int   // buckets not taken yet
}

// spillBucket is one bucket: parts of the file, then blocks in memory, all but
// the last one full.
type spillBucket struct {
	extents []extent
	blocks  [][]byte
	size    int // of all
}

type extent struct{ offset, size int64 }

// Sizes of blocks. A block for each bucket is never more than a quarter of the
// memory, until they would be too small to be worth it.
const (
	maxSpillBlock = 64 << 10
	minSpillBlock = 1 << 10
)

// newSpill makes a spill of so many buckets, of which left will be taken, that
// takes about limit bytes of memory.
func newSpill(buckets, left int, limit int64, create func() (spillFile, error)) *spill {
	block := min(max(int(limit)/4/max(buckets, 1), minSpillBlock), maxSpillBlock)
	return &spill{
		create: create, buckets: make([]spillBucket, buckets), left: left,
		block: block, spare: max(int(limit)/block, 1),
	}
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
		if err := s.put(&s.buckets[r.bucket], batch.data[r.from:r.to]); err != nil {
			return err
		}
	}
	return nil
}

// put appends a row to a bucket.
func (s *spill) put(b *spillBucket, row []byte) error {
	b.size += len(row)
	for len(row) > 0 {
		last := len(b.blocks) - 1
		if last < 0 || len(b.blocks[last]) == s.block {
			block, err := s.newBlock()
			if err != nil {
				return err
			}
			// Making room for it may have emptied this bucket.
			b.blocks = append(b.blocks, block)
			last = len(b.blocks) - 1
		}
		n := min(len(row), s.block-len(b.blocks[last]))
		b.blocks[last] = append(b.blocks[last], row[:n]...)
		row = row[n:]
	}
	return nil
}

// newBlock returns an empty block, after a flush when there is none left.
func (s *spill) newBlock() ([]byte, error) {
	if len(s.free) == 0 && s.spare == 0 {
		if err := s.flush(); err != nil {
			return nil, fmt.Errorf("shuffle: %w", err)
		}
	}
	if n := len(s.free); n > 0 {
		block := s.free[n-1]
		s.free = s.free[:n-1]
		return block, nil
	}
	s.spare--
	return make([]byte, 0, s.block), nil
}

// release gives the blocks of a bucket back.
func (s *spill) release(b *spillBucket) {
	for _, block := range b.blocks {
		s.free = append(s.free, block[:0])
	}
	b.blocks = nil
}

// flush moves all that is in memory to the file.
func (s *spill) flush() error {
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return err
		}
		s.file = f
	}
	w := bufio.NewWriterSize(s.file, 1<<20)
	for i := range s.buckets {
		b := &s.buckets[i]
		var size int64
		for _, block := range b.blocks {
			if _, err := w.Write(block); err != nil {
				return err
			}
			size += int64(len(block))
		}
		if size > 0 {
			b.extents = append(b.extents, extent{s.size, size})
			s.size += size
			s.release(b)
		}
	}
	return w.Flush()
}

// take appends the rows of a bucket to dst, and forgets them. The last one that
// is taken closes the file.
func (s *spill) take(bucket int, dst []byte) ([]byte, error) {
	s.mu.Lock()
	b := s.buckets[bucket]
	s.buckets[bucket] = spillBucket{}
	file := s.file
	s.mu.Unlock()

	dst = slices.Grow(dst, b.size)
	for _, e := range b.extents {
		part := dst[len(dst) : len(dst)+int(e.size)]
		if _, err := file.ReadAt(part, e.offset); err != nil {
			return nil, err
		}
		dst = dst[:len(dst)+int(e.size)]
	}
	for _, block := range b.blocks {
		dst = append(dst, block...)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(&b)
	if s.left--; s.left == 0 {
		return dst, s.close()
	}
	return dst, nil
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
