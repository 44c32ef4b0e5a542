// Package spill distributes rows to buckets: they are kept in memory up to a limit, beyond that in
// one file, until each bucket is taken as a whole. Sorting and shuffling more than memory holds are
// built on it.
package spill

import (
	"io"
	"slices"
	"sync"
)

// File is where a Spill puts what memory does not hold. Several goroutines may write at a time.
type File interface {
	io.ReaderAt
	io.Writer
	io.WriterAt
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
	spare   int      // blocks that may still be made; negative while too many are in use
	least   int      // bytes that an eviction writes, and that are free after it
	hand    int      // the bucket that the next eviction begins with
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

const (
	// Sizes of blocks. A block for each bucket is never more than a quarter of the memory, until
	// they would be too small to be worth it.
	maxBlock   = 64 << 10
	LeastBlock = 1 << 10
	// maxEvicted is how many bytes leave memory at a time.
	maxEvicted = 4 << 20
	// worthWriting is a block that is worth a write of its own; others are joined.
	worthWriting = 32 << 10
	maxJoined    = 256 << 10
)

// New makes a Spill of the given number of buckets, of which left will be taken, that uses about
// limit bytes of memory. create is called once, if that is too little.
func New(buckets, left int, limit int64, create func() (File, error)) *Spill {
	block := min(max(int(limit)/4/max(buckets, 1), LeastBlock), maxBlock)
	return &Spill{
		create: create, buckets: make([]bucket, buckets), left: left,
		block: block, spare: max(int(limit)/block, 1), least: min(int(limit)/8, maxEvicted),
	}
}

// Add puts the rows of a batch into their buckets. A batch of more than an eighth of the memory
// exceeds it until Add returns.
func (s *Spill) Add(batch *Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range batch.rows {
		r := &batch.rows[i]
		b := &s.buckets[r.bucket]
		s.put(b, batch.Data[r.header:r.to])
		s.put(b, batch.Data[r.from:r.header])
		s.put(b, r.rest)
	}
	return s.evict()
}

// AddRow puts a row with a large payload into a bucket: less than 4 GiB, which may come in parts. If
// memory has no room for the payload, it is written to the file without a copy.
func (s *Spill) AddRow(number int, row Row, payload ...[]byte) error {
	size := 0
	for _, part := range payload {
		size += len(part)
	}
	parts := append([][]byte{row.appendHeader(make([]byte, 0, maxHeader), size)}, payload...)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.buckets[number]
	if size/s.block+2 <= s.spare+len(s.free) {
		for _, part := range parts {
			s.put(b, part)
		}
		return nil
	}
	blocks, from := b.blocks, s.size
	b.blocks = nil
	b.size += len(parts[0]) + size
	parts = append(slices.Clip(blocks), parts...)
	s.reserve(b, parts)
	err := s.write(from, parts)
	s.release(blocks)
	return err
}

// put appends a row, or a part of one, to a bucket.
func (s *Spill) put(b *bucket, row []byte) {
	b.size += len(row)
	for len(row) > 0 {
		last := len(b.blocks) - 1
		if last < 0 || len(b.blocks[last]) == s.block {
			b.blocks = append(b.blocks, s.newBlock())
			last++
		}
		block := b.blocks[last]
		n := min(len(row), s.block-len(block))
		b.blocks[last] = append(block, row[:n]...)
		row = row[n:]
	}
}

// newBlock returns an empty block.
func (s *Spill) newBlock() []byte {
	if n := len(s.free); n > 0 {
		block := s.free[n-1]
		s.free = s.free[:n-1]
		return block
	}
	s.spare--
	return make([]byte, 0, s.block)
}

// release gives blocks back.
func (s *Spill) release(blocks [][]byte) {
	for _, block := range blocks {
		if s.spare < 0 {
			s.spare++ // and the block is garbage
			continue
		}
		s.free = append(s.free, block[:0])
	}
}

// evict moves buckets from memory to the file, one after another, until there is room in memory for
// the next rows. All have their turn, so that each has collected rows for as long as possible; what
// fits into memory stays there.
func (s *Spill) evict() error {
	for s.spare+len(s.free) < s.least/s.block || s.spare < 0 {
		var blocks [][]byte
		from := s.size
		for range s.buckets {
			b := &s.buckets[s.hand]
			s.hand = (s.hand + 1) % len(s.buckets)
			s.reserve(b, b.blocks)
			blocks = append(blocks, b.blocks...)
			b.blocks = nil
			if s.size-from >= int64(s.least) {
				break
			}
		}
		if len(blocks) == 0 { // other goroutines are writing all of them
			return nil
		}
		err := s.write(from, blocks)
		s.release(blocks)
		if err != nil {
			return err
		}
	}
	return nil
}

// reserve makes room for parts of a bucket at the end of the file.
func (s *Spill) reserve(b *bucket, parts [][]byte) {
	var size int64
	for _, part := range parts {
		size += int64(len(part))
	}
	if size > 0 {
		b.extents = append(b.extents, extent{s.size, size})
		s.size += size
	}
}

// write writes parts to the file, one behind another. Other goroutines go on meanwhile.
func (s *Spill) write(offset int64, parts [][]byte) error {
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return err
		}
		s.file = f
	}
	file := s.file
	s.mu.Unlock()
	defer s.mu.Lock()
	joined := joins.Get().(*[]byte)
	defer joins.Put(joined)
	buffer := (*joined)[:0]
	put := func(p []byte) error {
		n, err := file.WriteAt(p, offset)
		offset += int64(n)
		return err
	}
	for _, part := range parts {
		if len(buffer)+len(part) > maxJoined || len(part) >= worthWriting {
			if err := put(buffer); err != nil {
				return err
			}
			buffer = buffer[:0]
		}
		if len(part) < worthWriting {
			buffer = append(buffer, part...)
		} else if err := put(part); err != nil {
			return err
		}
	}
	return put(buffer)
}

var joins = sync.Pool{New: func() any { b := make([]byte, 0, maxJoined); return &b }}

// Size returns how many bytes Take of a bucket would give.
func (s *Spill) Size(bucket int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buckets[bucket].size
}

// Take appends the rows of a bucket to dst, and drops them. [Parse] separates them. All rows must
// have been added. Taking the last bucket closes the file.
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
	s.release(b.blocks)
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
