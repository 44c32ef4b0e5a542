// Package spill distributes rows to buckets: they are kept in memory up to a limit, beyond that in
// one file, until each bucket is taken as a whole. Sorting and shuffling more than memory holds are
// built on it.
package spill

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"sync"
)

// File is where a Spill puts what memory does not hold.
type File interface {
	io.ReaderAt
	io.Writer
	io.Closer
}

// Spill keeps the rows of buckets until they are taken. Its methods may be
// called by many goroutines at a time.
type Spill struct {
	create func() (File, error)

	mu      sync.Mutex
	buckets []bucket
	block   int      // size of the blocks that memory is taken in
	free    [][]byte // blocks that hold nothing
	spare   int      // blocks that may still be made
	file    File
	size    int64 // of file
	left    int   // buckets not taken yet
}

// bucket is parts of the file, then blocks in memory, all but the last one full.
type bucket struct {
	extents []extent
	blocks  [][]byte
	size    int // of all
}

type extent struct{ offset, size int64 }

// Sizes of blocks. A block for each bucket is never more than a quarter of the
// memory, until they would be too small to be worth it.
const (
	maxBlock   = 64 << 10
	LeastBlock = 1 << 10
	// worthWriting is a block that is worth a write of its own.
	worthWriting = 32 << 10
)

// New makes a Spill of the given number of buckets, of which left will be taken, that uses about
// limit bytes of memory. create is called once, if that is too little.
func New(buckets, left int, limit int64, create func() (File, error)) *Spill {
	block := min(max(int(limit)/4/max(buckets, 1), LeastBlock), maxBlock)
	return &Spill{
		create: create, buckets: make([]bucket, buckets), left: left,
		block: block, spare: max(int(limit)/block, 1),
	}
}

// Add puts the rows of a batch into their buckets.
func (s *Spill) Add(batch *Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range batch.rows {
		if err := s.put(&s.buckets[r.bucket], batch.Data[r.from:r.to]); err != nil {
			return err
		}
	}
	return nil
}

// AddRow puts one row into a bucket whose payload, of less than 4 GiB, is copied
// once: for large ones. It may be given in parts.
func (s *Spill) AddRow(bucket int, row Row, payload ...[]byte) error {
	size := 0
	for _, part := range payload {
		size += len(part)
	}
	var header [rowHeader]byte
	row.header(header[:], size)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.buckets[bucket]
	if err := s.put(b, header[:]); err != nil {
		return err
	}
	for _, part := range payload {
		if err := s.put(b, part); err != nil {
			return err
		}
	}
	return nil
}

// put appends a row, or a part of one, to a bucket.
func (s *Spill) put(b *bucket, row []byte) error {
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
func (s *Spill) newBlock() ([]byte, error) {
	if len(s.free) == 0 && s.spare == 0 {
		if err := s.flush(); err != nil {
			return nil, err
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
func (s *Spill) release(b *bucket) {
	for _, block := range b.blocks {
		s.free = append(s.free, block[:0])
	}
	b.blocks = nil
}

// flush moves all that is in memory to the file.
func (s *Spill) flush() (err error) {
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return err
		}
		s.file = f
	}
	var w io.Writer = s.file
	if s.block < worthWriting {
		buffered := bufio.NewWriterSize(s.file, 256<<10)
		defer func() { err = errors.Join(err, buffered.Flush()) }()
		w = buffered
	}
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
	return nil
}

// Size returns how many bytes Take of a bucket would give.
func (s *Spill) Size(bucket int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buckets[bucket].size
}

// Take appends the rows of a bucket to dst, and drops them. [Parse] separates them. Taking the last
// bucket closes the file.
func (s *Spill) Take(number int, dst []byte) ([]byte, error) {
	s.mu.Lock()
	b := s.buckets[number]
	s.buckets[number] = bucket{}
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

// Close closes the file, if there is one. Callers that do not take all buckets need it.
func (s *Spill) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.close()
}

func (s *Spill) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
